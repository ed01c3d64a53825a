"""Stories on real parts: each test reads as what happened to whom."""

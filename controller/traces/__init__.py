"""Readers of recorded workloads: public traces, and traces of one's own in the same form."""

"""Alert and recording rules as data, made from objectives. Does no I/O and never decides what to change."""

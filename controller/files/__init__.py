"""What people hand over as files: read within bounds, and what is wrong with a file in plain words. Does I/O."""

"""History of workloads and of policy changes in a SQL database. The schema is pure; the store does the I/O."""

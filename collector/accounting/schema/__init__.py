"""What the history says and how it follows from looks at a cluster. Pure: no database, no clock."""

"""The documents people write, and the codes that answers carry. Pure."""

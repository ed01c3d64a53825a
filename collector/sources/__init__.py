"""Connections to the systems that Trimtab reads; beside exporter and accounting the collector's only room with I/O."""

"""Text and JSON of other systems → values of `collector.model`. Pure: no I/O, no clock."""

"""The one place that knows every metric: its name, labels, unit, meaning and traps. Pure."""

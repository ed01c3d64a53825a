"""How the exporters, drivers and tools of others spell what the catalogue names: one table each, as data."""

"""How decisions reach the world: server-side apply, or not at all. Dry run is an actuator, never an `if`."""

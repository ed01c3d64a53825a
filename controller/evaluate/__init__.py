"""The scoreboard: each recipe runs one shipped configuration on known data and says which goals it meets."""

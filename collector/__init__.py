"""What exists on the cluster and what it means: readings, objects, one snapshot. Knows nothing of policies."""

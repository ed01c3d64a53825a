"""What exists in a cluster, as immutable values: readings, quantities, tenants, objects, the snapshot. No I/O."""

"""The loop: observe, assess, decide, guard, act, verify. The only package that may write to a cluster."""

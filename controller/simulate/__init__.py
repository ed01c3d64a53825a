"""Simulates a multi-tenant GPU cluster as its own API would show it: queues, quota, gangs, nodes, faults. Pure."""

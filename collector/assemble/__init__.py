"""Readings and objects become one Snapshot, joined to tenants and pools. Pure."""

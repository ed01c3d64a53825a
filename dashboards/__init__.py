"""Grafana boards as functions: built with grafanalib, finished for today's Grafana, checked against the catalogue."""

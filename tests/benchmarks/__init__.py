"""Measures of speed and size: a module bench_*.py has MEASURES (name: unit) and measure() (name: value)."""

"""Runs the measures: prints `name value unit` a line and writes build/bench.json. Judges nothing."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

import tests.benchmarks

RESULTS = Path(__file__).resolve().parents[2] / "build" / "bench.json"


class Benchmark(Protocol):
    """A module bench_*.py: what it can measure, with units, and the measuring itself."""

    MEASURES: Mapping[str, str]

    def measure(self) -> Mapping[str, float]:
        """Measure all of MEASURES."""
        ...


def find_benchmarks() -> list[Benchmark]:
    """Import every bench_*.py, in the order of their names."""
    names = [found.name for found in pkgutil.iter_modules(tests.benchmarks.__path__)]
    return [
        cast(Benchmark, importlib.import_module(f"tests.benchmarks.{name}"))
        for name in sorted(names)
        if name.startswith("bench_")
    ]


def check_names(benchmarks: Sequence[Benchmark], only: frozenset[str]) -> None:
    """Raise ValueError for a name that nobody measures."""
    known = {name for benchmark in benchmarks for name in benchmark.MEASURES}
    if unknown := only - known:
        raise ValueError(f"no such measure: {', '.join(sorted(unknown))}; known: {', '.join(sorted(known))}")


def run(benchmarks: Sequence[Benchmark], only: frozenset[str]) -> dict[str, dict[str, float | str]]:
    """Measure what is named in `only` (nothing named: all), and print each result as it comes."""
    results: dict[str, dict[str, float | str]] = {}
    for benchmark in benchmarks:
        wanted = [name for name in benchmark.MEASURES if not only or name in only]
        values = benchmark.measure() if wanted else {}
        for name in wanted:
            results[name] = {"value": values[name], "unit": benchmark.MEASURES[name]}
            print(f"{name} {values[name]:.4g} {benchmark.MEASURES[name]}", flush=True)
    return results


def main() -> int:
    """Read --only, measure, write the results. Returns 2 for a name that nobody measures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME,NAME", help="measure these alone")
    only = frozenset(filter(None, parser.parse_args().only.split(",")))
    benchmarks = find_benchmarks()
    try:
        check_names(benchmarks, only)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    results = run(benchmarks, only)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""One whole simulation of a made-up trace in this fresh process: `python -m tests.benchmarks.simulate_once JOBS`.

The trace is a file that is read as a person's would be. Prints JSON: jobs, and the most bytes that were ever resident.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Final

from controller.evaluate.trace_run import Request, simulate_trace
from controller.simulate.baselines import Baseline
from controller.simulate.chance import Chance
from controller.simulate.generator import run_seconds

JOBS: Final = 1_000_000
_TENANTS: Final = 20
_GAP_SECONDS: Final = 20.0
_BEGIN: Final = 1.5e9
_LONGEST_SECONDS: Final = 2e5
_SIZES: Final = ((1, 0.9), (2, 0.04), (4, 0.04), (8, 0.02))


def write_trace(path: Path, jobs: int) -> None:
    """A trace in the form of one's own."""
    chance, at = Chance(0), _BEGIN
    with path.open("w", encoding="utf-8") as file:
        file.write("tenant,submitted,run_seconds,gpus\n")
        for number in range(jobs):
            at += chance.exponential(_GAP_SECONDS)
            length = min(_LONGEST_SECONDS, run_seconds(chance.uniform()))
            file.write(f"team-{number % _TENANTS},{at:.1f},{length:.0f},{chance.pick(_SIZES)}\n")


def main() -> None:
    """Write, read, run, sum up."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.csv"
        write_trace(trace, int(sys.argv[1]))
        found = simulate_trace(Request(trace, Baseline.KUEUE_FIXED))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"jobs": len(found.jobs), "bytes": most, "unfinished": found.outcome.unfinished}))


if __name__ == "__main__":
    main()

"""A whole simulation of a million jobs, from the file to the sums: the most memory that it ever holds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.benchmarks.simulate_once import JOBS

MEASURES: Final = {"simulate_peak_rss_mb": "MB"}
_ROOT: Final = Path(__file__).resolve().parents[2]
_CHILD_SECONDS: Final = 900


def measure(jobs: int = JOBS) -> Mapping[str, float]:
    """MB (10^6 bytes) resident at most, in a process of its own. A minute or two for a million jobs."""
    command = [sys.executable, "-m", "tests.benchmarks.simulate_once", str(jobs)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True, timeout=_CHILD_SECONDS)
    return {"simulate_peak_rss_mb": json.loads(done.stdout)["bytes"] / 1e6}

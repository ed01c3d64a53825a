"""A cycle of the cluster role over 1 250 nodes, 10 000 GPUs, 10 000 workloads and 200 tenants: CPU and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.benchmarks.cluster_once import WORKLOADS

MEASURES: Final = {"cluster_cycle_seconds": "s", "cluster_rss_mb": "MB"}
_ROOT: Final = Path(__file__).resolve().parents[2]
_CHILD_SECONDS: Final = 600


def measure(workloads: int = WORKLOADS) -> Mapping[str, float]:
    """CPU seconds of one cycle, and MB (10^6 bytes) resident after some; in a process of its own. About a minute."""
    command = [sys.executable, "-m", "tests.benchmarks.cluster_once", str(workloads)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True, timeout=_CHILD_SECONDS)
    found = json.loads(done.stdout)
    return {"cluster_cycle_seconds": found["seconds"], "cluster_rss_mb": found["bytes"] / 1e6}

"""Runs the node role in this fresh process, with a FAKE of NVML and fake counters of network drivers.

`python -m tests.benchmarks.node_role_once OPTIONS…`: the options of `trimtab run collector --role node`. The real module
is loaded as well, since its memory belongs to the role.
"""

from __future__ import annotations

import sys
from importlib import import_module

from collector.catalogue.spellings.network import PRIORITIES
from collector.sources import interface_counters
from controller.cli.main import run
from tests.testbed.fake_nvml import FakeGpu, FakeNvml

GPUS = 8
_BY_PRIORITY = ("bytes", "packets", "pause", "pause_duration", "discards", "buf_discard", "cong_discard", "marked")
COUNTERS = {
    **{f"{way}_prio{number}_{what}": 7 for way in ("rx", "tx") for number in PRIORITIES for what in _BY_PRIORITY},
    **{f"rx{queue}_{what}": 7 for queue in range(64) for what in ("packets", "bytes", "drops", "wqe_err")},
}
"""About as many as a driver of a fast device tells, most of them of no use here."""


def main() -> int:
    """Serve until told to stop; the exit code of the program."""
    import_module("pynvml")
    interface_counters.interface_counters = lambda interface: COUNTERS
    gpus = [FakeGpu(f"GPU-{number:08d}-0000-0000-0000-000000000000") for number in range(GPUS)]
    sys.modules["pynvml"] = FakeNvml(gpus)  # type: ignore[assignment]  # a fake of the module
    return run(["run", "collector", "--role=node", "--nvml", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

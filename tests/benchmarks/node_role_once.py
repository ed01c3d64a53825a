"""Runs the node role in this fresh process, with a FAKE of NVML and fake counters of network drivers.

`python -m tests.benchmarks.node_role_once OPTIONS…`: the options of `trimtab run collector --role node`. The real
module pynvml is loaded as well, since its memory belongs to the role; the fake by its file, without the testbed.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from collector.catalogue.spellings.network import PRIORITIES
from collector.sources import interface_counters
from controller.cli.main import run

GPUS = 8
_FAKE = Path(__file__).resolve().parents[1] / "testbed" / "fake_nvml.py"
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
    fake = _fake()
    gpus = [fake.FakeGpu(f"GPU-{number:08d}-0000-0000-0000-000000000000") for number in range(GPUS)]
    sys.modules["pynvml"] = fake.FakeNvml(gpus)
    return run(["run", "collector", "--role=node", "--nvml", *sys.argv[1:]])


def _fake() -> ModuleType:
    spec = spec_from_file_location("fake_nvml", _FAKE)
    if spec is None or spec.loader is None:
        raise RuntimeError("the fake of NVML is gone")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())

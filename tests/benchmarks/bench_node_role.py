"""What the node role costs a node with 8 GPUs (fake NVML and kubelet) and 9 RDMA devices (fake /sys): memory, and CPU.

A process as the DaemonSet runs it, which looks fifteen times as often so that the measure ends soon: what one look and
one scrape cost, by the 15 s between two of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import urllib3

from controller.demo.processes import Service, answers, free_port
from tests.testbed.fake_kubelet import FakeKubelet
from tests.testbed.fake_rdma_sysfs import FakeRdmaSysfs

MEASURES: Final = {"node_role_rss_mb": "MB", "node_role_core_ratio": "cores"}
DEVICES: Final = 9
LOOKS: Final = 20
HELD: Final = [
    ("ns", f"pod-{number}", "main", "nvidia.com/gpu", (f"GPU-{number:08d}-0000-0000-0000-000000000000",))
    for number in range(8)
]
_EVERY_SECONDS: Final = 15.0
_ROOT: Final = Path(__file__).resolve().parents[2]
_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")


def measure(looks: int = LOOKS) -> Mapping[str, float]:
    """Memory after some looks and scrapes, and CPU time of one of each by their pace. About `looks` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        tree = FakeRdmaSysfs(root / "sys")
        for number in range(DEVICES):
            tree.add_device(f"mlx5_{number}", link_layer="Ethernet")
            tree.add_interface(f"mlx5_{number}", "lo")
        port, kubelet = free_port(), root / "kubelet.sock"
        url = f"http://127.0.0.1:{port}"
        service = Service(
            "node-role",
            lambda: [
                *(sys.executable, "-m", "tests.benchmarks.node_role_once"),
                *(f"--sysfs={root / 'sys'}", f"--listen=127.0.0.1:{port}", "--node=n1"),
                f"--time-scale={_EVERY_SECONDS:.0f}",
                f"--pod-resources={kubelet}",
            ],
            root,
            lambda: answers(f"{url}/readyz"),
            environment={"PYTHONPATH": str(_ROOT)},
        )
        with FakeKubelet(kubelet, HELD):
            service.start()
            try:
                running = service.identity
                if running is None:
                    raise RuntimeError("the node role has ended")
                return _watched(running.pid, url, looks)
            finally:
                service.stop()


def _watched(pid: int, url: str, looks: int) -> Mapping[str, float]:
    pool = urllib3.PoolManager(retries=False, timeout=5.0)
    _scrape(pool, url)  # the first one loads what later ones have
    began = _cpu_seconds(pid)
    for _ in range(looks):
        time.sleep(1.0)
        _scrape(pool, url)
    spent = _cpu_seconds(pid) - began
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return {
        "node_role_rss_mb": int(resident.split()[1]) * 1024 / 1e6,
        "node_role_core_ratio": spent / looks / _EVERY_SECONDS,
    }


def _scrape(pool: urllib3.PoolManager, url: str) -> None:
    page = pool.request("GET", f"{url}/metrics").data
    for name in (b"trimtab_rdma_port_received_bytes_total", b"trimtab_accelerator_power_watts"):
        if name not in page:
            raise RuntimeError(f"the page has no {name.decode()}")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND

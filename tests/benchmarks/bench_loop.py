"""The controller as people start it, on a cluster of 1 000 GPUs: how soon it has looked once, how much memory it keeps.

Everything around it is real and on this machine as well: control plane, Kueue, collector, Prometheus. What they need
makes the first tick slower, never quicker; so the quickest of some starts counts. For machines that are slow or busy it
is also told in units of something that would be as slow there: a Python that loads the Kubernetes client library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from controller.demo.processes import free_port, wait_until
from tests.e2e.scene import Scene, Terms
from tests.testbed.bed import Testbed
from tests.testbed.cluster import Site, SiteTenant, build_site, gpu_job
from tests.testbed.monitoring import ScrapeTarget

MEASURES: Final = {"loop_first_tick_seconds": "s", "loop_first_tick_ratio": "times", "loop_rss_mb": "MB"}
_ROOT: Final = Path(__file__).resolve().parents[2]
_STARTS: Final = 7
_TICKS: Final = 20
_GPUS_PER_JOB: Final = 4
_JOBS_PER_TENANT: Final = 15
_TIME_SCALE: Final = 10.0
"""Of the controller alone: a tick each second. The collector keeps its usual pace, so that it leaves it the machine."""


@dataclass(frozen=True)
class Size:
    """A site whose tenants ask for half as much again as there is: 125 nodes are 1 000 GPUs."""

    nodes: int = 125
    tenants: int = 20

    def site(self) -> Site:
        """Three tenths of a tenant's part are agreed to float, and two are lent to all."""
        part = self.nodes * 8 // self.tenants
        floating, shared = part * 3 // 10, part * 2 // 10
        names = [f"team-{number:02}" for number in range(self.tenants)]
        tenants = tuple(SiteTenant(name, part - floating - shared, floating) for name in names)
        return Site("bench", self.nodes, tenants, shared=shared * self.tenants)

    def terms(self) -> Terms:
        """The work of every other tenant is soon late, so that there is something to decide."""
        part = self.nodes * 8 // self.tenants
        bursts = {f"team-{number:02}": part * 2 for number in range(0, self.tenants, 2)}
        return Terms(1.0, tick="10s", dwell="10m", start_within={"single-node": "2m"}, burst=bursts)


def measure(size: Size = Size(), starts: int = _STARTS) -> Mapping[str, float]:
    """Seconds from exec to the end of the first tick, and MB (10^6 bytes) resident after 20 ticks. Some minutes.

    The ratio: the same seconds, over those of a Python that starts and loads the client library. Both in turns, the
    quickest of each.
    """
    with tempfile.TemporaryDirectory() as folder, Testbed(Path(folder) / "bed") as bed:
        bed.start("kubernetes", "kwok", "kueue", "prometheus")
        scene = Scene(bed, size.site(), size.terms(), Path(folder) / "scene")
        build_site(bed.kubernetes.api, scene.site)
        scene.prepare()
        try:
            _fill(scene)
            _watch(scene)
            turns = [(_first_tick_seconds(scene), _load_seconds()) for _ in range(starts)]
            first_tick, load = min(one for one, _ in turns), min(one for _, one in turns)
            return {
                "loop_first_tick_seconds": first_tick,
                "loop_first_tick_ratio": first_tick / load,
                "loop_rss_mb": _resident_mb(scene),
            }
        finally:
            scene.stop()


def _fill(scene: Scene) -> None:
    """Work for every tenant, until every GPU is taken and the rest waits."""
    api, site = scene.bed.kubernetes.api, scene.site
    for number in range(_JOBS_PER_TENANT):
        for tenant in site.tenants:
            api.create(gpu_job(f"train-{number}", tenant.name, _GPUS_PER_JOB, queue=tenant.name))
    wanted = min(len(site.tenants) * _JOBS_PER_TENANT, site.nodes * site.gpus_per_node // _GPUS_PER_JOB)

    def running() -> int:
        return len([pod for pod in api.list_objects("v1", "Pod") if pod["status"].get("phase") == "Running"])

    wait_until(lambda: running() >= wanted * 9 // 10, f"nine tenths of {wanted} pods to run", 600.0)


def _watch(scene: Scene) -> None:
    """The collector runs, Prometheus scrapes it, and what the controller asks for is there."""
    scene.start_collector()
    target = ScrapeTarget("trimtab-collector", f"{scene.address('collector')}/metrics", {"cluster": scene.site.name})
    scene.bed.prometheus.configure([target], interval="5s")
    shortfall = f'count(trimtab_tenant_shortfall_gpus{{cluster="{scene.site.name}"}}) >= {len(scene.site.tenants)}'
    scene.bed.prometheus.wait_for(shortfall)


@contextmanager
def _controller(scene: Scene) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """The process, just started by exec, and its log."""
    log = scene.folder / "bench-controller.log"
    arguments = [
        f"--config={scene.folder / 'documents.yaml'}",
        f"--kubeconfig={scene.controller_kubeconfig()}",
        f"--prometheus-url={scene.bed.prometheus.url}",
        f"--cluster={scene.site.name}",
        f"--listen=127.0.0.1:{free_port()}",
        f"--time-scale={_TIME_SCALE}",
        "--max-mode=Enforce",
    ]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    with log.open("wb") as sink:
        process = subprocess.Popen(scene.run("run", "controller", *arguments), stderr=sink, env=environment)
    try:
        yield process, log
    finally:
        process.terminate()
        process.wait(180.0)


def _ticks(log: Path) -> list[dict[str, Any]]:
    lines = log.read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    return [entry for entry in entries if entry["event"] == "tick"]


def _first_tick_seconds(scene: Scene) -> float:
    started = time.time()
    with _controller(scene) as (process, log):
        _wait_for_ticks(process, log, 1)
        first = _ticks(log)[0]
    if first["sentence"].startswith(("Held", "Blind")):
        raise RuntimeError(f"the first tick saw nothing, so its time means nothing: {first['sentence']}")
    return datetime.fromisoformat(first["timestamp"]).timestamp() - started


def _load_seconds() -> float:
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", "import kubernetes.client"], check=True)
    return time.monotonic() - started


def _resident_mb(scene: Scene) -> float:
    with _controller(scene) as (process, log):
        _wait_for_ticks(process, log, _TICKS)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) * 1024 / 1e6


def _wait_for_ticks(process: subprocess.Popen[bytes], log: Path, count: int) -> None:
    def come() -> bool:
        if process.poll() is not None:
            raise RuntimeError(f"the controller ended: {log.read_text(encoding='utf-8')[-2000:]}")
        return len(_ticks(log)) >= count

    wait_until(come, f"{count} ticks")

"""One cycle over a large Ceph: its page read, remembered, judged, joined to tenants and written for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from statistics import median
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest

from collector.assemble.ceph_memory import CephMemory
from collector.exporter.ceph import CephPages
from collector.exporter.families import Published
from collector.exporter.health import Health
from collector.exporter.storage_families import StorageCollector
from collector.model.objects import RbdVolume
from collector.model.snapshot import Snapshot
from collector.model.tenancy import Site, Tenant
from collector.sources.scrape import Scrape

MEASURES: Final = {"ceph_cycle_seconds": "s"}
OSDS: Final = 1000
IMAGES: Final = 5000
TENANTS: Final = 200
WARM_UP: Final = 12
"""Looks until the window is full."""
ROUNDS: Final = 5
EVERY_SECONDS: Final = 5.0
OSD_COUNTERS: Final = (
    *(f"ceph_osd_op_{way}{what}" for way in ("r", "w", "rw") for what in ("", "_latency_sum", "_latency_count")),
    *("ceph_osd_op_r_out_bytes", "ceph_osd_op_w_in_bytes", "ceph_osd_recovery_ops", "ceph_osd_op_wip"),
    *(f"ceph_bluestore_{what}_lat_{end}" for what in ("commit", "kv_sync", "read") for end in ("sum", "count")),
    *(f"ceph_bluestore_slow_{what}_count" for what in ("aio_wait", "committed_kv", "read_onode_meta", "read_wait_aio")),
    *(f"ceph_prioritycache:full_pri{n}_bytes" for n in range(12)),
    *("ceph_osd_commit_latency_ms", "ceph_osd_apply_latency_ms", "ceph_osd_up", "ceph_osd_in", "ceph_osd_stat_bytes"),
)
IMAGE_COUNTERS: Final = tuple(
    f"ceph_rbd_{way}_{what}" for way in ("read", "write") for what in ("ops", "bytes", "latency_sum", "latency_count")
)


def measure() -> Mapping[str, float]:
    """CPU seconds of one cycle once the window is full, the median of some."""
    return {"ceph_cycle_seconds": median(cycles(OSDS, IMAGES, ROUNDS))}


def cycles(osds: int, images: int, rounds: int) -> Iterator[float]:
    """CPU seconds of cycles over a cluster of that size."""
    cluster = _Cluster(osds, images)
    for _ in range(WARM_UP):
        cluster.prepare()
        cluster.cycle()
    for _ in range(rounds):
        cluster.prepare()
        started = time.process_time()  # the machine is shared: waiting for a core is no work
        cluster.cycle()
        yield time.process_time() - started


class _Cluster:
    """Its manager answers from here, and its collector is the real one."""

    def __init__(self, osds: int, images: int) -> None:
        self._osds, self._images = osds, images
        self._now, self._text = 0.0, ""
        memory = CephMemory(window_seconds=60.0, stall_seconds=10.0)
        self._pages = CephPages(["http://mgr:9283/metrics"], self, Health(), lambda: self._now, memory)
        self._registry = CollectorRegistry()
        published = _published(images)
        self._registry.register(StorageCollector(lambda: published, self._pages.state, lambda: self._now, 1e9))

    def scrape_all(self, urls: Iterable[str]) -> Mapping[str, Scrape]:
        return {url: Scrape(self._text, 0.1) for url in urls}

    def prepare(self) -> None:
        """What the manager will say next: its work is not ours."""
        self._now += EVERY_SECONDS
        self._text = "".join(_page(self._osds, self._images, round(self._now / EVERY_SECONDS)))

    def cycle(self) -> None:
        """One look, and one scrape of what it gave."""
        failures = self._pages.read()
        text = generate_latest(self._registry)
        if failures or b"trimtab_storage_bound_volumes{" not in text:
            raise ValueError(f"nothing about tenants in {len(text)} bytes; {failures}")


def _page(osds: int, images: int, round_number: int) -> Iterator[str]:
    yield f'ceph_health_status 0.0\nceph_prometheus_collect_duration_seconds_count{{method="a"}} {round_number}\n'
    for name in OSD_COUNTERS:
        yield f"# HELP {name} A counter.\n# TYPE {name} counter\n"
        for osd in range(osds):
            value = 1.0 if name.endswith(("_up", "_in", "_wip", "_ms")) else 1000.0 * round_number + osd
            yield f'{name}{{ceph_daemon="osd.{osd}"}} {value}\n'
    for osd in range(osds):
        yield f'ceph_osd_metadata{{ceph_daemon="osd.{osd}",device_class="ssd",hostname="ceph-{osd // 20}"}} 1.0\n'
        yield f'ceph_daemon_health_metrics{{type="SLOW_OPS",ceph_daemon="osd.{osd}"}} 0.0\n'
    for name in IMAGE_COUNTERS:
        yield f"# HELP {name} A counter.\n# TYPE {name} counter\n"
        for image in range(images):
            value = 1e6 * round_number + image
            yield f'{name}{{pool="rbd",namespace="",image="csi-vol-{image:08}-0000-0000-0000-000000000000"}} {value}\n'


def _published(images: int) -> Published:
    tenants = tuple(Tenant(f"tenant-{number}", "standard") for number in range(TENANTS))
    site = Site("c1", (), (), tenants)
    owners = {f"space-{number}": f"tenant-{number}" for number in range(TENANTS)}
    snapshot = Snapshot(0.0, site, {}, (), (), namespace_tenants=owners)
    volumes = tuple(
        RbdVolume(
            f"pv-{image}",
            f"space-{image % TENANTS}",
            f"claim-{image}",
            ("rbd", "", f"csi-vol-{image:08}-0000-0000-0000-000000000000"),
        )
        for image in range(images)
    )
    return replace(Published("c1"), snapshot=snapshot, volumes=volumes)

"""Reading Ceph's pages and exporting what they say about tenants: nothing that can not be vouched for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from collector.assemble.ceph_memory import CephMemory
from collector.catalogue.exported import STORAGE
from collector.exporter.ceph import CephPages
from collector.exporter.families import Published
from collector.exporter.health import Health
from collector.exporter.storage_families import StorageCollector
from collector.model.objects import RbdVolume
from collector.model.reading import Known, Unknown
from collector.model.snapshot import Snapshot
from collector.model.tenancy import Objective, ObjectiveKind
from collector.sources.scrape import Scrape, ScrapeFailed, ScrapeFault
from tests.ceph_pages import Image, Osd, Page
from tests.unit.collector.exporter.published import NOW, SITE, Samples, published, samples, snapshot

ONE, TWO = "http://mgr-a:9283/metrics", "http://user:secret@mgr-b:9283/metrics"
VOLUMES = (RbdVolume("pv-a", "vision-train", "data", ("rbd", "", "a")),)
DATA = Objective("data", ObjectiveKind.STORAGE_LATENCY, 0.99, 60.0, within_seconds=0.05, storage="rbd")
VISION = ("c1", "vision", "rbd")


class Cluster:
    """Addresses that answer as told, and a clock that the test moves."""

    def __init__(self, *urls: str) -> None:
        self.answers: dict[str, str | ScrapeFault] = {}
        self.now, self.health = NOW, Health()
        memory = CephMemory(window_seconds=60.0, stall_seconds=10.0)
        self.pages = CephPages(urls or (ONE,), self, self.health, lambda: self.now, memory)

    def scrape_all(self, urls: Iterable[str]) -> Mapping[str, Scrape | ScrapeFailed]:
        found = {url: self.answers[url] for url in urls}
        return {
            url: ScrapeFailed(answer, f"{url}: {answer}") if isinstance(answer, ScrapeFault) else Scrape(answer, 0.1)
            for url, answer in found.items()
        }

    def reads(self, page: Page, after_seconds: float = 5.0) -> Mapping[str, str]:
        self.now += after_seconds
        self.answers[ONE] = replace(page, round=int(self.now)).text
        return self.pages.read()

    def exported(self, shown: Published | None = None) -> Samples:
        shown = shown or published(promised(), volumes=VOLUMES)
        return samples(StorageCollector(lambda: shown, self.pages.state, lambda: self.now, 90.0).collect())


def promised() -> Snapshot:
    taken = snapshot()
    return replace(taken, site=replace(SITE, tenants=(replace(SITE.tenants[0], objectives=(DATA,)),)))


def busy(writes: int) -> Page:
    osds = {f"osd.{n}": Osd(writes=writes, commit_ms=ms, slow=n, in_progress=1) for n, ms in ((0, 10), (1, 900))}
    return Page(0, osds, {"a": Image(writes, writes * 0.2e9, writes, writes * 0.001e9)})


def test_everything_that_the_catalogue_names_is_exported_with_its_labels() -> None:
    cluster = Cluster()
    for writes in (0, 50, 100):
        assert cluster.reads(busy(writes)) == {}
    shown = published(promised(), volumes=VOLUMES)
    families = list(StorageCollector(lambda: shown, cluster.pages.state, lambda: cluster.now, 90.0).collect())
    exported = {sample.name: tuple(sample.labels) for family in families for sample in family.samples}
    assert exported == {metric.name: metric.labels for metric in STORAGE}


def test_values_are_those_of_the_window_in_base_units() -> None:
    cluster = Cluster()
    for writes in (0, 50, 100):
        cluster.reads(busy(writes))
    found = cluster.exported()
    assert found["trimtab_storage_write_latency_seconds"] == {VISION: pytest.approx(0.2)}
    assert found["trimtab_storage_read_latency_seconds"] == {VISION: pytest.approx(0.001)}
    assert found["trimtab_storage_write_operations_per_second"] == {VISION: 10.0}
    assert found["trimtab_storage_write_bytes_per_second"] == {VISION: 40960.0}
    assert found["trimtab_storage_limit_seconds"] == {VISION: 0.05}
    assert found["trimtab_storage_stalled"] == {VISION: 0.0}
    assert found["trimtab_storage_osd_commit_latency_seconds"] == {("c1", "osd.0"): 0.01, ("c1", "osd.1"): 0.9}
    assert found["trimtab_storage_slow_operations"] == {("c1", "osd.0"): 0.0, ("c1", "osd.1"): 1.0}


def test_a_stall_is_exported_and_its_latency_is_not() -> None:
    cluster = Cluster()
    for writes in (0, 50, 100, 100, 100, *[100] * 12):
        cluster.reads(busy(writes))
    found = cluster.exported()
    assert found["trimtab_storage_stalled"] == {VISION: 1.0}
    assert found["trimtab_storage_osd_stalled"] == {("c1", "osd.0"): 1.0, ("c1", "osd.1"): 1.0}
    assert "trimtab_storage_write_latency_seconds" not in found


def test_whose_a_volume_is_unknown_leaves_tenants_out_and_osds_in() -> None:
    cluster = Cluster()
    for writes in (0, 50, 100):
        cluster.reads(busy(writes))
    found = cluster.exported(published(volumes=None))
    assert {name for name in found if "osd" not in name and "slow" not in name} == set()
    assert found["trimtab_storage_osd_commit_latency_seconds"]


def test_an_old_picture_vouches_for_no_tenant() -> None:
    cluster = Cluster()
    for writes in (0, 50, 100):
        cluster.reads(busy(writes))
    found = cluster.exported(published(volumes=VOLUMES, picture_age_seconds=91.0))
    assert "trimtab_storage_write_latency_seconds" not in found


def test_a_ceph_that_is_gone_leaves_only_what_was_promised() -> None:
    cluster = Cluster()
    cluster.reads(busy(0))
    cluster.answers[ONE] = ScrapeFault.REFUSED
    cluster.now += 61
    assert cluster.pages.read() == {ONE: f"{ONE}: refused"}
    assert set(cluster.exported()) == {"trimtab_storage_limit_seconds"}
    assert isinstance(cluster.pages.state(cluster.now), Unknown)
    state = cluster.health.state()
    assert state.errors == {("ceph", "mgr-a:9283", "refused"): 1}
    assert state.last_success_at == {"ceph": NOW + 5}


def test_a_standby_manager_is_no_error_and_the_active_one_is_read() -> None:
    cluster = Cluster(ONE, TWO)
    cluster.answers[TWO] = ScrapeFault.EMPTY
    assert cluster.reads(busy(0)) == {}
    assert isinstance(cluster.pages.state(cluster.now), Known)
    cluster.answers[ONE] = ScrapeFault.EMPTY
    assert cluster.pages.read() == {"": "no page is that of an active manager"}
    assert cluster.health.state().errors == {("ceph", "", "no_active_manager"): 1}


def test_a_page_that_is_no_exposition_is_counted_without_its_password() -> None:
    cluster = Cluster(TWO)
    cluster.answers[TWO] = "?!\n"
    assert "not in the Prometheus text format" in cluster.pages.read()[TWO]
    assert cluster.health.state().errors == {("ceph", "mgr-b:9283", "not_text"): 1}


def test_a_page_that_is_served_again_is_no_success() -> None:
    cluster = Cluster()
    cluster.reads(busy(0))
    cluster.now += 30
    cluster.pages.read()
    assert cluster.health.state().last_success_at == {"ceph": NOW + 5}

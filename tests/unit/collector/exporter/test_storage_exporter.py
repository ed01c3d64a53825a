"""Reading Ceph's pages and exporting what they say about tenants: nothing that can not be vouched for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from collector.assemble.ceph_memory import CephMemory, CephState
from collector.catalogue.exported_storage import STORAGE
from collector.exporter.ceph import CephPages
from collector.exporter.families import Published
from collector.exporter.health import Health
from collector.exporter.storage_families import BUSIEST, StorageCollector
from collector.model.objects import CephClient, FsVolume, RbdVolume
from collector.model.reading import Known, Reading, Unknown, mapped
from collector.model.snapshot import Snapshot
from collector.model.tenancy import Objective, ObjectiveKind
from collector.sources.scrape import Scrape, ScrapeFailed, ScrapeFault
from tests.ceph_pages import Image, Osd, Page
from tests.unit.collector.exporter.published import NOW, SITE, Samples, published, samples, snapshot

ONE, TWO = "http://mgr-a:9283/metrics", "http://user:secret@mgr-b:9283/metrics"
VOLUMES = (
    RbdVolume("pv-a", "vision-train", "data", ("rbd", "", "a"), CephClient.KRBD),
    FsVolume("pv-b", "vision-train", "home", "shared", "csi-vol-b"),
)
# What a whole cluster says besides: its host, a pool, recovery, a store of Squid, a metadata server.
AROUND = (
    'ceph_osd_metadata{ceph_daemon="osd.0",hostname="h1"} 1',
    'ceph_osd_metadata{ceph_daemon="osd.1",hostname="h1"} 1',
    'ceph_pool_metadata{pool_id="2",name="rbd"} 1',
    *(f'ceph_pool_{name}{{pool_id="2"}} 7' for name in ("rd", "wr", "rd_bytes", "wr_bytes")),
    'ceph_pool_recovering_bytes_per_sec{pool_id="2"} 5000',
    'ceph_pg_recovering{pool_id="2"} 3',
    'ceph_pg_scrubbing{pool_id="2"} 0',
    'ceph_bluestore_slow_aio_wait_count{ceph_daemon="osd.1"} 0',
)
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
    osds = {
        f"osd.{n}": Osd(writes=writes, reads=writes, commit_ms=ms, slow=n, in_progress=1)
        for n, ms in ((0, 10), (1, 900))
    }
    return Page(0, osds, {"a": Image(writes, writes * 0.2e9, writes, writes * 0.001e9)})


def whole(writes: int) -> Page:
    replies = f'ceph_mds_reply_latency_count{{ceph_daemon="mds.a"}} {writes}'
    seconds = f'ceph_mds_reply_latency_sum{{ceph_daemon="mds.a"}} {writes / 100}'
    return replace(busy(writes), more=(*AROUND, replies, seconds))


def known_to_admins(found: Reading[CephState]) -> Reading[CephState]:
    return mapped(found, lambda state: replace(state, awaited=Known({"osd.1": 4.0})))


def test_everything_that_the_catalogue_names_is_exported_with_its_labels() -> None:
    cluster = Cluster()
    for writes in range(0, 2000, 50):
        assert cluster.reads(whole(writes)) == {}
    shown = published(promised(), volumes=VOLUMES)

    def state(now: float) -> Reading[CephState]:
        return known_to_admins(cluster.pages.state(now))

    families = list(StorageCollector(lambda: shown, state, lambda: cluster.now, 900.0).collect())
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


def test_the_worst_is_that_between_two_looks_and_the_mean_that_of_all() -> None:
    cluster = Cluster()
    for writes, milliseconds in ((0, 0), (90, 90), (100, 90 + 10 * 900)):
        cluster.reads(Page(0, images={"a": Image(writes, milliseconds * 1e6)}))
    found = cluster.exported()
    assert found["trimtab_storage_write_latency_seconds"] == {VISION: pytest.approx(0.0909)}
    assert found["trimtab_storage_write_worst_latency_seconds"] == {VISION: pytest.approx(0.9)}
    assert "trimtab_storage_read_worst_latency_seconds" not in found


def test_what_ceph_does_not_count_is_told_as_such_and_has_no_value() -> None:
    cluster = Cluster()
    for writes in (0, 50, 100):
        cluster.reads(busy(writes))
    found = cluster.exported()
    assert found["trimtab_storage_bound_volumes"] == {
        ("c1", "vision", "cephfs", "unknown", "no"): 1.0,
        ("c1", "vision", "rbd", "krbd", "yes"): 1.0,
    }
    assert ("c1", "vision", "cephfs") not in found["trimtab_storage_stalled"]


def test_the_info_of_a_volume_joins_image_claim_and_tenant() -> None:
    cluster = Cluster()
    cluster.reads(busy(0))
    assert set(cluster.exported()["trimtab_storage_volume_info"]) == {
        ("c1", "vision", "vision-train", "data", "pv-a", "rbd", "krbd", "rbd", "", "a"),
        ("c1", "vision", "vision-train", "home", "pv-b", "cephfs", "unknown", "shared", "", "csi-vol-b"),
    }


def test_of_many_volumes_only_the_busiest_have_numbers_and_all_have_their_info() -> None:
    cluster = Cluster()
    count = BUSIEST + 20
    for n in (0, 1):
        cluster.reads(Page(0, images={f"i{k}": Image(writes=n * (k + 1)) for k in range(count)}))
    volumes = tuple(RbdVolume(f"pv-{k}", "vision-train", f"c{k}", ("rbd", "", f"i{k}")) for k in range(count))
    found = cluster.exported(published(promised(), volumes=volumes))
    assert len(found["trimtab_storage_volume_info"]) == count
    numbers = found["trimtab_storage_volume_write_bytes_per_second"]
    assert len(numbers) == BUSIEST
    assert ("c1", "vision", "vision-train", f"c{count - 1}") in numbers


def test_disturbances_are_exported_with_their_scope_and_as_0_while_they_do_not_go_on() -> None:
    cluster = Cluster()
    for writes in (0, 50, 100):
        cluster.reads(whole(writes))
    found = cluster.exported()["trimtab_storage_disturbance"]
    assert found["c1", "recovery", "cluster", ""] == 1.0
    assert found["c1", "slow-disk", "osd", "osd.1"] == 1.0
    assert found["c1", "paused", "none", ""] == 0.0
    assert not [labels for labels in found if labels[1] == "awaited"], "unknown without admin access: no sample"


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
    assert {name for name in found if "tenant" in name or "volume" in name or "unattributed" in name} == set()
    assert "trimtab_storage_stalled" not in found
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


def test_counters_that_an_upgrade_to_reef_has_moved_are_told_with_where_they_are() -> None:
    cluster = Cluster()
    moved = Page(0, images={"a": Image(5)}, more=('ceph_osd_up{ceph_daemon="osd.0"} 1',))
    (told,) = cluster.reads(moved).values()
    assert "ceph-exporter (port 9926)" in told
    assert cluster.health.state().errors == {("ceph", "", "no_counters_of_osds"): 1}
    assert isinstance(cluster.pages.state(cluster.now), Known), "what is on the page is read all the same"

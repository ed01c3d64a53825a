"""A real Ceph under a small load: a slow disk is seen, named and undone; a frozen OSD, a paused cluster are stalls.

Recovery, a limited image and a deleted one are told for what they are. One module, one cluster: each test leaves it
healthy. Read as the collector reads it, with its shortest times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest

from collector.assemble.ceph_memory import CephMemory, CephState
from collector.assemble.disturbances import Disturbance, Kind, Scope, disturbances, going_on
from collector.assemble.osd_blame import OsdFacts, blamed
from collector.assemble.storage import TenantStorage, tenant_storage
from collector.assemble.storage_trouble import VolumeFacts, storage_trouble
from collector.exporter.ceph import CephPages
from collector.exporter.ceph_admin import AdminRounds
from collector.exporter.health import Health
from collector.model.objects import FsVolume, RbdVolume
from collector.model.reading import Known, Unknown
from collector.parse.ceph_names import RbdImage
from collector.parse.exposition import parse_exposition
from collector.sources.ceph_admin import CephAdmin, load_bindings
from collector.sources.scrape import Scraper
from controller.demo.processes import NotInTime, wait_until
from tests.testbed import Testbed
from tests.testbed.ceph import Ceph
from tests.testbed.disk_throttle import NoThrottle

pytestmark = [pytest.mark.ceph, pytest.mark.timeout(1200)]

VOLUMES: tuple[RbdVolume, ...] = (
    RbdVolume("pv-vision", "vision-train", "data", ("rbd", "", "csi-vol-vision")),
    RbdVolume("pv-nlp", "nlp", "data", ("rbd", "", "csi-vol-nlp")),
)
OWNERS = {"vision-train": "vision", "nlp": "nlp"}


@dataclass
class Watched:
    """The cluster, and what is known of it after each look."""

    ceph: Ceph
    health: Health = field(default_factory=Health)

    def __post_init__(self) -> None:
        memory = CephMemory(window_seconds=20.0, stall_seconds=10.0)
        self.pages = CephPages([self.ceph.metrics_url], Scraper(), self.health, time.time, memory)
        self.admin = CephAdmin(self.ceph.configuration, "client.admin")
        self.rounds = self.new_rounds()

    def new_rounds(self) -> AdminRounds:
        """Rounds that have asked nothing yet."""
        return AdminRounds(lambda: self.admin, self.pages.state, self.health, time.time)

    def until(
        self, seen: Callable[[CephState], bool], what: str, timeout_seconds: float = 240.0, *, asked: bool = False
    ) -> CephState:
        """Looks once a second until a state shows it; raises NotInTime. `asked`: as an administrator as well."""
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            self.pages.read()
            assert not asked or self.rounds.read() == {}
            found = self.rounds.state(time.time()) if asked else self.pages.state(time.time())
            if isinstance(found, Known) and seen(found.value):
                return found.value
            time.sleep(1.0)
        raise NotInTime(f"waited {timeout_seconds:g} s in vain for {what}")


@pytest.fixture(scope="module")
def watched(storage: Testbed) -> Iterator[Watched]:
    ceph = storage.ceph
    for name in ("csi-vol-vision", "csi-vol-nlp"):
        ceph.add_image(name)
    load = ceph.load("csi-vol-vision", iops=40, at_most_seconds=1200)
    load.start()
    watched = Watched(ceph)
    yield watched
    watched.admin.close()
    load.stop()


def of(state: CephState, tenant: str) -> TenantStorage:
    return next(one for one in tenant_storage(state, VOLUMES, OWNERS) if one.tenant == tenant)


def write_latency(state: CephState) -> float | None:
    latency = of(state, "vision").write_latency_seconds
    return latency.value if isinstance(latency, Known) else None


def facts(state: CephState) -> list[OsdFacts]:
    return [
        OsdFacts(osd.name, osd.commit_latency_seconds, osd.slow_operations, state.stalled_osds[osd.name])
        for osd in state.readings.osds
    ]


def is_quick(state: CephState) -> bool:
    latency = write_latency(state)
    return latency is not None and latency < 0.2 and not blamed(facts(state))


def test_an_image_is_its_tenants_and_an_idle_one_has_no_latency(watched: Watched) -> None:
    state = watched.until(is_quick, "a quick image under load")
    vision, nlp = of(state, "vision"), of(state, "nlp")
    assert isinstance(vision.write, Known)
    assert 1 < vision.write.value.operations / vision.write.value.interval_seconds < 60, (
        "the load's 40 a second at most"
    )
    assert vision.write.value.bytes / vision.write.value.operations == 4096
    assert isinstance(nlp.write_latency_seconds, Unknown)
    assert [osd.up for osd in state.readings.osds] == [Known(True, state.age_seconds)] * 3


def test_a_slow_disk_is_seen_and_named_and_gone_once_it_is_undone(watched: Watched) -> None:
    watched.until(is_quick, "a quick image before")
    try:
        watched.ceph.throttle_osd(1, iops=15)
    except NoThrottle as reason:
        pytest.skip(f"no disk can be slowed here: {reason}")
    state = watched.until(lambda it: [osd.name for osd in blamed(facts(it))] == ["osd.1"], "osd.1 to be blamed")
    slow = watched.until(lambda it: (write_latency(it) or 0.0) > 0.2, "the image to be slow")
    volumes = VolumeFacts("vision", 0.05, write_latency_seconds=of(slow, "vision").write_latency_seconds)
    trouble = storage_trouble(volumes, facts(state))
    assert trouble is not None
    assert trouble.sentence.startswith("Ceph: osd.1 commits in ")
    assert trouble.sentence.endswith(" ms (objective 50 ms)")

    watched.ceph.unthrottle_osd(1)
    watched.until(is_quick, "a quick image again")


def test_a_frozen_osd_is_a_stall_of_those_who_wait_for_it_and_no_latency(watched: Watched) -> None:
    watched.until(is_quick, "a quick image before")
    watched.ceph.freeze_osd(2)
    try:
        state = watched.until(lambda it: of(it, "vision").stalled == Known(True), "vision to be seen waiting")
        stalled = {name for name, one in state.stalled_osds.items() if isinstance(one, Known) and one.value}
        assert stalled, "a primary waits for the frozen replica"
        assert "osd.2" not in {osd.name for osd in blamed(facts(state))}, "who is silent is not called slow"
        assert of(state, "nlp").stalled == Known(False), "who was idle is not said to wait"
        assert state.readings.health_status == Known(1, state.age_seconds)
        assert "SLOW_OPS" in state.readings.checks
        # The manager names who waits; its peers, asked, name who is waited for, and the frozen one does not answer.
        asked = watched.until(lambda it: "osd.2" in it.silent_osds, "osd.2 to be named", asked=True)
        told = {one.kind: one.where for one in going_on(disturbances(asked).values())}
        assert told[Kind.SILENT] == told[Kind.AWAITED] == "osd.2"
        assert told[Kind.STALL] != "osd.2"
    finally:
        watched.ceph.thaw_osd(2)
    watched.until(lambda it: of(it, "vision").stalled == Known(False), "vision to go on")


def test_a_paused_cluster_is_a_stall_of_those_who_worked_without_any_slow_operation(watched: Watched) -> None:
    watched.until(is_quick, "a quick image before")
    watched.ceph.pause()
    try:
        state = watched.until(lambda it: of(it, "vision").stalled == Known(True), "vision to be seen waiting")
        told = {one.kind: one for one in going_on(disturbances(state).values())}
        assert told[Kind.PAUSED] == Disturbance(Kind.PAUSED, Scope.CLUSTER)
        assert Kind.SLOW_DISK not in told, "no disk is to blame"
        assert of(state, "nlp").stalled == Known(False)
        asked = watched.until(lambda it: not isinstance(it.awaited, Unknown), "an administrator's answer", asked=True)
        assert isinstance(asked.cluster.clients_stopped, Known), "by the flag itself"
        assert asked.cluster.clients_stopped.value
        volumes = VolumeFacts("vision", 0.05, stalled=of(state, "vision").stalled)
        trouble = storage_trouble(volumes, facts(state), told.values())
        assert trouble is not None
        assert trouble.sentence.startswith(
            "Ceph: a flag stops all clients (ceph osd unpause); volumes of tenant vision"
        )
    finally:
        watched.ceph.unpause()
    watched.until(lambda it: of(it, "vision").stalled == Known(False), "vision to go on")


def test_recovery_is_told_as_such_and_over_when_it_is(watched: Watched) -> None:
    watched.until(is_quick, "a quick image before")
    watched.ceph.ceph("osd", "set", "norecover")  # else it is over before anybody looks
    watched.ceph.freeze_osd(2)
    try:
        watched.ceph.ceph("osd", "down", "2")
        wait_until(lambda: "ceph_pg_undersized" in _above_zero(watched.ceph.metrics()), "osd.2 to be left out")
        # What osd.2 misses of this image nobody writes to again: a client that does makes Ceph recover it at once.
        watched.ceph.write_once("csi-vol-nlp")
        state = watched.until(lambda it: "osd.2" in it.cluster.down, "osd.2 to be down")
        assert disturbances(state)[Kind.DOWN] == Known(Disturbance(Kind.DOWN, Scope.OSD, "osd.2"))
        watched.ceph.thaw_osd(2)
        state = watched.until(_recovers, "recovery to be seen")
        assert disturbances(state)[Kind.RECOVERY] == Known(Disturbance(Kind.RECOVERY, Scope.CLUSTER), state.age_seconds)
    finally:
        watched.ceph.thaw_osd(2)
        watched.ceph.ceph("osd", "unset", "norecover")
    watched.until(lambda it: not _recovers(it), "recovery to be over")


def _above_zero(page: str) -> set[str]:
    return {sample.name for sample in parse_exposition(page).samples if sample.value > 0}


def _recovers(state: CephState) -> bool:
    return any(one.kind is Kind.RECOVERY for one in going_on(disturbances(state).values()))


def test_a_limited_image_is_held_at_its_limit_quick_and_neither_slow_nor_stalled(watched: Watched) -> None:
    watched.until(is_quick, "a quick image before")
    watched.ceph.limit_image("csi-vol-nlp", 5)
    load = watched.ceph.load("csi-vol-nlp", iops=0, at_most_seconds=120)
    load.start()

    def held(state: CephState) -> bool:
        write = of(state, "nlp").write
        return isinstance(write, Known) and 3.5 < write.value.operations / write.value.interval_seconds < 6.5

    try:
        state = watched.until(held, "nlp to be held at five writes a second")
        latency = of(state, "nlp").write_latency_seconds
        assert isinstance(latency, Known)
        assert latency.value < 0.2, "requests wait in librbd, before Ceph counts them"
        assert of(state, "nlp").stalled == Known(False)
        assert not blamed(facts(state))
        watched.rounds = watched.new_rounds()  # limits are read once a minute: at once, by one that never did
        asked = watched.until(lambda it: isinstance(it.limits, Known), "limits to be read", asked=True)
        assert isinstance(asked.limits, Known)
        assert asked.limits.value == {RbdImage("rbd", "", "csi-vol-nlp"): 5.0}
    finally:
        load.stop()
        watched.ceph.unlimit_image("csi-vol-nlp")


def test_a_deleted_image_is_gone_as_soon_as_the_manager_says_so(watched: Watched) -> None:
    watched.ceph.add_image("csi-vol-gone")
    watched.ceph.write_once("csi-vol-gone")
    gone = RbdImage("rbd", "", "csi-vol-gone")

    def there(state: CephState) -> bool:
        return gone in {image.image for image in state.readings.images}

    watched.until(lambda it: there(it) and gone in it.bursts.flows, "the image to be counted")
    watched.ceph.remove_image("csi-vol-gone")
    # The manager repeats the image until it looks for images anew, every five minutes unless told otherwise.
    interval = ("mgr", "mgr/prometheus/rbd_stats_pools_refresh_interval")
    watched.ceph.ceph("config", "set", *interval, "1")
    state = watched.until(lambda it: not there(it), "the image to be gone")
    watched.ceph.ceph("config", "rm", *interval)
    assert gone not in state.bursts.flows
    assert gone not in state.worst_images
    assert gone not in state.waiting_images


def test_a_file_system_has_the_answers_of_its_metadata_server_and_no_io_per_subvolume(watched: Watched) -> None:
    watched.ceph.add_filesystem("shared")
    client = load_bindings("cephfs").LibCephFS(conffile=str(watched.ceph.configuration))
    client.mount()
    names = count()

    def answers(state: CephState) -> bool:
        for _ in range(20):
            opened = client.open(f"/file-{next(names)}".encode(), "w", 0o644)
            client.write(opened, b"x" * 4096, 0)
            client.close(opened)
        servers = state.cluster.metadata_servers
        return any(isinstance(one.reply_latency_seconds, Known) for one in servers)

    try:
        state = watched.until(answers, "answers of the metadata server")
    finally:
        client.shutdown()
    (server,) = state.cluster.metadata_servers
    assert isinstance(server.reply_latency_seconds, Known)
    assert server.name == "mds.m"
    assert 0 < server.reply_latency_seconds.value < 2
    assert {"rbd", "shared-data"} <= {pool.name for pool in state.cluster.pools}
    home = FsVolume("pv-home", "nlp", "home", "shared", "csi-vol-home")
    (nlp,) = tenant_storage(state, [home], OWNERS)
    assert isinstance(nlp.write, Unknown)

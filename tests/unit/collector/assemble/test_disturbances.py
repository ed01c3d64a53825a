"""What disturbs a Ceph cluster, and how far it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from collector.assemble.ceph_memory import CephMemory, CephState
from collector.assemble.disturbances import Disturbance, Kind, Scope, disturbances, going_on, reached
from collector.catalogue.metric import DISTURBANCES, SCOPES
from collector.model.reading import Known, Unknown
from tests.ceph_pages import Osd, Page, known

HOSTS = {f"osd.{n}": f"h{n // 3}" for n in range(9)}
"""Three hosts of three."""


def scope(osds: Iterable[str], hosts: Mapping[str, str] = HOSTS) -> tuple[Scope, str]:
    found = reached(Kind.STALL, list(osds), list(HOSTS), hosts)
    return found.scope, found.where


@pytest.mark.parametrize(
    ("osds", "expected"),
    [
        ([], (Scope.NONE, "")),
        (["osd.4"], (Scope.OSD, "osd.4")),
        (["osd.0", "osd.4"], (Scope.OSD, "osd.0, osd.4")),
        (["osd.3", "osd.4"], (Scope.HOST, "h1")),
        (["osd.3", "osd.4", "osd.5"], (Scope.HOST, "h1")),
        (["osd.0", "osd.1", "osd.3", "osd.4"], (Scope.CLUSTER, "h0, h1")),
        (list(HOSTS), (Scope.CLUSTER, "h0, h1, h2")),
    ],
)
def test_an_osd_a_host_and_the_cluster_are_told_apart(osds: list[str], expected: tuple[Scope, str]) -> None:
    assert scope(osds) == expected


def test_where_all_stand_on_one_host_or_nobody_tells_half_of_all_is_the_cluster() -> None:
    assert scope(["osd.0", "osd.1"], dict.fromkeys(HOSTS, "h")) == (Scope.OSD, "osd.0, osd.1")
    assert scope([f"osd.{n}" for n in range(5)], dict.fromkeys(HOSTS, "h")) == (Scope.CLUSTER, "")
    assert scope([f"osd.{n}" for n in range(5)], {}) == (Scope.CLUSTER, "")


def state(*pages: Page, every: float = 5.0) -> CephState:
    memory = CephMemory(stall_seconds=10.0)
    for number, page in enumerate(pages):
        memory = memory.advance(replace(page, round=number).scrape(number * every))
    return known(memory.state(memory.scrapes[-1].at))


def around(*lines: str) -> Page:
    return Page(0, {f"osd.{n}": Osd(writes=5) for n in range(3)}, more=lines)


def found(*lines: str) -> dict[Kind, Disturbance]:
    page = around(*lines)
    return {one.kind: one for one in going_on(disturbances(state(page, page, page, page)).values())}


def test_the_catalogue_names_every_kind_and_scope() -> None:
    assert (tuple(Kind), tuple(Scope)) == (DISTURBANCES, SCOPES)


def test_a_healthy_cluster_is_disturbed_by_nothing() -> None:
    assert found() == {}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('ceph_pg_recovering{pool_id="2"} 4', Kind.RECOVERY),
        ('ceph_pg_backfill_wait{pool_id="2"} 1', Kind.RECOVERY),
        ('ceph_pg_scrubbing{pool_id="2"} 1', Kind.SCRUB),
        ('ceph_health_detail{name="POOL_FULL",severity="HEALTH_ERR"} 1', Kind.FULL),
        ('ceph_health_detail{name="OSDMAP_FLAGS",severity="HEALTH_WARN"} 1', Kind.PAUSED),
    ],
)
def test_what_concerns_the_whole_cluster(line: str, kind: Kind) -> None:
    assert found(line) == {kind: Disturbance(kind, Scope.CLUSTER)}


def test_a_flag_that_stops_no_client_is_no_pause() -> None:
    flags = ('ceph_health_detail{name="OSDMAP_FLAGS",severity="HEALTH_WARN"} 1', "ceph_osd_flag_noscrub 1")
    assert found(*flags) == {}
    page = around(*flags)
    paused = disturbances(state(page, page))[Kind.PAUSED]
    assert paused == Unknown("noscrub is set too, and the manager does not tell what else")


def test_an_osd_that_holds_data_and_is_down() -> None:
    down = ('ceph_osd_up{ceph_daemon="osd.7"} 0', 'ceph_osd_in{ceph_daemon="osd.7"} 1')
    assert found(*down)[Kind.DOWN].where == "osd.7"
    out = ('ceph_osd_up{ceph_daemon="osd.7"} 0', 'ceph_osd_in{ceph_daemon="osd.7"} 0')
    assert found(*out) == {}


def test_a_slow_disk_is_at_fault_and_who_waits_for_it_is_not() -> None:
    def page(writes: int) -> Page:
        osds = {f"osd.{n}": Osd(writes=writes, commit_ms=900 if n == 1 else 9, slow=n == 0) for n in range(3)}
        return Page(0, osds)

    told = disturbances(state(page(10), page(20), page(30)))
    assert known(told[Kind.SLOW_DISK]) == Disturbance(Kind.SLOW_DISK, Scope.OSD, "osd.1")
    assert known(told[Kind.STALL]).scope is Scope.NONE


def test_waits_in_the_store_are_seen_where_the_release_counts_them_and_unknown_elsewhere() -> None:
    def page(events: int) -> Page:
        line = 'ceph_bluestore_slow_{}_count{{ceph_daemon="osd.2"}} {}'
        return around(*(line.format(what, events) for what in ("aio_wait", "committed_kv")))

    told = disturbances(state(page(0), page(0), page(3), page(3)))
    assert known(told[Kind.SLOW_STORE]) == Disturbance(Kind.SLOW_STORE, Scope.OSD, "osd.2")
    before_squid = around()
    assert isinstance(disturbances(state(before_squid, before_squid))[Kind.SLOW_STORE], Unknown)


def test_whom_others_wait_for_is_known_with_admin_access_alone() -> None:
    page = around()
    without = state(page, page)
    assert disturbances(without)[Kind.AWAITED] == Unknown("needs admin access: --ceph-admin")
    told = disturbances(replace(without, awaited=Known({"osd.1": 1.0, "osd.2": 6.0})))
    assert known(told[Kind.AWAITED]) == Disturbance(Kind.AWAITED, Scope.OSD, "osd.2")

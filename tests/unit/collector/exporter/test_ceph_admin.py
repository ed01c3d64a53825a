"""Asking Ceph as an administrator: only those that do not get on, and what it means when nobody can be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from collector.assemble.ceph_memory import CephMemory, CephState
from collector.exporter.ceph_admin import AdminRounds
from collector.exporter.health import Health
from collector.model.reading import Known, Reading, Unknown
from collector.parse.ceph_names import RbdImage
from collector.sources.ceph_admin import AdminMissing, CephAdmin, load_bindings
from tests.ceph_pages import Image, Osd, Page, known
from tests.unit.collector.parse.test_ceph_admin import in_flight, operation

LIMITED = RbdImage("rbd", "", "a")


class Admin:
    """OSDs that answer as told; those without an answer are silent."""

    def __init__(self, **answers: object) -> None:
        self.answers = {name.replace("osd", "osd."): answer for name, answer in answers.items()}
        self.asked: list[str] = []
        self.refuses = False

    def flags(self) -> frozenset[str]:
        if self.refuses:
            raise AdminMissing("the monitors do not answer")
        return frozenset({"pausewr"})

    def operations_in_flight(self, osd: str) -> object | None:
        self.asked.append(osd)
        return self.answers.get(osd)

    def write_limits(self, images: Iterable[RbdImage]) -> Mapping[RbdImage, float]:
        return dict.fromkeys(images, 100.0)


def cluster(now: float) -> Reading[CephState]:
    """Three OSDs, of which 0 and 1 complain."""
    memory = CephMemory(stall_seconds=10.0)
    for number in range(4):
        osds = {f"osd.{n}": Osd(writes=9, in_progress=int(n < 2), slow=int(n < 2)) for n in range(3)}
        page = Page(number, osds, {"a": Image(number * 9), "idle": Image(4)})
        memory = memory.advance(page.scrape(number * 5.0))
    return memory.state(15.0)


def rounds(admin: Admin, health: Health | None = None) -> AdminRounds:
    return AdminRounds(lambda: admin, cluster, health or Health(), lambda: 16.0)


HANGS = {
    "osd0": in_flight(*(operation(1, 2, answered=1) for _ in range(2))),
    "osd1": in_flight(*(operation(0, 2, answered=1) for _ in range(5))),
}


def test_whom_others_wait_for_and_does_not_answer_is_silent_and_only_few_are_asked() -> None:
    admin = Admin(**HANGS)
    asked = rounds(admin)
    assert asked.read() == {}
    state = known(asked.state(17.0))
    assert state.awaited == Known({"osd.2": 7.0}, 1.0)
    assert state.silent_osds == {"osd.2"}
    assert admin.asked == ["osd.0", "osd.1", "osd.2"]
    assert state.limits == Known({LIMITED: 100.0}, 1.0), "images that move, not those that rest"
    assert state.cluster.clients_stopped == Known(True, 1.0), "by the flag itself"


def test_a_slow_replica_that_answers_is_awaited_and_not_silent() -> None:
    asked = rounds(Admin(**HANGS, osd2=in_flight()))
    asked.read()
    state = known(asked.state(17.0))
    assert (state.awaited, state.silent_osds) == (Known({"osd.2": 7.0}, 1.0), frozenset())


def test_a_healthy_cluster_is_not_asked_about_its_osds() -> None:
    admin, health = Admin(), Health()
    calm = mapped_calm(known(cluster(0.0)))
    asked = AdminRounds(lambda: admin, lambda now: Known(calm), health, lambda: 16.0)
    asked.read()
    assert admin.asked == []
    assert health.state().last_success_at == {"ceph-admin": 16.0}


def mapped_calm(state: CephState) -> CephState:
    osds = tuple(replace(osd, slow_operations=Known(0.0)) for osd in state.readings.osds)
    return replace(state, stalled_osds={}, readings=replace(state.readings, osds=osds))


def test_an_administrator_that_is_refused_says_so_and_what_pages_tell_stays() -> None:
    admin, health = Admin(), Health()
    admin.refuses = True
    asked = rounds(admin, health)
    assert asked.read() == {"": "the monitors do not answer"}
    state = known(asked.state(17.0))
    assert state.awaited == state.limits == Unknown("the monitors do not answer")
    assert state.readings == known(cluster(0.0)).readings
    assert health.state().errors == {("ceph-admin", "", "unreadable"): 1}


def test_an_answer_that_is_old_is_no_answer() -> None:
    asked = rounds(Admin(**HANGS))
    asked.read()
    assert isinstance(known(asked.state(200.0)).awaited, Unknown)


def test_bindings_that_are_not_installed_are_told_clearly_with_the_package_to_install(tmp_path: Path) -> None:
    with pytest.raises(AdminMissing, match=r"python3-rados is not installed for this Python .*Leave --ceph-admin out"):
        load_bindings("no_such_bindings", str(tmp_path))


def test_a_configuration_that_is_no_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.sources.ceph_admin.load_bindings", lambda: object())
    with pytest.raises(AdminMissing, match=r"is no file: expected the ceph.conf of a client"):
        CephAdmin(tmp_path / "ceph.conf", "client.admin")

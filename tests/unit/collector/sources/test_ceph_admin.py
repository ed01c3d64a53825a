"""Questions to Ceph as an administrator: refusals, silence and missing pieces, by a named fake of the bindings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from collector.parse.ceph_names import RbdImage
from collector.sources.ceph_admin import AdminMissing, CephAdmin

LIMITED, FREE, GONE = (RbdImage("rbd", "", name) for name in ("limited", "free", "gone"))


class FakeError(Exception):
    """As errors of the bindings read."""


class FakeCluster:
    """Answers as told, by command."""

    def __init__(self, answers: dict[str, tuple[int, object]], reachable: bool = True) -> None:
        self._answers, self._reachable = answers, reachable
        self.closed = 0

    def connect(self, timeout: int) -> None:
        if not self._reachable:
            raise FakeError("[errno 110] RADOS timed out (error connecting to the cluster)")

    def shutdown(self) -> None:
        self.closed += 1

    def mon_command(self, question: str, _: bytes) -> tuple[int, bytes, str]:
        return self._answer(json.loads(question)["prefix"])

    def osd_command(self, osd: int, question: str, _: bytes) -> tuple[int, bytes, str]:
        return self._answer(f"{json.loads(question)['prefix']} {osd}")

    @contextmanager
    def open_ioctx(self, pool: str) -> Iterator[Any]:
        yield SimpleNamespace(set_namespace=lambda name: None)

    def _answer(self, what: str) -> tuple[int, bytes, str]:
        code, answer = self._answers[what]
        return code, b"" if code else json.dumps(answer).encode(), "access denied" if code == -13 else ""


@contextmanager
def image(_: object, name: str, read_only: bool) -> Iterator[Any]:
    assert read_only
    if name == "gone":
        raise FakeError("image not found")
    limit = "5" if name == "limited" else "0"
    yield SimpleNamespace(config_list=lambda: [{"name": "rbd_qos_write_iops_limit", "value": limit}])


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Makes an administrator of a fake cluster."""
    (tmp_path / "ceph.conf").write_text("[global]\n")

    def make(cluster: FakeCluster) -> CephAdmin:
        rados = SimpleNamespace(Error=FakeError, Rados=lambda **_: cluster)
        rbd = SimpleNamespace(Error=FakeError, Image=image)
        bindings = {"rados": rados, "rbd": rbd}
        monkeypatch.setattr("collector.sources.ceph_admin.load_bindings", lambda name="rados": bindings[name])
        return CephAdmin(tmp_path / "ceph.conf", "client.trimtab")

    return make


def test_flags_and_operations_are_told(admin: Any) -> None:
    cluster = FakeCluster({"osd dump": (0, {"flags_set": ["pausewr"]}), "dump_ops_in_flight 2": (0, {"ops": []})})
    asked = admin(cluster)
    assert asked.flags() == {"pausewr"}
    assert asked.operations_in_flight("osd.2") == {"ops": []}
    asked.close()
    assert cluster.closed == 1


def test_an_osd_that_does_not_answer_in_time_has_no_answer(admin: Any) -> None:
    assert admin(FakeCluster({"dump_ops_in_flight 2": (-110, None)})).operations_in_flight("osd.2") is None


def test_a_user_without_the_right_is_told_which_one_it_needs(admin: Any) -> None:
    with pytest.raises(
        AdminMissing, match=r"osd\.2 refused client\.trimtab: it needs osd 'allow \*' \(access denied\)"
    ):
        admin(FakeCluster({"dump_ops_in_flight 2": (-13, None)})).operations_in_flight("osd.2")


def test_monitors_that_do_not_answer_are_told_without_numbers_of_errors(admin: Any) -> None:
    with pytest.raises(AdminMissing, match=r"can not be reached as client\.trimtab: RADOS timed out"):
        admin(FakeCluster({}, reachable=False)).flags()
    with pytest.raises(AdminMissing, match=r"refused to show the map of OSDs: it did not answer in time"):
        admin(FakeCluster({"osd dump": (-110, None)})).flags()


def test_limits_of_images_that_have_one_and_a_deleted_image_costs_nothing(admin: Any) -> None:
    assert admin(FakeCluster({})).write_limits([LIMITED, GONE, FREE]) == {LIMITED: 5.0}

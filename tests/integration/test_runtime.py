"""The controller's stores and its tick against a real API server, under the rights that it gets and no others."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from collector.model.snapshot import Evidence
from collector.sources.errors import Forbidden, Malformed
from collector.sources.kubernetes_api import KubernetesApi, connect
from collector.sources.kubernetes_lists import look_once
from collector.sources.kubernetes_watch import ClusterWatch, WatchSettings
from controller.actuators.server_side_apply import ServerSideApply
from controller.api.errors import InputError
from controller.demo.processes import free_port, wait_until
from controller.knobs.own import Baseline, baseline_text
from controller.policy.change import Change
from controller.policy.change import Stage as ChangeStage
from controller.policy.ledger import Ledger
from controller.runtime.assembly import Settings, controller_for, evidence_source
from controller.runtime.control import BaselineSource, Control, read_control, write_control
from controller.runtime.lease import Lease
from controller.runtime.ledger_store import LedgerLost, LedgerStore
from controller.runtime.reverting import Because, everything_back, sent_back
from controller.runtime.status_store import StatusStore, read_status
from tests.builders import a_change
from tests.integration.own_objects import AGREED, nominal, with_gpus
from tests.testbed import Testbed
from tests.testbed.api import KubeApi
from tests.unit.controller.runtime.stage import AlwaysOurs

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]


def change(identifier: str, **fields: Any) -> Change:
    usual: dict[str, Any] = {
        "tenant": "rt-a",
        "source": "trimtab-rt-b",
        "destination": "trimtab-rt-a",
        "amount": 2,
        "created_at": 1.0,
        "expires_at": 2.0,
    }
    return a_change(id=identifier, **usual | fields)


def loaded(api: KubernetesApi, home: str) -> LedgerStore:
    store = LedgerStore(api, home)
    store.load()
    return store


# The ledger


def test_the_ledger_is_made_under_rights_that_allow_just_its_name(api: KubernetesApi, home: str) -> None:
    ledger = Ledger((change("a"), change("b")))
    loaded(api, home).save(ledger)
    assert LedgerStore(api, home).load() == ledger
    maps = f"/api/v1/namespaces/{home}/configmaps"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trimtab-other", "namespace": home}}
    for method, path in (("POST", maps), ("PATCH", f"{maps}/trimtab-other"), ("PATCH", f"{maps}/trimtab-baseline")):
        with pytest.raises(Forbidden):
            api.request(method, path, body, "application/apply-patch+yaml" if method == "PATCH" else "application/json")


def test_of_two_that_write_the_ledger_the_second_is_told_and_reads_again(api: KubernetesApi, home: str) -> None:
    first, second = loaded(api, home), loaded(api, home)
    first.save(Ledger((change("a"),)))
    with pytest.raises(LedgerLost, match="somebody else made"):
        second.save(Ledger((change("b"),)))
    second.load()
    first.save(Ledger((change("a"), change("c"))))
    with pytest.raises(LedgerLost):
        second.save(Ledger((change("a"), change("d"))))
    found = second.load()
    assert [one.id for one in found.changes] == ["a", "c"]
    second.save(found.with_change(change("d")))
    assert [one.id for one in first.load().changes] == ["a", "c", "d"]


def test_a_ledger_that_was_deleted_is_written_anew(api: KubernetesApi, admin: KubeApi, home: str) -> None:
    store = loaded(api, home)
    store.save(Ledger((change("a"),)))
    admin.delete("v1", "ConfigMap", "trimtab-ledger", home)
    store.save(Ledger((change("a"), change("b"))))
    assert [one.id for one in store.load().changes] == ["a", "b"]
    admin.delete("v1", "ConfigMap", "trimtab-ledger", home)
    assert store.load() == Ledger()
    store.save(Ledger((change("c"),)))
    assert [one.id for one in LedgerStore(api, home).load().changes] == ["c"]


def test_an_entry_that_people_broke_is_set_aside_and_kept_and_one_they_added_is_read(
    api: KubernetesApi, admin: KubeApi, home: str
) -> None:
    store = loaded(api, home)
    store.save(Ledger((change("a"),)))
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trimtab-ledger", "namespace": home}}
    admin.patch({**named, "data": {"broken": "{not json"}})
    assert [one.id for one in store.load().changes] == ["a"]
    assert list(store.unreadable) == ["broken"]
    store.save(Ledger((change("a"), change("b"))))
    assert admin.get("v1", "ConfigMap", "trimtab-ledger", home)["data"]["broken"] == "{not json"
    admin.patch({**named, "data": {"broken": None}})
    store.load()
    assert store.unreadable == {}


def test_who_edits_an_entry_owns_it_and_is_named(api: KubernetesApi, admin: KubeApi, home: str) -> None:
    store = loaded(api, home)
    store.save(Ledger((change("a"),)))
    text = json.dumps({**json.loads(admin.get("v1", "ConfigMap", "trimtab-ledger", home)["data"]["a"]), "amount": 1})
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trimtab-ledger", "namespace": home}}
    admin.patch({**named, "data": {"a": text}}, manager="kubectl-edit")
    assert store.load().changes[0].amount == 1
    with pytest.raises(LedgerLost, match="kubectl-edit"):
        store.save(Ledger((change("a"),)))


# The lease


def lease(api: KubernetesApi, home: str, identity: str, clock: list[float]) -> Lease:
    return Lease(api, home, identity, lambda: clock[0], time.time, duration_seconds=30)


def test_of_many_that_come_at_once_one_gets_the_lease(api: KubernetesApi, home: str) -> None:
    clock, barrier = [0.0], threading.Barrier(8)
    leases = [lease(api, home, f"holder-{number}", clock) for number in range(8)]
    taken: list[str] = []

    def take(one: Lease) -> None:
        barrier.wait()
        if one.acquire():
            taken.append(one.identity)

    threads = [threading.Thread(target=take, args=(one,)) for one in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = [one.identity for one in leases if one.acquire()]
    assert len(taken) <= 1
    assert len(held) == 1
    assert taken in ([], held)


def test_the_lease_goes_to_the_next_after_silence_and_at_once_when_let_go(api: KubernetesApi, home: str) -> None:
    clock = [100.0]
    first, second = lease(api, home, "first", clock), lease(api, home, "second", clock)
    assert first.acquire()
    assert not second.acquire()
    clock[0] += 29.0
    assert not second.acquire()
    clock[0] += 1.0
    assert second.acquire()
    assert not first.acquire()
    second.release()
    assert first.acquire()
    spec = api.get(f"/apis/coordination.k8s.io/v1/namespaces/{home}/leases/trimtab-controller")["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("first", 30, 3)


# Status, people's word, people's baseline


def test_the_status_is_written_when_it_changes_and_not_more_often(api: KubernetesApi, home: str) -> None:
    clock = [0.0]
    store = StatusStore(api, home, lambda: clock[0])
    assert read_status(api, home) is None

    def written(sentence: str, seconds: float) -> str:
        clock[0] += seconds
        store.write({"at": str(clock[0]), "sentence": sentence})
        found = read_status(api, home)
        assert found is not None
        return f"{found['at']} {found['sentence']}"

    assert written("well", 0.0) == "0.0 well"
    assert written("ill", 1.0) == "0.0 well"
    assert written("ill", 5.0) == "6.0 ill"
    assert written("ill", 30.0) == "6.0 ill"
    assert written("ill", 31.0) == "67.0 ill"


def test_a_status_that_people_broke_is_told_and_written_anew(api: KubernetesApi, admin: KubeApi, home: str) -> None:
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trimtab-status", "namespace": home}}
    admin.apply({**named, "data": {"status.json": "<html>"}}, "trimtab")
    with pytest.raises(Malformed, match="no status"):
        read_status(api, home)
    StatusStore(api, home, lambda: 0.0).write({"sentence": "well"})
    assert read_status(api, home) == {"sentence": "well"}


def test_people_s_word_is_read_by_a_controller_that_may_not_write_it(
    api: KubernetesApi, control_plane: Testbed, home: str
) -> None:
    assert read_control(api, home) == Control()
    person = connect(control_plane.kubernetes.kubeconfig)
    write_control(person, home, Control("until noon"))
    assert read_control(api, home) == Control("until noon")
    with pytest.raises(Forbidden):
        write_control(api, home, Control())
    write_control(person, home, Control())
    assert read_control(api, home) == Control()


def test_the_baseline_of_the_cluster_is_read_and_a_broken_one_names_its_place(
    api: KubernetesApi, admin: KubeApi, home: str
) -> None:
    source = BaselineSource(api, home)
    assert source.read() == Baseline()
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trimtab-baseline", "namespace": home}}
    admin.apply({**named, "data": {"baseline.yaml": baseline_text(AGREED)}}, "git")
    assert source.read() == AGREED
    admin.apply({**named, "data": {"baseline.yaml": "kind: Cohort\nmetadata: {name: other}"}}, "git")
    with pytest.raises(InputError, match=rf"ConfigMap {home}/trimtab-baseline: document 1: metadata.name"):
        source.read()


# Going back


def test_changes_are_marked_as_going_back_and_the_objects_left_to_the_next_tick(
    api: KubernetesApi, admin: KubeApi, home: str, leaves: Baseline
) -> None:
    store = loaded(api, home)
    store.save(Ledger((change("a"), change("b", tenant="rt-b"))))
    done = sent_back(LedgerStore(api, home), lambda one: one.tenant == "rt-a", Because("incident", 9.0), hard=False)
    assert done.returning == ("a",)
    stages = {one.id: (one.stage, one.return_reason, one.hard) for one in LedgerStore(api, home).load().changes}
    assert stages == {
        "a": (ChangeStage.RETURNING, "incident", False),
        "b": (ChangeStage.INTENDED, "", False),
    }
    assert nominal(admin, "trimtab-rt-a") == 4


def test_everything_goes_back_lowered_first_and_all_changes_are_ended(
    api: KubernetesApi, admin: KubeApi, control_plane: Testbed, home: str, leaves: Baseline
) -> None:
    admin.apply(with_gpus(leaves.leaves[0], 12), "trimtab")
    admin.apply(with_gpus(leaves.leaves[1], 0), "trimtab")
    loaded(api, home).save(Ledger((change("a"), change("b"))))
    before = len(list(control_plane.kubernetes.writes()))
    done = everything_back(
        look_once(api, 9.0), leaves, LedgerStore(api, home), ServerSideApply(api), Because("incident", 9.0)
    )
    assert done.written == ("trimtab-rt-a", "trimtab-rt-b")
    assert (set(done.ended), done.problems) == ({"a", "b"}, ())
    assert (nominal(admin, "trimtab-rt-a"), nominal(admin, "trimtab-rt-b")) == (4, 8)
    assert LedgerStore(api, home).load().active == ()
    events = list(control_plane.kubernetes.writes())[before:]
    ours = [one["objectRef"]["name"] for one in events if one["user"]["username"].endswith(":rt-controller")]
    assert ours == ["trimtab-rt-a", "trimtab-rt-b", "trimtab-ledger"]


def test_what_can_not_go_back_is_told_and_no_change_is_called_ended(
    api: KubernetesApi, admin: KubeApi, home: str, leaves: Baseline
) -> None:
    admin.apply(with_gpus(leaves.leaves[0], 5), "argocd", force=True)
    admin.apply(with_gpus(leaves.leaves[1], 1), "trimtab")
    loaded(api, home).save(Ledger((change("a"),)))
    done = everything_back(
        look_once(api, 9.0), leaves, LedgerStore(api, home), ServerSideApply(api), Because("incident", 9.0)
    )
    assert (done.written, done.ended) == (("trimtab-rt-b",), ())
    assert "argocd" in done.problems[0]
    assert [one.id for one in LedgerStore(api, home).load().active] == ["a"]


# The tick


@contextmanager
def watched(api: KubernetesApi) -> Iterator[ClusterWatch]:
    watch = ClusterWatch(api, WatchSettings(watch_seconds=3, longest_pause_seconds=1.0))
    watch.start()
    assert watch.wait_ready(180.0)
    try:
        yield watch
    finally:
        watch.stop()


def test_while_the_api_server_is_away_each_tick_holds_and_says_so_and_then_goes_on(
    api: KubernetesApi, control_plane: Testbed, settings: Settings, leaves: Baseline
) -> None:
    with watched(api) as watch:
        controller = controller_for(settings, api, watch, lambda site, now: Evidence(), AlwaysOurs())
        assert controller.tick().sentence == "All objectives hold; nothing to do."
        with control_plane.api_server_away():
            report = controller.tick()
            assert report.outcome is None
            assert report.sentence.startswith("Held: GET ")
            assert "refused" in report.sentence
            assert "tried 4 times" in report.sentence
        wait_until(lambda: controller.tick().sentence == "All objectives hold; nothing to do.", "sight again")
        assert controller.ledger.latched == ""


def test_without_prometheus_a_tick_is_blind_and_says_which(
    api: KubernetesApi, settings: Settings, leaves: Baseline
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    away = evidence_source(replace(settings, prometheus_url=url))
    nobody = evidence_source(settings)
    with watched(api) as watch:
        report = controller_for(settings, api, watch, away, AlwaysOurs()).tick()
        assert report.sentence.startswith(f"Blind, so nothing new is decided: Prometheus at {url} can not be asked")
        report = controller_for(settings, api, watch, nobody, AlwaysOurs()).tick()
        assert report.sentence == "Blind, so nothing new is decided: no Prometheus is configured."

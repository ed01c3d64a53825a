"""One kind followed step by step against a fake connection and a clock that goes only when told."""

from __future__ import annotations

import threading

import pytest

from collector.sources.errors import CredentialsProblem, Forbidden, Gone, Malformed, NotFound, Throttled, Unreachable
from collector.sources.kubernetes_kinds import KINDS, Kind, KindState, picture_of
from collector.sources.kubernetes_port import Decode, Query, WatchEvent
from collector.sources.kubernetes_watch import ClusterWatch, KindFollower, WatchSettings
from tests.unit.collector.sources.fake_cluster import FakeClock, FakeReader, pod

PODS = next(kind for kind in KINDS if kind.name == "pods")
COHORTS = next(kind for kind in KINDS if kind.name == "cohorts")
PODS_PATH = "/api/v1/pods"
RUNNING = threading.Event()
"""Never set: the follower is not told to stop."""


@pytest.fixture
def reader() -> FakeReader:
    reader = FakeReader()
    reader.lists[PODS_PATH] = [pod("u1"), pod("u2")]
    return reader


def following(reader: FakeReader, kind: Kind = PODS, relist_seconds: float = 600.0) -> KindFollower:
    return KindFollower(reader, kind, WatchSettings(relist_seconds=relist_seconds), reader.clock)


def uids(follower: KindFollower) -> set[str]:
    return set(follower.store.state().objects)


def unreachable() -> Unreachable:
    return Unreachable("GET", PODS_PATH, "connection refused")


def test_a_list_then_a_watch_from_where_the_list_ended(reader: FakeReader) -> None:
    reader.watches.append([WatchEvent("ADDED", pod("u3", version="105")), WatchEvent("DELETED", pod("u1")), 30.0])
    follower = following(reader)
    assert follower.step(RUNNING) == 0.0
    assert uids(follower) == {"u2", "u3"}
    assert reader.asked == [f"list {PODS_PATH}", f"watch {PODS_PATH} from 100"]


def test_the_next_watch_goes_on_from_the_last_event_or_bookmark(reader: FakeReader) -> None:
    bookmark = WatchEvent("BOOKMARK", {"metadata": {"resourceVersion": "120"}})
    reader.watches.extend([[WatchEvent("MODIFIED", pod("u1", version="110")), bookmark, 30.0], [30.0]])
    follower = following(reader)
    follower.step(RUNNING)
    follower.step(RUNNING)
    assert reader.asked[-1] == f"watch {PODS_PATH} from 120"


def test_a_pod_that_stops_asking_for_gpus_leaves(reader: FakeReader) -> None:
    reader.watches.append([WatchEvent("MODIFIED", pod("u1", gpus=0)), 30.0])
    follower = following(reader)
    follower.step(RUNNING)
    assert uids(follower) == {"u2"}


def test_the_list_made_now_and_then_is_the_truth(reader: FakeReader) -> None:
    follower = following(reader, relist_seconds=60.0)
    follower.step(RUNNING)
    reader.lists[PODS_PATH] = [pod("u2")]  # the watch has lost the deletion of u1
    follower.step(RUNNING)
    assert uids(follower) == {"u1", "u2"}
    follower.step(RUNNING)
    assert uids(follower) == {"u2"}


def test_a_version_that_is_gone_costs_a_list_and_is_no_problem(reader: FakeReader) -> None:
    reader.watches.extend([[Gone("WATCH", PODS_PATH, "too old", status=410)], [30.0]])
    follower = following(reader)
    pause = follower.step(RUNNING)
    assert 0 < pause <= 1
    assert follower.store.state().problem is None
    follower.step(RUNNING)
    assert reader.asked.count(f"list {PODS_PATH}") == 2


def test_when_the_server_is_away_the_objects_stay_and_grow_old(reader: FakeReader) -> None:
    reader.watches.extend([[30.0], unreachable()])
    follower = following(reader)
    follower.step(RUNNING)
    confirmed_at = reader.clock.now
    reader.clock.now += 50
    follower.step(RUNNING)
    state = follower.store.state()
    assert uids(follower) == {"u1", "u2"}
    assert state.confirmed_at == confirmed_at
    assert state.problem == f"GET {PODS_PATH}: connection refused"


def test_when_the_server_is_back_the_watch_goes_on_without_a_list(reader: FakeReader) -> None:
    reader.watches.extend([[30.0], unreachable(), [30.0]])
    follower = following(reader)
    for _ in range(3):
        follower.step(RUNNING)
    assert follower.store.state().problem is None
    assert reader.asked.count(f"list {PODS_PATH}") == 1


def test_pauses_grow_up_to_a_limit(reader: FakeReader) -> None:
    reader.lists[PODS_PATH] = unreachable()
    follower = following(reader)
    pauses = [follower.step(RUNNING) for _ in range(12)]
    assert pauses[0] <= 0.625
    assert 7.5 <= pauses[-1] <= 12.5


def test_a_watch_that_breaks_at_once_again_and_again_backs_off_and_lists_anew(reader: FakeReader) -> None:
    reader.watches.append([Malformed("WATCH", PODS_PATH, "no watch event")])
    follower = following(reader)
    pauses = [follower.step(RUNNING) for _ in range(4)]
    assert pauses[3] > pauses[0]
    assert reader.asked.count(f"list {PODS_PATH}") == 2


def test_a_server_that_ends_each_watch_at_once_is_not_asked_in_a_circle(reader: FakeReader) -> None:
    reader.watches.append([])
    assert following(reader).step(RUNNING) == 1.0


def test_a_throttled_follower_waits_as_long_as_it_was_told(reader: FakeReader) -> None:
    busy = Throttled("GET", PODS_PATH, "too many requests", status=429)
    busy.retry_after_seconds = 7.0
    reader.watches.append(busy)
    assert following(reader).step(RUNNING) == 7.0


def test_a_kind_that_may_not_be_read_is_named_with_the_reason(reader: FakeReader) -> None:
    reader.lists[PODS_PATH] = Forbidden("GET", PODS_PATH, "pods is forbidden", status=403, reason="Forbidden")
    follower = following(reader)
    follower.step(RUNNING)
    assert follower.store.state().problem == f"GET {PODS_PATH}: 403 Forbidden: pods is forbidden"


def test_lost_credentials_are_a_problem_and_no_crash(reader: FakeReader) -> None:
    class Anonymous(FakeReader):
        def get(self, path: str, query: object = None) -> dict[str, object]:
            raise CredentialsProblem("kubeconfig", "no such file")

    follower = following(Anonymous(), COHORTS)
    assert follower.step(RUNNING) > 0
    assert follower.store.state().problem == "kubeconfig: no such file"


def test_a_cluster_without_kueue_does_not_serve_its_kinds(reader: FakeReader) -> None:
    follower = following(reader, COHORTS)
    assert follower.step(RUNNING) == WatchSettings().unserved_seconds
    state = follower.store.state()
    assert (state.served, state.problem) == (False, None)


def test_pods_that_are_not_found_are_a_problem_and_never_none(reader: FakeReader) -> None:
    del reader.lists[PODS_PATH]
    follower = following(reader)
    follower.step(RUNNING)
    state = follower.store.state()
    assert (state.served, state.problem) == (True, f"GET {PODS_PATH}: 404: not here")


@pytest.mark.parametrize(("served", "read"), [(["v1beta1"], "v1beta1"), (["v1beta1", "v1beta2"], "v1beta2")])
def test_the_best_served_version_of_kueue_is_read(reader: FakeReader, served: list[str], read: str) -> None:
    reader.objects["/apis/kueue.x-k8s.io"] = {"versions": [{"version": version} for version in served]}
    reader.lists[f"/apis/kueue.x-k8s.io/{read}/cohorts"] = []
    follower = following(reader, COHORTS)
    follower.step(RUNNING)
    assert follower.store.state().confirmed_at is not None


def test_a_kueue_that_is_too_new_is_a_problem_and_not_an_absence(reader: FakeReader) -> None:
    reader.objects["/apis/kueue.x-k8s.io"] = {"versions": [{"version": "v7"}]}
    follower = following(reader, COHORTS)
    follower.step(RUNNING)
    assert "serves ['v7'], expected one of ['v1beta2', 'v1beta1']" in str(follower.store.state().problem)


def test_a_kind_that_vanishes_is_believed_only_the_third_time(reader: FakeReader) -> None:
    path = COHORTS.path("v1beta2")
    reader.objects["/apis/kueue.x-k8s.io"] = {"versions": [{"version": "v1beta2"}]}
    reader.lists[path] = []
    reader.watches.extend([[30.0], NotFound("GET", path, "not here", status=404)])
    follower = following(reader, COHORTS)
    served = []
    for _ in range(4):
        follower.step(RUNNING)
        served.append(follower.store.state().served)
    assert served == [True, True, True, False]


def test_a_malformed_object_costs_itself_and_is_counted(reader: FakeReader) -> None:
    reader.watches.append(
        [WatchEvent("ADDED", pod("u3", gpus="many")), WatchEvent("MODIFIED", pod("u1", gpus=-1)), 30.0]
    )
    follower = following(reader)
    follower.step(RUNNING)
    state = follower.store.state()
    assert set(state.objects) == {"u2"}
    assert state.problem is None
    assert sorted(state.malformed) == ["u1", "u3"]
    assert state.malformed["u3"].startswith("a/pod-u3: spec")


def test_a_malformed_object_that_is_mended_or_deleted_is_no_longer_counted(reader: FakeReader) -> None:
    reader.lists[PODS_PATH] = [pod("u1", gpus="many"), pod("u2", gpus="many")]
    reader.watches.append([WatchEvent("MODIFIED", pod("u1")), WatchEvent("DELETED", pod("u2", gpus="many")), 30.0])
    follower = following(reader)
    follower.step(RUNNING)
    assert follower.store.state().malformed == {}
    assert uids(follower) == {"u1"}


def test_a_view_once_taken_does_not_change(reader: FakeReader) -> None:
    follower = following(reader)
    follower.step(RUNNING)
    before = follower.store.state()
    follower.store.take(PODS, WatchEvent("DELETED", pod("u1")), reader.clock.now)
    assert set(before.objects) == {"u1", "u2"}
    assert uids(follower) == {"u2"}


def test_a_view_is_copied_only_when_something_has_changed(reader: FakeReader) -> None:
    follower = following(reader)
    follower.step(RUNNING)
    before = follower.store.state()
    follower.store.take(PODS, WatchEvent("ADDED", pod("u9", gpus=0)), reader.clock.now)
    assert follower.store.state().objects is before.objects


def test_a_stop_while_a_watch_is_opened_ends_it(reader: FakeReader) -> None:
    told_to_stop = threading.Event()
    told_to_stop.set()
    reader.watches.append([unreachable()])
    follower = following(reader)
    assert follower.step(told_to_stop) == 0.0
    assert follower.store.state().problem is None


def test_the_age_of_a_picture_is_that_of_its_oldest_kind() -> None:
    states = {kind.name: KindState(confirmed_at=990.0) for kind in KINDS}
    states["pods"] = KindState(confirmed_at=940.0, problem="away")
    states["jobs"] = KindState(problem="may not")
    states["cohorts"] = KindState(served=False)
    picture = picture_of(states, now=1000.0, since=0.0)
    assert picture.age_seconds == 60.0
    assert picture.unreadable == {"pods": "away", "jobs": "may not"}
    assert picture.unserved == {"cohorts"}


def test_a_picture_of_nothing_is_as_old_as_the_watch() -> None:
    watch = ClusterWatch(FakeReader(), clock=FakeClock(1000.0))
    assert watch.picture(1025.0).age_seconds == 25.0


def test_a_mistake_of_ours_is_told_and_the_kind_is_read_again(
    reader: FakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = following(reader)
    told: list[str | None] = []

    class Pauses(threading.Event):
        """A stop that comes with the second pause; no pause takes time."""

        def wait(self, timeout: float | None = None) -> bool:
            told.append(follower.store.state().problem)
            if len(told) == 2:
                self.set()
            return self.is_set()

    broken = iter([RuntimeError("can't start new thread")])
    read = reader.list_pages

    def fails_once(path: str, limit: int = 500, query: Query | None = None, decode: Decode | None = None) -> object:
        for error in broken:
            raise error
        return read(path, limit, query, decode)

    monkeypatch.setattr(reader, "list_pages", fails_once)
    follower.run(Pauses())
    assert told == ["failed unexpectedly: RuntimeError: can't start new thread", None]
    assert uids(follower) == {"u1", "u2"}

"""The lease: one holder at a time, whatever clocks and servers do."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.sources.errors import CredentialsProblem, Unreachable
from controller.runtime.lease import FenceError, Lease
from tests.unit.controller.runtime.stage import HOME, Stage

PATH = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases/trimtab-controller"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def away(method: str, path: str) -> None:
    raise Unreachable(method, path, "connection refused")


def takes(lease: Lease) -> bool:
    taken = lease.acquire()
    assert taken == lease.held()
    return taken


def test_the_first_takes_it_and_the_second_waits_and_says_for_whom(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")
    assert takes(first)
    assert not takes(second)
    assert second.obstacle == "held by first"
    with pytest.raises(FenceError, match="held by first"):
        second.check()


def test_two_that_create_it_in_the_same_moment_do_not_both_hold_it(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")

    def second_comes_in_between(method: str, path: str) -> None:
        if method == "PATCH":
            stage.api.before = lambda method, path: None
            assert second.acquire()

    stage.api.before = second_comes_in_between
    assert not takes(first)
    assert takes(second)


def test_a_write_at_the_same_moment_is_lost_to_the_other(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")
    stage.api.request("PATCH", PATH, {"metadata": {}, "spec": {}})

    def second_comes_in_between(method: str, path: str) -> None:
        if method == "PUT":
            stage.api.before = lambda method, path: None
            assert second.acquire()

    stage.api.before = second_comes_in_between
    assert not takes(first)
    assert "same moment" in first.obstacle


def test_a_silent_holder_is_followed_after_its_time_and_not_before(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")
    first.acquire()
    second.acquire()
    stage.passes(29.0)
    assert not takes(second)
    stage.passes(1.0)
    assert takes(second)
    assert not takes(first)
    assert stage.api.objects[PATH]["spec"]["leaseTransitions"] == 2


def test_a_holder_that_renews_is_never_followed(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")
    for _ in range(10):
        assert takes(first)
        assert not takes(second)
        stage.passes(15.0)


def test_a_lease_that_was_let_go_is_free_at_once(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")
    first.acquire()
    first.release()
    assert not first.held()
    assert takes(second)
    first.release()
    assert takes(second)


def test_it_counts_as_lost_before_anybody_else_may_take_it(stage: Stage) -> None:
    lease = stage.lease()
    lease.acquire()
    stage.passes(19.0)
    assert lease.held()
    stage.passes(2.0)
    assert not lease.held()


def test_a_wall_clock_that_is_set_back_prolongs_nothing(stage: Stage) -> None:
    lease = stage.lease()
    lease.acquire()
    stage.world.passes(-3600.0)
    assert lease.held()
    stage.ticked += 21.0
    assert not lease.held()


def test_after_a_sleep_that_no_monotonic_clock_counted_it_is_asked_for_again(stage: Stage) -> None:
    sleeper, other = stage.lease("sleeper"), stage.lease("other")
    sleeper.acquire()
    stage.world.passes(3600.0)
    assert not sleeper.held()
    other.acquire()
    stage.ticked += 30.0
    assert takes(other)
    with pytest.raises(FenceError, match="held by other"):
        sleeper.check()


def test_a_wall_clock_that_is_set_forward_takes_it_from_nobody(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")
    first.acquire()
    second.acquire()
    stage.world.passes(3600.0)
    assert not takes(second)
    first.check()
    assert first.held()


def test_a_long_tick_renews_it_before_it_writes(stage: Stage) -> None:
    lease = stage.lease()
    lease.acquire()
    stage.passes(25.0)
    lease.check()
    assert lease.held()


def test_what_was_let_go_of_in_between_is_lost_even_when_it_is_free_again(stage: Stage) -> None:
    lease, other = stage.lease(), stage.lease("other")
    lease.acquire()
    other.acquire()
    stage.passes(30.0)
    assert other.acquire()
    other.release()
    with pytest.raises(FenceError, match="let go of"):
        lease.check()
    assert takes(lease)


def test_while_the_server_is_away_it_is_held_for_its_time_and_the_obstacle_is_said(stage: Stage) -> None:
    lease = stage.lease()
    lease.acquire()
    stage.api.before = away
    stage.passes(10.0)
    assert lease.acquire()
    stage.passes(11.0)
    assert not takes(lease)
    assert "connection refused" in lease.obstacle
    with pytest.raises(Unreachable):  # nobody knows whether it is lost: the tick holds, the process stays
        lease.check()
    lease.release()
    stage.api.before = lambda method, path: None
    assert takes(lease)


def test_an_identity_that_can_not_be_read_ends_nothing(stage: Stage) -> None:
    lease = stage.lease()

    def nobody(method: str, path: str) -> None:
        raise CredentialsProblem("token", "no such file")

    stage.api.before = nobody
    assert not takes(lease)
    assert "no such file" in lease.obstacle
    stage.api.before = lambda method, path: None
    lease.acquire()
    stage.api.before = nobody
    lease.release()


def test_a_release_asks_once_and_leaves_the_lease_of_another_alone(stage: Stage) -> None:
    first, second = stage.lease("first"), stage.lease("second")
    first.acquire()
    second.acquire()
    stage.passes(30.0)
    second.acquire()
    stage.api.asked.clear()
    first.release()
    assert stage.api.writes == []
    assert stage.api.objects[PATH]["spec"]["holderIdentity"] == "second"


def test_a_lease_that_people_emptied_is_free_and_an_answer_that_is_none_is_no_lease(stage: Stage) -> None:
    lease = stage.lease()
    stage.api.objects[PATH] = {"metadata": {"resourceVersion": "1"}, "spec": None}
    assert takes(lease)
    stage.api.objects[PATH] = {}
    stage.passes(25.0)
    assert not takes(lease)
    assert "without version" in lease.obstacle

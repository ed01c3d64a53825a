"""Without coscheduling a gang in parts holds GPUs and does nothing; two of them may wait for each other for ever."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from controller.simulate.native import NativeBatch, NativeSetting, WorkClass
from controller.simulate.native_pods import PodByPod, pod_sizes
from tests.traces import Row, table


def setting(
    capacity: int, caps: float = 0, quotas: float = inf, classes: list[WorkClass] | None = None
) -> NativeSetting:
    return NativeSetting([quotas] * 3, [caps] * 3, capacity, classes, 8)


def test_a_gang_in_parts_holds_its_gpus_until_the_rest_finds_a_place() -> None:
    rows = [Row(0, 100, 8, "a"), Row(1, 10, 16, "b"), Row(2, 10, 8, "c")]
    batch = PodByPod(table(rows), setting(16), 8)
    batch.advance(50)
    assert batch.held_in_parts() == 8
    batch.advance()
    assert batch.gangs.first_start_seconds == [0, 100, 110], "c waits for a GPU that does nothing"
    whole = NativeBatch(table(rows), setting(16))
    whole.advance()
    assert whole.fates.first_start_seconds == [0, 100, 2]


def test_two_gangs_in_parts_wait_for_each_other_for_ever() -> None:
    rows = [Row(0, 10, 8, "c"), Row(1, 10, 16, "a"), Row(2, 10, 24, "b")]
    quotas = NativeSetting([8, 24, 8], [0, 0, 0], 16, None, 8)
    batch = PodByPod(table(rows), quotas, 8)
    batch.advance(1e6)
    assert batch.gangs.first_start_seconds == [0, -1, -1]
    assert batch.held_in_parts() == 16


def test_who_loses_one_pod_keeps_the_others_and_loses_its_work() -> None:
    rows = [Row(0, 100, 16, "a"), Row(40, 20, 8, "b")]
    classes = [WorkClass.BORROW, WorkClass.NORMAL]
    batch = PodByPod(table(rows), setting(16, caps=inf, classes=classes), 8)
    batch.advance(50)
    assert batch.held_in_parts() == 8
    batch.advance()
    gangs = batch.gangs
    assert (gangs.evictions, gangs.lost_gpu_seconds) == ([1, 0], [640, 0])
    assert gangs.end_seconds == [60 + 100 + 30, 60]
    assert gangs.wait_seconds == [20, 0]


def test_a_gang_has_as_few_pods_as_it_needs() -> None:
    assert [list(pod_sizes(gpus, 8)) for gpus in (3, 8, 20)] == [[3], [8], [8, 8, 4]]


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 200), st.integers(1, 8), st.sampled_from("ab")), max_size=15)
)
def test_gangs_of_one_pod_fare_as_with_coscheduling(drawn: list[tuple[int, int, int, str]]) -> None:
    rows = [Row(*one) for one in sorted(drawn)]
    both = NativeSetting([8, 8, 0], [8, 0, 0], 16, None, 8)
    whole, parts = NativeBatch(table(rows), both), PodByPod(table(rows), both, 8)
    whole.advance()
    parts.advance()
    assert parts.gangs.end_seconds == whole.fates.end_seconds
    assert parts.gangs.wait_seconds == whole.fates.wait_seconds
    assert parts.gangs.lost_gpu_seconds == whole.fates.lost_gpu_seconds

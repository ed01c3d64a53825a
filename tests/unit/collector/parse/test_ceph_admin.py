"""Answers of OSDs to an administrator: who is waited for, told from who waits."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from collector.parse.ceph_admin import (
    awaited,
    hanging_operations,
    raised_flags,
    stops_clients,
    write_limit,
)


def operation(*waits_for: int, answered: int = 0, age: float = 8.0) -> dict[str, Any]:
    names = ["initiated", "started", f"waiting for subops from {','.join(map(str, waits_for))}"]
    names += ["op_commit", *["sub_op_commit_rec"] * answered]
    return {"age": age, "type_data": {"events": [{"event": name} for name in names]}}


def in_flight(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"ops": list(operations), "num_ops": len(operations)}


def test_a_frozen_replica_stands_in_every_operation_that_hangs_whoever_is_primary() -> None:
    at_0 = in_flight(*(operation(1, 2, answered=1) for _ in range(3)))
    at_1 = in_flight(*(operation(0, 2, answered=1) for _ in range(5)))
    assert awaited([*hanging_operations(at_0), *hanging_operations(at_1)]) == {"osd.2": 8.0}


def test_of_one_primary_alone_nobody_is_accused_when_either_may_be_at_fault() -> None:
    assert awaited(hanging_operations(in_flight(operation(1, 2, answered=1)))) == {}
    assert awaited(hanging_operations(in_flight(operation(1)))) == {"osd.1": 1.0}


def test_what_has_just_begun_or_has_all_answers_hangs_for_nobody() -> None:
    fresh, done = operation(1, age=0.3), operation(1, 2, answered=2)
    assert hanging_operations(in_flight(fresh, done)) == ()


def test_a_later_release_names_who_answered() -> None:
    one = operation(1, 2)
    one["type_data"]["events"].append({"event": "sub_op_commit_rec from 1"})
    (found,) = hanging_operations(in_flight(one))
    assert found.unanswered == 1


def test_flags_that_stop_clients() -> None:
    assert stops_clients(raised_flags({"flags_set": ["pauserd", "pausewr", "sortbitwise"]}))
    assert not stops_clients(raised_flags({"flags_set": ["noscrub"]}))
    assert raised_flags(None) == frozenset()


def test_the_lower_limit_counts_and_0_is_none() -> None:
    options = [("rbd_qos_iops_limit", "500"), ("rbd_qos_write_iops_limit", "100"), ("rbd_qos_bps_limit", "7")]
    assert write_limit({"name": name, "value": value} for name, value in options) == 100.0
    assert write_limit([{"name": "rbd_qos_iops_limit", "value": "0"}]) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["ops", "age", "type_data", "events", "event", "flags_set"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_is_answered_it_is_read(answer: object) -> None:
    awaited(hanging_operations(answer))
    raised_flags(answer)

"""Work that declares a deadline: which prepared class it stands in, and when that may change."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from collector.model.deadline import Deadline, DeadlineClass
from collector.model.snapshot import Evidence, Snapshot, Work, WorkPhase
from collector.model.tenancy import Site, SizeClass
from controller.api.policy import Mode, Policy, Targets
from controller.policy.engine import decide
from controller.policy.ledger import Ledger
from controller.policy.strategies.deadlines import next_change_at

HOUR = 3600.0
NOW = 1_000_000.0
CLASSES = (
    DeadlineClass("soon", 3, 1 * HOUR),
    DeadlineClass("later", 2, 8 * HOUR),
    DeadlineClass("too-late", -1, None),
)


def work(name: str, due_in: float, *, run: float = 0.0, **more: Any) -> Work:
    made = Work(
        name, name, "Job", "ns", name, "vision", "", "h100", "queue", 0, 1, 8, 8, SizeClass.SINGLE_NODE,
        WorkPhase.WAITING, NOW - 60.0, 60.0, deadline=Deadline(NOW + due_in, run),
    )  # fmt: skip
    return replace(made, **more)


def chosen(*works: Work, policy: Policy | None = None, blind: tuple[str, ...] = ()) -> dict[str, str]:
    evidence = Evidence(blind=blind)
    snapshot = Snapshot(NOW, Site("here", (), (), ()), {}, (), works, evidence, deadline_classes=CLASSES)
    outcome = decide(snapshot, policy or Policy(), Mode.OBSERVE, Ledger(), ())
    return {choice.name: choice.after for choice in outcome.classes}


def test_the_most_urgent_class_that_covers_what_is_left() -> None:
    assert chosen(work("a", 0.5 * HOUR), work("b", HOUR), work("c", 8 * HOUR), work("d", 9 * HOUR)) == {
        "a": "soon",
        "b": "soon",
        "c": "later",
    }


def test_what_can_no_longer_end_in_time_goes_last() -> None:
    assert chosen(work("a", HOUR, run=HOUR), work("b", HOUR, run=HOUR + 1), work("c", -1.0)) == {
        "a": "soon",
        "b": "too-late",
        "c": "too-late",
    }


def test_the_earliest_deadline_is_told_first_and_says_why() -> None:
    works = (work("b", 2 * HOUR, priority_class="soon"), work("a", HOUR / 2, run=HOUR))
    snapshot = Snapshot(NOW, Site("here", (), (), ()), {}, (), works, deadline_classes=CLASSES)
    told = [one.sentence for one in decide(snapshot, Policy(), Mode.OBSERVE, Ledger(), ()).classes]
    assert told == [
        "ns/a is due in 30m and can no longer end in time: class too-late instead of none.",
        "ns/b is due in 2h: class later instead of soon.",
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"priority_class": "soon"},
        {"priority_class": "their-own"},
        {"phase": WorkPhase.RUNNING},
        {"queue": ""},
        {"deadline": None},
        {"pool": None},
    ],
)
def test_nobody_else_is_touched(other: dict[str, Any]) -> None:
    assert chosen(work("a", HOUR, **other)) == {}


def test_a_policy_without_the_strategy_a_pause_blindness_and_other_targets_set_nothing() -> None:
    assert chosen(work("a", HOUR), policy=Policy(strategies=("guard",))) == {}
    assert chosen(work("a", HOUR), policy=Policy(paused=True)) == {}
    assert chosen(work("a", HOUR), policy=Policy(targets=Targets(tenants=("ads",)))) == {}
    assert chosen(work("a", HOUR), blind=("no Prometheus",)) == {}


def test_it_is_known_when_the_class_may_change_next() -> None:
    due = Deadline(NOW + 9 * HOUR, 2 * HOUR)
    assert next_change_at(due, CLASSES, NOW) == NOW + HOUR
    assert next_change_at(due, CLASSES, NOW + HOUR) == pytest.approx(NOW + 7 * HOUR)
    assert next_change_at(due, CLASSES, NOW + 7 * HOUR) > NOW + 7 * HOUR
    assert next_change_at(due, CLASSES, NOW + 7 * HOUR + 1) == inf


def test_the_same_picture_gives_the_same_classes_until_it_says_so() -> None:
    seen = Snapshot(NOW, Site("here", (), (), ()), {}, (), (work("a", 9 * HOUR),), deadline_classes=CLASSES)
    first = decide(seen, Policy(), Mode.OBSERVE, Ledger(), ())
    assert decide(seen, Policy(), Mode.OBSERVE, first.ledger, ()).wake_at == NOW + HOUR
    later = replace(seen, taken_at=NOW + HOUR)
    assert [one.after for one in decide(later, Policy(), Mode.OBSERVE, Ledger(), ()).classes] == ["later"]

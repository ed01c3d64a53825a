"""Strategy `deadlines`: waiting work that declares a deadline stands in the class that was prepared for it. Pure.

Earliest deadline first as far as the prepared classes tell moments apart, and last what can no longer end in time: it
would only make others late. It never evicts and moves no quota; what was admitted keeps its place. Of each piece of
work only its own words count, so many may be asked one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, nextafter

from collector.model.deadline import Deadline, DeadlineClass
from collector.model.quantities import format_duration
from collector.model.snapshot import Snapshot, Work, WorkPhase
from controller.api.policy import Targets
from controller.policy.finding import Finding
from controller.policy.proposals import View


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """One piece of waiting work and the class that it should have; `before` "" for none."""

    key: str
    namespace: str
    name: str
    kind: str
    before: str
    after: str
    sentence: str


def deadlines(finding: Finding, view: View) -> None:
    """It answers no finding: no quota moves for a deadline."""
    del finding, view


def choices(snapshot: Snapshot, targets: Targets) -> tuple[ClassChoice, ...]:
    """All work whose class should change now, the earliest deadline first."""
    due = _due(snapshot, targets)
    due.sort(key=lambda pair: (pair[1].at, pair[0].created_at, pair[0].key))
    return tuple(_chosen(due, snapshot.deadline_classes, snapshot.taken_at))


def next_choice_at(snapshot: Snapshot, targets: Targets) -> float:
    """Until when the same picture gives the same choices."""
    classes, now = snapshot.deadline_classes, snapshot.taken_at
    return min((next_change_at(deadline, classes, now) for _, deadline in _due(snapshot, targets)), default=inf)


def _due(snapshot: Snapshot, targets: Targets) -> list[tuple[Work, Deadline]]:
    """The work whose class may be set."""
    ours = {one.name for one in snapshot.deadline_classes}
    return [
        (work, work.deadline)
        for work in (snapshot.works if ours else ())
        if work.deadline is not None and _may_change(work, targets, ours)
    ]


def class_for(deadline: Deadline, classes: Sequence[DeadlineClass], now: float) -> DeadlineClass | None:
    """The most urgent class that covers what is left; None: there is none for it."""
    if not deadline.can_be_met(now):
        return next((one for one in classes if one.within_seconds is None), None)
    return next((one for one in classes if deadline.at - now <= (one.within_seconds or 0.0)), None)


def next_change_at(deadline: Deadline, classes: Sequence[DeadlineClass], now: float) -> float:
    """When its class may be another one, if nothing else happens; infinite: never again."""
    if not deadline.can_be_met(now):
        return inf
    moments = [deadline.at - one.within_seconds for one in classes if one.within_seconds is not None]
    moments.append(nextafter(deadline.at - deadline.run_seconds, inf))
    return min((moment for moment in moments if moment > now), default=inf)


def _may_change(work: Work, targets: Targets, ours: Collection[str]) -> bool:
    """It waits in a queue of Kueue, may be steered, and nobody gave it a class of another kind."""
    queued = work.phase is WorkPhase.WAITING and bool(work.queue) and work.scheduler is None
    given = bool(work.priority_class) and work.priority_class not in ours
    return queued and work.pool is not None and targets.covers(work.tenant, work.pool) and not given


def _chosen(
    due: Iterable[tuple[Work, Deadline]], classes: Sequence[DeadlineClass], now: float
) -> Iterator[ClassChoice]:
    for work, deadline in due:
        chosen = class_for(deadline, classes, now)
        if chosen is None or chosen.name == work.priority_class:
            continue
        left = format_duration(abs(deadline.at - now))
        told = f"is due in {left}" if deadline.at > now else f"was due {left} ago"
        if not deadline.can_be_met(now):
            told += " and can no longer end in time"
        sentence = f"{work.title} {told}: class {chosen.name} instead of {work.priority_class or 'none'}."
        yield ClassChoice(work.key, work.namespace, work.name, work.kind, work.priority_class, chosen.name, sentence)

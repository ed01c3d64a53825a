"""Strategy `deadlines`: waiting work that declares a deadline stands in the class that was prepared for it. Pure.

Earliest deadline first as far as the prepared classes tell moments apart, and last what can no longer end in time: it
would only make others late. It never evicts and moves no quota; what was admitted keeps its place. Of each piece of
work only its own words count, so many may be asked one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import inf

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
    classes = snapshot.deadline_classes
    if not classes:
        return ()
    ours = {one.name for one in classes}
    due = [work for work in snapshot.works if work.deadline is not None and _may_change(work, targets, ours)]
    due.sort(key=lambda work: (work.deadline.at if work.deadline else inf, work.created_at, work.key))
    return tuple(_chosen(due, classes, snapshot.taken_at))


def class_for(deadline: Deadline, classes: Sequence[DeadlineClass], now: float) -> DeadlineClass | None:
    """The most urgent class that covers what is left; None: there is none for it."""
    if not deadline.can_be_met(now):
        return next((one for one in classes if one.within_seconds is None), None)
    return next((one for one in classes if deadline.at - now <= (one.within_seconds or 0.0)), None)


def next_change_at(deadline: Deadline, classes: Sequence[DeadlineClass], now: float) -> float:
    """When its class may be another one, if nothing else happens; infinite: never again."""
    moments = [deadline.at - one.within_seconds for one in classes if one.within_seconds is not None]
    moments.append(deadline.at - deadline.run_seconds)
    return min((moment for moment in moments if moment >= now and deadline.can_be_met(now)), default=inf)


def _may_change(work: Work, targets: Targets, ours: Collection[str]) -> bool:
    """It waits in a queue of Kueue, may be steered, and nobody gave it a class of another kind."""
    queued = work.phase is WorkPhase.WAITING and bool(work.queue) and work.scheduler is None
    given = bool(work.priority_class) and work.priority_class not in ours
    return queued and work.pool is not None and targets.covers(work.tenant, work.pool) and not given


def _chosen(due: Sequence[Work], classes: Sequence[DeadlineClass], now: float) -> Iterator[ClassChoice]:
    for work in due:
        chosen = class_for(work.deadline, classes, now) if work.deadline is not None else None
        if work.deadline is None or chosen is None or chosen.name == work.priority_class:
            continue
        left = format_duration(abs(work.deadline.at - now))
        told = f"is due in {left}" if work.deadline.at > now else f"was due {left} ago"
        if not work.deadline.can_be_met(now):
            told += " and can no longer end in time"
        sentence = f"{work.title} {told}: class {chosen.name} instead of {work.priority_class or 'none'}."
        yield ClassChoice(work.key, work.namespace, work.name, work.kind, work.priority_class, chosen.name, sentence)

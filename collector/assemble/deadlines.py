"""From what people declared in words to deadlines and the classes prepared for them. Pure.

What can not be read is no deadline and no class: `lies` says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from collector.model.deadline import (
    DEADLINE_ANNOTATION,
    DEADLINE_WITHIN_ANNOTATION,
    EXPECTED_RUN_ANNOTATION,
    MISSED,
    Deadline,
    DeadlineClass,
)
from collector.model.objects import Job, Picture, PriorityClass
from collector.model.quantities import parse_duration, parse_time
from collector.model.snapshot import Lie


def deadline_of(job: Job | None) -> Deadline | None:
    """What the job declares; None for nothing, and for what is no time."""
    if job is None or not job.deadline:
        return None
    try:
        at = parse_time(job.deadline)
        return None if at is None else Deadline(at, parse_duration(job.expected_run) if job.expected_run else 0.0)
    except ValueError:
        return None


def deadline_classes(prepared: Iterable[PriorityClass]) -> tuple[DeadlineClass, ...]:
    """Those for deadlines, the most urgent first and that for missed ones last."""
    found = [one for one in map(_class, prepared) if one is not None]
    return tuple(sorted(found, key=lambda one: (one.within_seconds is None, one.within_seconds or 0.0, one.name)))


def _class(prepared: PriorityClass) -> DeadlineClass | None:
    words = prepared.deadline_within
    if not words:
        return None
    try:
        return DeadlineClass(prepared.name, prepared.value, None if words == MISSED else parse_duration(words))
    except ValueError:
        return None


def unread_deadlines(picture: Picture) -> Iterator[Lie]:
    """Declarations of jobs that can not be read."""
    for job in picture.jobs.values():
        place = f"Job {job.namespace}/{job.name}"
        if job.deadline and deadline_of(job) is None:
            words = (job.deadline[:60], job.expected_run[:60] or "none")
            told = f"{DEADLINE_ANNOTATION} {words[0]}, {EXPECTED_RUN_ANNOTATION} {words[1]}"
            yield Lie(place, f"It declares a deadline that can not be read ({told}): a time as of RFC 3339, and 3h.")


def untidy_classes(picture: Picture) -> Iterator[Lie]:
    """Prepared classes that can not be read, or that stand in the wrong order."""
    for prepared in picture.workload_priority_classes.values():
        if prepared.deadline_within and _class(prepared) is None:
            told = f"{DEADLINE_WITHIN_ANNOTATION} {prepared.deadline_within[:60]}"
            sentence = f"Its {told} is neither a duration such as 4h nor {MISSED}: no work gets it."
            yield Lie(f"WorkloadPriorityClass {prepared.name}", sentence)
    classes = deadline_classes(picture.workload_priority_classes.values())
    for urgent, patient in pairwise(classes):
        if urgent.value <= patient.value:
            told = f"Its value {urgent.value} is not above the {patient.value} of {patient.name}"
            yield Lie(f"WorkloadPriorityClass {urgent.name}", f"{told}, which is less urgent.")

"""Jobs out of the history that the collector keeps (`trimtab accounting export`): a row per change of state.

A job is what happened to one object from its first wait to its end. Its run time is all the time that its pods were
Ready, so work that an eviction undid is in it twice: the history does not tell what was lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from collector.accounting.schema.rows import State, Transition
from controller.traces.trace import TraceJob
from controller.traces.values import seconds_of, whole_of

COLUMNS: Final = ("cluster", "uid", "step", "at", "state", "tenant", "gpus", "priority")

_STATES: Final = frozenset(state.value for state in State)
_ENDS: Final = frozenset({State.FINISHED, State.FAILED, State.GONE})
_Step: TypeAlias = tuple[int, float, State, int, int, str]
_States: TypeAlias = Sequence[_Step]
"""(step, at, state, GPUs, priority, tenant) of one object, in order."""


def jobs_of_history(rows: Iterable[Mapping[str, str]], skipped: Counter[str]) -> Iterator[TraceJob]:
    """The jobs that began and ended in the history. What gives none is counted, row by row."""
    objects: dict[tuple[str, str], list[_Step]] = {}
    for row in rows:
        change = _change(row)
        if isinstance(change, str):
            skipped[change] += 1
        else:
            objects.setdefault((row["cluster"], row["uid"]), []).append(change)
    yield from _jobs(objects.values(), skipped)


def jobs_of_transitions(rows: Iterable[Transition], skipped: Counter[str], until: float | None) -> Iterator[TraceJob]:
    """The same out of the store itself. `until` is now: work that still runs counts with its time so far; None: not."""
    objects: dict[tuple[str, str], list[_Step]] = {}
    for row in rows:
        change = (row.step, row.at, row.state, row.gpus, row.priority, row.tenant)
        objects.setdefault((row.cluster, row.uid), []).append(change)
    yield from _jobs(objects.values(), skipped, until)


def _jobs(objects: Iterable[list[_Step]], skipped: Counter[str], until: float | None = None) -> Iterator[TraceJob]:
    for changes in objects:
        changes.sort()
        job = _job(changes, until)
        if isinstance(job, str):
            skipped[job] += len(changes)
        else:
            skipped["another state of a job that is read"] += len(changes) - 1
            yield job


def _change(row: Mapping[str, str]) -> _Step | str:
    at = seconds_of(row["at"])
    if isinstance(at, str):
        return at
    step, gpus, priority = (whole_of(row[name]) for name in ("step", "gpus", "priority"))
    if step is None or gpus is None or priority is None:
        return "step, gpus or priority is no whole number"
    if row["state"] not in _STATES:
        return "a state that is none"
    return step, at, State(row["state"]), gpus, priority, row["tenant"]


def _job(changes: _States, until: float | None = None) -> TraceJob | str:
    begin = next((change for change in changes if change[2] is State.PENDING), None)
    if begin is None or any(change[2] in (State.ADMITTED, State.RUNNING) for change in changes[: changes.index(begin)]):
        return "it was there before the history begins"
    last = changes[-1]
    if last[2] not in _ENDS and until is None:
        return "it had not ended when the history was exported"
    ran = sum(following[1] - change[1] for change, following in pairwise(changes) if change[2] is State.RUNNING)
    if last[2] is State.RUNNING and until is not None:
        ran += max(0.0, until - last[1])
    gpus = max(change[3] for change in changes)
    if ran <= 0:
        return "it never ran"
    if gpus < 1:
        return "GPUs is not above 0"
    if begin[1] < 0:
        return "a time before 1970"
    return TraceJob(begin[1], ran, gpus, begin[5], last[4]) if begin[5] else "no tenant"

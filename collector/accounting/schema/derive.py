"""What has changed since the last look, as rows. Pure.

An object tells when most of its changes were; those moments are taken, not the moment of the look, so that a collector
that was away for a while writes the same rows as one that was not. What an object does not tell, and nobody saw, is
said to be unseen. Nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from collector.accounting.schema.rows import (
    ENDS,
    HOLDS,
    WAITS,
    Batch,
    Capacity,
    Look,
    Memory,
    Standing,
    State,
    Transition,
)
from collector.assemble.clocks import Clock, WaitClocks
from collector.assemble.works import Seen
from collector.model.snapshot import WorkPhase

BREAK_SECONDS: Final = 60.0
"""So long without a look is a gap. In wall seconds."""

_STATES: Final = {
    WorkPhase.SUSPENDED: State.SUSPENDED,
    WorkPhase.WAITING: State.PENDING,
    WorkPhase.STARTING: State.ADMITTED,
    WorkPhase.RUNNING: State.RUNNING,
}


@dataclass(frozen=True, slots=True)
class Sight:
    """One look at a cluster: every piece of work, its clocks, and pool → GPUs."""

    cluster: str
    now: float
    works: Iterable[Seen]
    clocks: WaitClocks
    capacities: Mapping[str, int]


def advance(memory: Memory, sight: Sight) -> tuple[Memory, Batch]:
    """The memory after one more look, and what is to be written so that a store knows the same."""
    now = _moment(sight.now)
    broken = memory.look is None or now - memory.look.until > BREAK_SECONDS
    before = None if not broken else 0.0 if memory.look is None else memory.look.until
    rows: list[Transition] = []
    standings: dict[str, Standing] = {}
    for seen in sight.works:
        uid = seen.work.uid
        known, clock = memory.standings.get(uid), sight.clocks.clocks.get(uid)
        added = changes(known.last if known else None, seen, clock, sight.cluster, now, before)
        rows += added
        standings[uid] = Standing(added[-1] if added else known.last if known else None, clock)
    for uid, known in memory.standings.items():
        if uid not in standings:
            clock = sight.clocks.clocks.get(uid)
            gone = _gone(known.last, clock, now, before)
            rows += gone
            if clock is not None:  # it is away, and may be submitted again
                standings[uid] = Standing(gone[-1] if gone else known.last, clock)
    begin = now if broken or memory.look is None else memory.look.begin
    look = Look(sight.cluster, begin, now)
    capacities = {name: gpus for name, gpus in sight.capacities.items() if memory.capacities.get(name) != gpus}
    batch = Batch(
        rows=tuple(rows),
        standings=_changed(memory.standings, standings),
        looks=(look,),
        capacities=tuple(Capacity(sight.cluster, name, now, gpus) for name, gpus in sorted(capacities.items())),
    )
    after = Memory(MappingProxyType(standings), look, MappingProxyType({**memory.capacities, **capacities}))
    return after, batch


def changes(
    last: Transition | None, seen: Seen, clock: Clock | None, cluster: str, now: float, before: float | None
) -> tuple[Transition, ...]:
    """The rows of one workload that follow its last one. `before`: the look before a gap that ends now."""
    if last is not None and last.state in (State.FINISHED, State.FAILED):
        return ()
    state = _state(seen)
    if last is not None and last.state is state and not _differs(last, seen):
        return ()
    path = _Path(last, seen, cluster, now, before)
    path.begin()
    path.evict()
    path.reach(state)
    path.resize()
    return _with_waits(last, tuple(path.rows), clock)


def _state(seen: Seen) -> State:
    if seen.work.phase is WorkPhase.FINISHED:
        return State.FAILED if seen.sighting.failed else State.FINISHED
    if seen.sighting.evicted_since is not None and seen.work.phase is not WorkPhase.SUSPENDED:
        return State.EVICTED
    return _STATES[seen.work.phase]


def _differs(last: Transition, seen: Seen) -> bool:
    work = seen.work
    since = seen.sighting.evicted_since
    again = since is not None and last.state is State.EVICTED and since > last.at
    shape = (work.gpus, work.pods, work.tenant, work.pool or "")
    known = (last.gpus, last.pods, last.tenant, last.pool)
    return again or shape != known or seen.sighting.eviction_count > last.evictions


class _Path:
    """The way from a last row to what is seen now, row by row; moments never go back."""

    def __init__(self, last: Transition | None, seen: Seen, cluster: str, now: float, before: float | None) -> None:
        self._last, self._seen, self._cluster, self._now, self._before = last, seen, cluster, now, before
        self.rows: list[Transition] = []

    def begin(self) -> None:
        """The first row of an object: it was created, or is back after it had gone."""
        created_at = self._seen.work.created_at
        if self._last is None or self._last.state is State.GONE:
            held_back = self._seen.work.phase is WorkPhase.SUSPENDED
            told = self._last is None or created_at > self._last.at
            self._add(State.SUSPENDED if held_back else State.PENDING, created_at if told else None)

    def evict(self) -> None:
        """It lost its place since: as the object counts, or as it says itself."""
        sighting, at = self._seen.sighting, self._at
        lost = sighting.eviction_count - (self._last.evictions if self._last else 0)
        since = sighting.evicted_since
        out_now = since is not None and (at.state is not State.EVICTED or since > at.at) and not sighting.finished
        if lost <= 0 and not out_now:
            return
        unseen = 2 * max(0, lost - 1) + int(at.state not in HOLDS)  # each was admitted before it was evicted
        if since is not None and not sighting.finished:
            self._add(State.EVICTED, since, unseen, evictions=sighting.eviction_count)
        else:  # it has a place again; when it lost the last one is told by nobody
            again = self._seen.work.admitted_at
            self._add(State.EVICTED, self._now if again is None else again, unseen, False, sighting.eviction_count)

    def reach(self, state: State) -> None:
        """From where it stands by now to the state that is seen."""
        work = self._seen.work
        if state in HOLDS or state in ENDS:
            if self._at.state not in HOLDS and work.admitted_at is not None:
                self._add(State.ADMITTED, work.admitted_at)
            if state is State.RUNNING and self._at.state is not State.RUNNING:
                self._add(State.RUNNING, work.ready_at)
            elif state is State.ADMITTED and self._at.state is not State.ADMITTED:
                self._add(State.ADMITTED, work.admitted_at if self._at.state is not State.RUNNING else None)
            elif state in ENDS:
                # Who finished must have been Ready; who failed need not.
                unseen = int(self._at.state not in HOLDS)
                unseen += int(state is State.FINISHED and self._at.state is not State.RUNNING)
                self._add(state, self._seen.sighting.ended_at, unseen)
        elif state is State.SUSPENDED and self._at.state is not State.SUSPENDED:
            self._add(State.SUSPENDED, None)
        elif state is State.PENDING and self._at.state not in (State.PENDING, State.EVICTED):
            self._add(State.PENDING, None)

    def resize(self) -> None:
        """Its size, tenant or pool changed and nothing else."""
        if not self.rows and self._last is not None and _differs(self._last, self._seen):
            self._add(self._last.state, None)

    @property
    def _at(self) -> Transition:
        at = self.rows[-1] if self.rows else self._last
        if at is None:
            raise ValueError("a path begins with `begin`")
        return at

    def _add(
        self, state: State, at: float | None, unseen: int = 0, told: bool = True, evictions: int | None = None
    ) -> None:
        """One row. `at`: when the object says it was; None: it does not say. `told`: no later than that is sure."""
        work, previous = self._seen.work, self.rows[-1] if self.rows else self._last
        earliest = previous.at if previous else 0.0
        moment = max(_moment(self._now if at is None else at), earliest)
        seen_before = None
        # Of work that ended unseen it is sure that it held its GPUs until then, if it was seen to hold them.
        open_question = unseen and not (state in ENDS and previous is not None and previous.state in HOLDS)
        if open_question or not told or (at is None and self._before is not None):
            seen_before = min(moment, max(earliest, self._before or 0.0))
        evicted = state is State.EVICTED
        self.rows.append(
            Transition(
                cluster=self._cluster,
                uid=work.uid,
                # An owner of bare pods may go and come back: what it begins anew is told apart by when it began.
                step=previous.step + 1 if previous else int(work.created_at),
                at=moment,
                state=state,
                key=self._seen.sighting.key,
                namespace=work.namespace,
                name=work.name,
                kind=work.kind,
                tenant=work.tenant,
                tier=work.tier,
                pool=work.pool or "",
                queue=work.queue,
                gpus=work.gpus,
                pods=work.pods,
                priority=work.priority,
                evictions=evictions if evictions is not None else previous.evictions if previous else 0,
                evicted_by=(self._seen.sighting.evicted_by or "") if evicted else "",
                why=self._seen.sighting.evicted_why if evicted else "",
                seen_before=seen_before,
                unseen=unseen,
            )
        )


def _gone(last: Transition | None, clock: Clock | None, now: float, before: float | None) -> tuple[Transition, ...]:
    """The end of work whose object is no more."""
    if last is None or last.state in ENDS:
        return ()
    at = max(now, last.at)
    row = replace(
        last,
        step=last.step + 1,
        at=at,
        state=State.GONE,
        evicted_by="",
        why="",
        seen_before=None if before is None else min(at, max(last.at, before)),
        unseen=0,
    )
    return _with_waits(last, (row,), clock)


def _with_waits(last: Transition | None, rows: tuple[Transition, ...], clock: Clock | None) -> tuple[Transition, ...]:
    """The rows with the wait summed up to each. The clock knows best; without it they are summed from the last row."""
    if not rows:
        return ()
    waited, before = (last.waited_seconds, last) if last else (0.0, rows[0])
    sums: list[tuple[float, bool]] = []
    bound = last.waited_is_lower_bound if last else False
    for row in rows:
        ended_unseen = row.state in (State.FINISHED, State.FAILED) and before.state is State.ADMITTED
        until = row.at if row.seen_before is None else row.seen_before
        waited += until - before.at if before.state in WAITS and not ended_unseen else 0.0
        doubt = row.state is not State.GONE and (row.unseen > 0 or row.seen_before is not None)
        bound = bound or ended_unseen or doubt
        sums.append((waited, bound))
        before = row
    if clock is not None:
        shift = _moment(clock.waited_seconds(rows[-1].at)) - waited
        sums = [(total + shift, clock.lower_bound) for total, _ in sums]
    return tuple(
        replace(row, waited_seconds=_moment(max(0.0, total)), waited_is_lower_bound=bounded)
        for row, (total, bounded) in zip(rows, sums, strict=True)
    )


def _changed(before: Mapping[str, Standing], after: Mapping[str, Standing]) -> dict[str, Standing | None]:
    changed: dict[str, Standing | None] = {uid: None for uid in before if uid not in after}
    for uid, standing in after.items():
        known = before.get(uid)
        if known is None or known.last is not standing.last or _fixed(known.clock) != _fixed(standing.clock):
            changed[uid] = standing
    return changed


def _fixed(clock: Clock | None) -> tuple[object, ...] | None:
    """What of a clock changes only when something happens to its work."""
    if clock is None:
        return None
    return (
        clock.waited_before_seconds,
        clock.waiting_since,
        clock.evictions,
        clock.eviction_count_seen,
        clock.evicted_by,
        clock.lower_bound,
        clock.left_waiting,
        clock.queue,
        clock.key,
    )


def _moment(seconds: float) -> float:
    """To the millisecond."""
    return round(seconds, 3)

"""Whole traces at speed: the rules of `admission` on one clock, without an object per job. Pure, exact.

A queue has a Cohort of its own with a quota; what of it is not reserved stands in the Cohort of the site, for all. That
is the tree of `cluster_spec` with its two levels known in advance, so a step is arithmetic on a few numbers. A property
test holds this engine to `Cluster`: the same ends, evictions and losses.

A job is known by its position in the order in which queues serve; equal moments are seen together.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from math import inf

from controller.simulate.admission import victim_order
from controller.simulate.batch_setting import NEVER, Fates, QueueQuota, Saves, Setting
from controller.simulate.job_table import JobTable
from controller.simulate.losses import saved_seconds
from controller.simulate.packing import Held


class Batch:
    """A running trace. `advance` moves the clock."""

    def __init__(self, jobs: JobTable, setting: Setting, serving: Sequence[int], saves: Saves | None = None) -> None:
        """`serving` holds the rows in the order in which queues serve them; without `saves` nothing is saved."""
        rows, queues = len(jobs), len(setting.quotas)
        levels = {priority: level for level, priority in enumerate(sorted(set(jobs.priority)))}
        self.now, self.fates = -inf, Fates.none_yet(rows)
        self._setting, self._rules, self._nodes = setting, setting.rules, setting.nodes
        self._saves: Saves = saves or (lambda row: None)
        self._tenant = jobs.tenant
        # By position.
        self._row = serving
        self._size = [jobs.gpus[row] for row in serving]
        self._queue = [setting.queue_of[jobs.tenant[row]] for row in serving]
        self._level = [levels[jobs.priority[row]] for row in serving]
        self._run = [float(jobs.run_seconds[row]) for row in serving]
        self._left = list(self._run)
        self._done, self._owed = [0.0] * rows, [0.0] * rows
        self._since = [jobs.submit_seconds[row] for row in serving]
        self._began, self._ends = [NEVER] * rows, [NEVER] * rows
        self._held: dict[int, Held] = {}
        # By queue.
        self._used = [0] * queues
        self._level_used = [[0] * len(levels) for _ in range(queues)]
        self._running: list[dict[int, tuple[bool, int, int, int]]] = [{} for _ in range(queues)]
        """Who runs, each with its place in the order of victims."""
        self._sizes: list[list[int]] = [[] for _ in range(queues)]
        """The sizes that wait, smallest first."""
        self._heaps: list[dict[int, list[int]]] = [{} for _ in range(queues)]
        """Size → who waits, the one to be served first on top."""
        self._waiting: dict[int, int] = {}
        """Queue → how many wait; none: no entry."""
        self._promised: dict[int, int] = {}
        """Queue → whom others were evicted for: it stays the head until it starts."""
        self._quota, self._reserve, self._ceiling = [0] * queues, [0] * queues, [inf] * queues
        self._shared, self._free = setting.shared, 0
        for queue, quota in enumerate(setting.quotas):
            self._set(queue, quota)
        self._freed = False
        # By time.
        self._position = self._arrivals = sorted(range(rows), key=serving.__getitem__)
        self._arrival_times = jobs.submit_seconds
        self._arrived = self._evicted = self._coming_back = 0
        self._events: list[tuple[float, int]] = []
        """(when, position) of ends; of evicted jobs that come back with the position inverted."""

    # Time

    def advance(self, until: float = inf) -> None:
        """Let time pass, by default until all is done."""
        events, times, total, ends = self._events, self._arrival_times, len(self._arrivals), self._ends
        while True:
            at = self._arrived
            arrival = times[at] if at < total else inf
            event = events[0][0] if events else inf
            now = min(event, arrival)
            if now > until or now == inf:
                break
            self.now = now
            if now < event and (at + 1 == total or times[at + 1] != now):
                self._arrived = at + 1
                self._arrive_alone(self._arrivals[at])
                continue
            fresh = list[int]()
            while events and events[0][0] == now:
                position = heappop(events)[1]
                if position < 0:
                    self._coming_back -= 1
                    fresh.append(~position)
                elif ends[position] == now:
                    self._finish(position)
            while self._arrived < total and times[self._arrived] == now:
                fresh.append(self._arrivals[self._arrived])
                self._arrived += 1
            for position in fresh:
                self._wait(position)
            self._settle(fresh)
        if inf > until > self.now:
            self.now = until

    def _arrive_alone(self, position: int) -> None:
        """Nothing became free, so those who wait still can not start: only the new one is looked at."""
        if self._fits(position):
            self._start(position)
        else:
            self._wait(position)
            if self._may_evict(position):
                self._settle((position,))

    # Waiting, starting, ending

    def _wait(self, position: int) -> None:
        queue, size = self._queue[position], self._size[position]
        heap = self._heaps[queue].get(size)
        if heap is None:
            self._heaps[queue][size] = [position]
            insort(self._sizes[queue], size)
        else:
            heappush(heap, position)
        self._waiting[queue] = self._waiting.get(queue, 0) + 1

    def _wait_no_more(self, position: int) -> None:
        queue, size = self._queue[position], self._size[position]
        heap = self._heaps[queue][size]
        if heap[0] == position:
            heappop(heap)
        else:
            heap.remove(position)
            heapify(heap)
        if not heap:
            del self._heaps[queue][size]
            self._sizes[queue].remove(size)
        self._waiting[queue] -= 1
        if not self._waiting[queue]:
            del self._waiting[queue]
        if self._promised.get(queue) == position:
            del self._promised[queue]

    def _start(self, position: int) -> None:
        queue, size, now, fates = self._queue[position], self._size[position], self.now, self.fates
        self._use(queue, size)
        self._level_used[queue][self._level[position]] += size
        if self._nodes is not None:
            self._held[position] = self._nodes[queue].take(size)
        self._running[queue][position] = victim_order(False, self._level[position], now, position)
        self._began[position] = now
        self._ends[position] = end = now + self._left[position]
        heappush(self._events, (end, position))
        row = self._row[position]
        fates.wait_seconds[row] += now - self._since[position]
        if fates.first_start_seconds[row] == NEVER:
            fates.first_start_seconds[row] = now

    def _finish(self, position: int) -> None:
        self._leave(position)
        self.fates.end_seconds[self._row[position]] = self.now

    def _evict(self, position: int, preemptor: int) -> None:
        row, now, began = self._row[position], self.now, self._began[position]
        self._leave(position)
        if now > began:
            done = self._done[position] + (now - began)
            self._done[position] = saved = saved_seconds(done, self._saves(row))
            self._owed[position] += self._rules.restart_seconds
            self._left[position] = self._run[position] + self._owed[position] - saved
            self.fates.lost_gpu_seconds[row] += (done - saved) * self._size[position]
        self._since[position] = now
        self.fates.evictions[row] += 1
        self._evicted += 1
        self._coming_back += 1
        evictors = self.fates.evictors.setdefault(row, {})
        tenant = self._tenant[self._row[preemptor]]
        evictors[tenant] = evictors.get(tenant, 0) + 1
        heappush(self._events, (now + self._rules.requeue_seconds, ~position))

    def _leave(self, position: int) -> None:
        queue, size = self._queue[position], self._size[position]
        self._use(queue, -size)
        self._level_used[queue][self._level[position]] -= size
        if self._nodes is not None:
            self._nodes[queue].give(self._held.pop(position))
        del self._running[queue][position]
        self._ends[position] = NEVER
        self._freed = True
        self.fates.stays.append((self._row[position], self._began[position], self.now))

    # Quota

    def _set(self, queue: int, quota: QueueQuota) -> None:
        self._quota[queue], self._reserve[queue] = quota.quota, min(quota.reserve, quota.quota)
        self._ceiling[queue] = quota.ceiling
        self._count_free()

    def _count_free(self) -> None:
        """What of the site's Cohort is free; below 0 where quota was lowered under what is in use."""
        lent = sum(self._quota) - sum(self._reserve)
        beyond = sum(max(0, used - reserve) for used, reserve in zip(self._used, self._reserve, strict=True))
        self._free = self._shared + lent - beyond
        self._freed = True

    def _use(self, queue: int, size: int) -> None:
        before, reserve = self._used[queue], self._reserve[queue]
        self._used[queue] = after = before + size
        self._free -= (max(reserve, after)) - (max(reserve, before))

    def _fits(self, position: int) -> bool:
        queue, size = self._queue[position], self._size[position]
        used = self._used[queue]
        own = self._reserve[queue] - used
        if size > (self._free + own if own > 0 else self._free) or used + size > self._ceiling[queue]:
            return False
        return self._nodes is None or self._nodes[queue].fits(size)

    def _may_evict(self, position: int) -> bool:
        queue, size = self._queue[position], self._size[position]
        if self._rules.reclaims:
            return self._used[queue] + size <= self._quota[queue]
        return self._rules.preempts_within_queue and any(self._level_used[queue][: self._level[position]])

    # Who is next

    def _settle(self, fresh: Sequence[int] = ()) -> None:
        """Scheduling cycles until nothing more can start: for all if quota became free, else for who has just come."""
        if fresh and not self._freed:
            lines: dict[int, list[int]] = {}
            for position in fresh:
                lines.setdefault(self._queue[position], []).append(position)
            self._round({queue: self._line(queue, line) for queue, line in lines.items()})
        while self._freed:
            self._freed = False
            self._round({})

    def _line(self, queue: int, positions: Iterable[int]) -> list[int]:
        """In the order in which they are looked at: the one that room was made for first."""
        line, promised = sorted(positions), self._promised.get(queue, -1)
        if promised < 0 or promised not in line:
            return line
        return [promised, *(one for one in line if one != promised)]

    def _round(self, lines: dict[int, list[int]]) -> None:
        """Each cycle takes the next of every line, whether it can start or not. Without `lines`: all who wait.

        Cycles in which nobody can start are counted, not run; a line of all who wait is made when it is needed.
        """
        everybody, cycles = not lines, 0
        at, refused = dict.fromkeys(lines, 0), set[tuple[int, int, int]]()
        while True:
            soonest, heads = len(self._row), list[int]()
            for queue in tuple(self._waiting if everybody else lines):
                if not self._has_room(queue):
                    continue
                if queue not in lines:
                    lines[queue] = self._line(queue, chain.from_iterable(self._heaps[queue].values()))
                    at[queue] = cycles
                place = self._next_in(lines[queue], at[queue], refused)
                ahead = place - at[queue]
                if place >= 0 and ahead <= soonest:
                    soonest, heads = ahead, [*heads, queue] if ahead == soonest else [queue]
            if not heads:
                return
            stay = self._compete([lines[queue][at[queue] + soonest] for queue in heads], refused)
            cycles += soonest + 1
            for queue in at:
                at[queue] += soonest + (queue not in stay)

    def _has_room(self, queue: int) -> bool:
        """Whether the smallest that waits could start; a guess that is never too pessimistic."""
        used, smallest = self._used[queue], self._sizes[queue]
        room = self._free + max(0, self._reserve[queue] - used)
        if self._rules.reclaims:
            room = max(room, self._quota[queue] - used)
        elif self._rules.preempts_within_queue:
            return True
        return bool(smallest) and smallest[0] <= room

    def _next_in(self, line: Sequence[int], begin: int, refused: set[tuple[int, int, int]]) -> int:
        """Where in the line the next stands that fits or may make room; below 0: nowhere."""
        known: dict[tuple[int, int], bool] = {}
        for place in range(begin, len(line)):
            position = line[place]
            shape = (self._size[position], self._level[position])
            if shape not in known:
                known[shape] = self._fits(position) or (
                    (self._queue[position], *shape) not in refused and self._may_evict(position)
                )
            if known[shape]:
                return place
        return -1

    def _compete(self, heads: Sequence[int], refused: set[tuple[int, int, int]]) -> set[int]:
        """One cycle: all are judged by what is there, then served in order. Returns the queues that keep their head."""
        judged, stay = list[tuple[bool, int, Sequence[int]]](), set[int]()
        for position in heads:
            if self._fits(position):
                queue = self._queue[position]
                judged.append((self._used[queue] + self._size[position] > self._quota[queue], position, ()))
            elif victims := self._victims(position):
                judged.append((False, position, victims))
            else:
                refused.add((self._queue[position], self._size[position], self._level[position]))
        if not judged:
            return stay
        refused.clear()
        promises = list[int]()
        for _, position, victims in sorted(judged):
            queue = self._queue[position]
            if len(judged) > 1 and not self._fits_without(position, victims):
                stay.add(queue)
            elif victims:
                stay.add(queue)
                promises.append(position)
                self._make_room(position, victims)
            else:
                self._wait_no_more(position)
                self._start(position)
        for position in promises:
            self._lift(position)
            self._held.pop(position, None)
        return stay

    def _fits_without(self, position: int, victims: Sequence[int]) -> bool:
        """Whether it fits when these are gone; no, if one of them is gone already, for somebody else."""
        if any(victim not in self._running[self._queue[victim]] for victim in victims):
            return False
        self._lift(*victims)
        fits = self._fits(position)
        self._put_back(*victims)
        return fits

    def _make_room(self, position: int, victims: Sequence[int]) -> None:
        """Evict, and keep what became free from the others of this cycle."""
        queue, size = self._queue[position], self._size[position]
        self._promised[queue] = position
        for victim in victims:
            self._evict(victim, position)
        self._use(queue, size)
        if self._nodes is not None:
            self._held[position] = self._nodes[queue].take(size)

    # Who gives way

    def _victims(self, position: int) -> Sequence[int]:
        """Whom the job would evict; empty when nothing can be done for it."""
        chosen: list[int] = []
        needed: Sequence[int] = ()
        for *_, victim in self._candidates(position):
            queue = self._queue[victim]
            if queue != self._queue[position] and self._used[queue] <= self._quota[queue]:
                continue
            self._lift(victim)
            chosen.append(victim)
            if self._fits(position):
                needed = self._without_needless(position, chosen)
                break
        self._put_back(*(needed or chosen))
        return needed

    def _candidates(self, position: int) -> Sequence[tuple[bool, int, int, int]]:
        """Those of queues that borrow, then those of its own queue; what the last number says is who."""
        queue = self._queue[position]
        found: list[tuple[bool, int, int, int]] = []
        if self._rules.reclaims and self._used[queue] + self._size[position] <= self._quota[queue]:
            for other, running in enumerate(self._running):
                if other != queue and self._used[other] > self._quota[other]:
                    found += running.values()
        found.sort()
        if self._rules.preempts_within_queue:
            found += sorted(one for one in self._running[queue].values() if one[1] < self._level[position])
        return found

    def _without_needless(self, position: int, chosen: list[int]) -> Sequence[int]:
        """Fill back: the one chosen last is needed; of the others those that fit beside the job stay."""
        needed = list(chosen)
        for victim in reversed(chosen[:-1]):
            self._put_back(victim)
            if self._fits(position):
                needed.remove(victim)
            else:
                self._lift(victim)
        return needed

    def _lift(self, *positions: int) -> None:
        """As if they were gone."""
        for position in positions:
            queue = self._queue[position]
            self._use(queue, -self._size[position])
            if self._nodes is not None:
                self._nodes[queue].give(self._held[position])

    def _put_back(self, *positions: int) -> None:
        for position in positions:
            queue = self._queue[position]
            self._use(queue, self._size[position])
            if self._nodes is not None:
                self._nodes[queue].hold(self._held[position])

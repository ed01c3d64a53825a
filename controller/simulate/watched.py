"""A running trace that somebody watches and steers: what can be seen of it, and the quota that can be moved. Pure.

To be seen is what a cluster shows: who runs, who waits and for how long, where. Run times and checkpoints are not.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence, Set
from heapq import heappop, heappush
from math import inf

from controller.simulate.batch import Batch
from controller.simulate.batch_setting import NEVER, QueueQuota, Saves, Setting, Sighting
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Held


class WatchedBatch(Batch):
    """A batch with eyes and hands; between two calls of `advance`. What is asked for at every look is kept up to date.

    `limits`, by queue: size of a job in GPUs → seconds that it may wait; a size without is never late.
    """

    def __init__(
        self,
        jobs: JobTable,
        setting: Setting,
        serving: Sequence[int],
        saves: Saves | None = None,
        limits: Sequence[Mapping[int, float]] | None = None,
    ) -> None:
        """As `Batch`; without `limits` nobody is ever late."""
        super().__init__(jobs, setting, serving, saves)
        queues = len(setting.quotas)
        self._limits = limits if limits is not None else [{}] * queues
        self._asked, self._late = [0] * queues, [0] * queues
        """GPUs that wait, and that wait for longer than they may, by queue."""
        self._in_line: list[list[int]] = [[] for _ in range(queues)]
        """Who waits, by queue, in the order in which it is served."""
        self._late_from = [inf] * len(jobs)
        """By position: the moment after which who waits is late."""
        self._to_be_late: list[tuple[float, int]] = []
        """(moment, position) of who waits and is not late yet; of who waits no more until its moment has come."""
        self._are_late: set[int] = set()
        self._touched: dict[int, set[int]] = {queue: set() for queue in range(queues)}

    def set_quota(self, queue: int, quota: QueueQuota) -> None:
        """Change a queue's quota. What is in use stays; nobody is evicted by it."""
        self._touched.setdefault(queue, set())
        self._set(queue, quota)
        self._settle()

    def set_shared(self, gpus: int) -> None:
        """Change how much belongs to no queue."""
        self._shared = gpus
        self._count_free()
        self._settle()

    def used(self, queue: int) -> int:
        """GPUs in use by a queue."""
        return self._used[queue]

    def line(self, queue: int, most: int) -> Sequence[tuple[int, bool]]:
        """(row, whether it is late) of the first jobs of a queue that wait, in the order in which they are served."""
        self._count_late()
        rows, late = self._row, self._are_late
        return [(rows[position], position in late) for position in self._in_line[queue][:most]]

    def sighting(self, row: int) -> Sighting:
        """A job that runs or waits."""
        position, waited = self._position[row], self.fates.wait_seconds[row]
        began = self._began[position] if self.runs(row) else None
        if began is None:
            waited += self.now - self._since[position]
        return Sighting(row, waited, began, self.fates.evictions[row])

    def waiting_gpus(self, queue: int) -> int:
        """GPUs that all who wait in a queue ask for."""
        return self._asked[queue]

    def late_gpus(self, queue: int) -> int:
        """GPUs of those in a queue who wait longer than they may."""
        self._count_late()
        return self._late[queue]

    def anybody_late(self) -> bool:
        """Whether one job waits longer than it may."""
        self._count_late()
        return bool(self._are_late)

    def late_next(self) -> float:
        """The moment after which one more job is late if nothing happens; infinite: never. It may be none after all."""
        return self._to_be_late[0][0] if self._to_be_late else inf

    def touched(self) -> Mapping[int, Set[int]]:
        """What changed since this was asked last but for the time: queue → rows that began, or ceased, to hold GPUs."""
        self._count_late()
        touched, self._touched = self._touched, {}
        return touched

    def runs(self, row: int) -> bool:
        """Whether a job holds its GPUs."""
        return self._ends[self._position[row]] != NEVER

    def _count_late(self) -> None:
        coming, now = self._to_be_late, self.now
        while coming and coming[0][0] < now:
            moment, position = heappop(coming)
            if self._late_from[position] == moment:
                queue = self._queue[position]
                self._late[queue] += self._size[position]
                self._are_late.add(position)
                self._touched.setdefault(queue, set())

    def _wait(self, position: int) -> None:
        super()._wait(position)
        queue, size = self._queue[position], self._size[position]
        self._asked[queue] += size
        self._touched.setdefault(queue, set())
        insort(self._in_line[queue], position)
        limit = self._limits[queue].get(size)
        if limit is not None:
            moment = self._since[position] - self.fates.wait_seconds[self._row[position]] + limit
            self._late_from[position] = moment
            heappush(self._to_be_late, (moment, position))

    def _wait_no_more(self, position: int) -> None:
        super()._wait_no_more(position)
        queue, size = self._queue[position], self._size[position]
        self._asked[queue] -= size
        line = self._in_line[queue]
        del line[bisect_left(line, position)]
        self._late_from[position] = inf
        if position in self._are_late:
            self._are_late.remove(position)
            self._late[queue] -= size

    def _start(self, position: int) -> None:
        super()._start(position)
        self._touched.setdefault(self._queue[position], set()).add(self._row[position])

    def _leave(self, position: int) -> None:
        super()._leave(position)
        self._touched.setdefault(self._queue[position], set()).add(self._row[position])

    def places(self, row: int) -> Held:
        """The nodes of a job that runs; empty where GPUs are only counted."""
        return self._held.get(self._position[row], ())

    @property
    def evictions(self) -> int:
        """So far, of all jobs."""
        return self._evicted

    def next_moment(self) -> float:
        """When something happens next by itself; infinite: never again."""
        arrival = self._arrival_times[self._arrived] if self._arrived < len(self._arrivals) else inf
        return min(arrival, self._events[0][0] if self._events else inf)

    def unfinished(self) -> int:
        """Jobs that did not end yet."""
        return self.fates.end_seconds.count(NEVER)

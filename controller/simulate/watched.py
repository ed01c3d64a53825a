"""A running trace that somebody watches and steers: what can be seen of it, and the quota that can be moved. Pure.

To be seen is what a cluster shows: who runs, who waits and for how long, where. Run times and checkpoints are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import nsmallest
from itertools import chain
from math import inf

from controller.simulate.batch import Batch
from controller.simulate.batch_setting import NEVER, QueueQuota, Sighting
from controller.simulate.packing import Held


class WatchedBatch(Batch):
    """A batch with eyes and hands; between two calls of `advance`."""

    def set_quota(self, queue: int, quota: QueueQuota) -> None:
        """Change a queue's quota. What is in use stays; nobody is evicted by it."""
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

    def running(self, queue: int) -> Iterator[Sighting]:
        """The jobs of a queue that hold GPUs, oldest admission first."""
        for position in self._running[queue]:
            row = self._row[position]
            waited = self.fates.wait_seconds[row]
            yield Sighting(row, waited, self._began[position], self.fates.evictions[row])

    def waiting(self, queue: int, most: int) -> Iterator[Sighting]:
        """The first jobs of a queue that wait, in the order in which they are served."""
        for position in nsmallest(most, chain.from_iterable(self._heaps[queue].values())):
            row = self._row[position]
            waited = self.fates.wait_seconds[row] + self.now - self._since[position]
            yield Sighting(row, waited, None, self.fates.evictions[row])

    def waiting_gpus(self, queue: int) -> int:
        """GPUs that all who wait in a queue ask for."""
        return sum(size * len(heap) for size, heap in self._heaps[queue].items())

    def late_gpus(self, queue: int, limits: Mapping[int, float]) -> int:
        """GPUs of those who wait longer than `limits` say: size of a job → seconds; a size without is never late."""
        now, since, waits, row = self.now, self._since, self.fates.wait_seconds, self._row
        late = 0
        for size, heap in self._heaps[queue].items():
            if size in limits:
                begin = now - limits[size]
                late += size * sum(1 for one in heap if since[one] - waits[row[one]] < begin)
        return late

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

    def is_idle(self) -> bool:
        """Whether nobody waits, not even to come back after an eviction."""
        return not self._waiting and not self._coming_back

    def unfinished(self) -> int:
        """Jobs that did not end yet."""
        return self.fates.end_seconds.count(NEVER)

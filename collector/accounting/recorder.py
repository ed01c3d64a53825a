"""Between the looks and the database: what a look adds is kept here until it is written, within bounds.

The thread that looks never waits for the database; another one writes. A database that is away costs nothing but
memory for a while; when that is used up, what is not written is let go and the time is a gap, as after a crash: once
the database is back, the history goes on from what stands in it. Raises nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from collector.accounting.errors import StoreProblem
from collector.accounting.schema.clock_text import resumed
from collector.accounting.schema.derive import Sight, advance
from collector.accounting.schema.rows import Batch, Memory, PolicyStep
from collector.accounting.store import Store
from collector.assemble.clocks import WaitClocks
from collector.assemble.works import Seen

MOST_ROWS: Final = 100_000
"""About 100 MB, and at a hundred changes a minute most of a day."""
_PRUNE_SECONDS: Final = 3600.0


class Recorder:
    """Keeps the history of one cluster. `look` from one thread, `write` and `add_policy` from others."""

    def __init__(
        self,
        store: Store,
        cluster: str,
        keep_seconds: float,
        clock: Callable[[], float] = time.time,
        most: int = MOST_ROWS,
    ) -> None:
        self._store, self._cluster, self._keep_seconds = store, cluster, keep_seconds
        self._clock, self._most = clock, most
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._fresh = False
        """The memory was read and the clocks do not know it yet."""
        self._pending = Batch()
        self._policy: dict[tuple[str, str], PolicyStep] = {}
        self._pruned_at = 0.0
        self._ready = False
        self.settled = threading.Event()
        """Set once the database was read, or it is known that it can not be."""

    def seeded(self, clocks: WaitClocks) -> WaitClocks:
        """The clocks, with what the history knows of them; at the first look after it was read."""
        with self._lock:
            if not self._fresh or self._memory is None:
                return clocks
            self._fresh = False
            return resumed(clocks, self._memory)

    def look(self, works: Iterable[Seen], clocks: WaitClocks, capacities: Mapping[str, int], now: float) -> None:
        """Take what one whole look showed."""
        with self._lock:
            if self._memory is None or self._fresh:
                return  # what is known so far can not be told from what is new
            self._memory, batch = advance(self._memory, Sight(self._cluster, now, works, clocks, capacities))
            self._pending = self._pending.then(batch)
            if self._pending.size > self._most:
                self._memory, self._pending, self._policy = None, Batch(), {}

    def add_policy(self, steps: Iterable[PolicyStep]) -> None:
        """Take the changes of the policy as they stand; what is written already is not written again."""
        with self._lock:
            for step in steps:
                if self._policy.get((step.change, step.stage)) != step:
                    self._policy[step.change, step.stage] = step
                    self._pending = self._pending.then(Batch(policy=(step,)))

    def write(self) -> str:
        """Write what waits, after reading what stands there if need be; "" or the problem in words."""
        try:
            self._load()
            self._write()
            self._prune()
        except StoreProblem as problem:
            return str(problem)
        finally:
            self.settled.set()
        return ""

    def close(self) -> str:
        """Write what waits a last time, and let go of the database."""
        problem = self.write()
        self._store.close()
        return problem

    def _load(self) -> None:
        if not self._ready:
            self._store.begin_writing()
            self._ready = True
        if self._memory is not None:
            return
        memory = self._store.memory(self._cluster)
        with self._lock:
            self._memory, self._fresh = memory, True

    def _write(self) -> None:
        with self._lock:
            batch, self._pending = self._pending, Batch()
        if batch == Batch():
            return
        try:
            self._store.write(batch)
        except StoreProblem:
            with self._lock:
                if self._memory is not None:  # else it was let go meanwhile
                    self._pending = batch.then(self._pending)
            raise

    def _prune(self) -> None:
        now = self._clock()
        if now - self._pruned_at >= _PRUNE_SECONDS:
            self._pruned_at = now
            self._store.prune(now - self._keep_seconds)

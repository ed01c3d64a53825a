"""The history end to end: looks at thousands of workloads become rows in a SQLite file on disk."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

from collector.accounting.address import read_address
from collector.accounting.schema.derive import Sight, advance
from collector.accounting.schema.rows import Memory, State
from collector.accounting.store import Store, Wanted
from collector.assemble.clocks import WaitClocks
from tests.unit.collector.accounting.lives import CLUSTER, START, Life, turns

MEASURES: Final = {"accounting_rows_per_second": "rows/s", "accounting_look_seconds": "s"}
WORKS: Final = 10_000
"""In the cluster at once."""
LOOKS: Final = 8
"""Each changes the state of a fifth of them."""
_TURN: Final = (State.PENDING, State.ADMITTED, State.RUNNING, State.EVICTED, State.ADMITTED, State.RUNNING)


def measure() -> Mapping[str, float]:
    """Rows derived and written in a second, and what a look costs in which nothing has changed (10 000 works).

    In CPU seconds, since the machine is shared; a commit waits for no disk (a write-ahead log, synchronous=NORMAL).
    """
    sights = list(_sights())
    with tempfile.TemporaryDirectory() as folder:
        store = Store(read_address(str(Path(folder) / "history.db")))
        store.begin_writing()
        memory, rows, started = Memory(), 0, time.process_time()
        for sight in sights:
            memory, batch = advance(memory, sight)
            store.write(batch)
            rows += len(batch.rows)
        seconds = time.process_time() - started
        written = sum(1 for _ in store.transitions(Wanted()))
        store.close()
    if written != rows:
        raise RuntimeError(f"{written} rows in the file, expected {rows}")
    return {"accounting_rows_per_second": rows / seconds, "accounting_look_seconds": _quiet_look(memory, sights[-1])}


def _sights() -> Iterator[Sight]:
    """Looks a minute apart at works of which a fifth changes from each to the next."""
    lives = [
        Life(f"w{n}", turns(*((state, 60.0 * (n % 5 + 5 * turn)) for turn, state in enumerate(_TURN))))
        for n in range(WORKS)
    ]
    clocks = WaitClocks()
    for look in range(LOOKS):
        now = START + 60.0 * look
        found = tuple(seen for life in lives if (seen := life.seen(now)) is not None)
        clocks = clocks.advance([seen.sighting for seen in found], now)
        yield Sight(CLUSTER, now, found, clocks, {"h100": 8 * WORKS})


def _quiet_look(memory: Memory, sight: Sight) -> float:
    seconds = []
    for _ in range(5):
        started = time.process_time()
        advance(memory, sight)
        seconds.append(time.process_time() - started)
    return median(seconds)

"""A collector's history in a process that can be killed: looks at lives that the seed tells, second after second.

Arguments: address, seed, first second. Prints each second whose rows are written.
"""

from __future__ import annotations

import random
import sys

from collector.accounting.address import read_address
from collector.accounting.recorder import Recorder
from collector.accounting.schema.rows import State
from collector.accounting.store import Store
from collector.assemble.clocks import WaitClocks
from tests.unit.collector.accounting.lives import CLUSTER, START, Life

SECONDS = 220
_CYCLE = (State.PENDING, State.ADMITTED, State.RUNNING, State.EVICTED, State.ADMITTED, State.RUNNING, State.FINISHED)


def lives_of(seed: int, count: int = 40) -> list[Life]:
    """The same for the same seed."""
    chance = random.Random(seed)
    lives = []
    for number in range(count):
        at, turns = START + chance.randrange(60), []
        for state in _CYCLE[: chance.randrange(1, len(_CYCLE) + 1)]:
            turns.append((state, at))
            at += chance.randrange(1, 25)
        lives.append(Life(f"w{number}", tuple(turns)))
    return lives


def main(address: str, seed: int, first: int) -> None:
    """Look and write until the end or the kill."""
    lives = lives_of(seed)
    recorder = Recorder(Store(read_address(address)), CLUSTER, 1e9)
    clocks = WaitClocks()
    recorder.write()
    for second in range(first, SECONDS):
        clocks = recorder.seeded(clocks)
        now = START + second
        found = tuple(seen for life in lives if (seen := life.seen(now)) is not None)
        clocks = clocks.advance([seen.sighting for seen in found], now)
        recorder.look(found, clocks, {"h100": 64}, now)
        problem = recorder.write()
        print(problem or second, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

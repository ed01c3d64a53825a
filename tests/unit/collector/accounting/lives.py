"""Lives of workloads as an engine would tell them at any moment, and what a history of them must say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from collector.accounting.schema.derive import Sight, advance
from collector.accounting.schema.rows import Batch, Memory, State, Transition
from collector.assemble.clocks import Sighting, WaitClocks
from collector.assemble.works import Seen
from collector.model.snapshot import Work, WorkPhase
from collector.model.tenancy import SizeClass

CLUSTER = "c1"
START = 1_750_000_000.0

_PHASES = {
    State.PENDING: WorkPhase.WAITING,
    State.EVICTED: WorkPhase.WAITING,
    State.ADMITTED: WorkPhase.STARTING,
    State.RUNNING: WorkPhase.RUNNING,
    State.FINISHED: WorkPhase.FINISHED,
    State.FAILED: WorkPhase.FINISHED,
}


@dataclass(frozen=True)
class Life:
    """What happened to one object of a queueing system that counts evictions: states and when each began."""

    uid: str
    turns: tuple[tuple[State, float], ...]
    """The first is pending, at its creation. A last one that is gone means the object was deleted."""
    tenant: str = "vision"
    pool: str = "h100"
    gpus: int = 8
    key: str = ""
    """"" for one of its own."""
    generated: bool = False

    def state(self, now: float) -> State | None:
        """Where it stands; None before it was created."""
        past = [state for state, at in self.turns if at <= now]
        return past[-1] if past else None

    def seen(self, now: float) -> Seen | None:
        """What its objects show; None while there are none."""
        past = [(state, at) for state, at in self.turns if at <= now]
        if not past or past[-1][0] is State.GONE:
            return None
        state = past[-1][0]
        last = dict(past)  # state → when it was entered last
        evictions = sum(1 for one, _ in past if one is State.EVICTED)
        out = state is State.EVICTED
        work = Work(
            key=f"vision/Job/{self.uid}/t",
            uid=self.uid,
            kind="Job",
            namespace=self.tenant,
            name=self.uid,
            tenant=self.tenant,
            tier="critical",
            pool=self.pool,
            queue="gpus",
            priority=0,
            pods=1,
            gpus_per_pod=self.gpus,
            gpus=self.gpus,
            size=SizeClass.SINGLE_NODE,
            phase=_PHASES[state],
            created_at=self.turns[0][1],
            waited_seconds=0.0,
            admitted_at=last.get(State.ADMITTED) if not out else None,
            ready_at=last[State.RUNNING] if state is State.RUNNING else None,
        )
        sighting = Sighting(
            key=self.key or work.key,
            uid=self.uid,
            queue=(self.tenant, "critical", "gpus"),
            waits=work.waits,
            created_at=work.created_at,
            ready_at=work.ready_at,
            evicted_at=(last[State.EVICTED] if out else last.get(State.ADMITTED)) if evictions else None,
            eviction_count=evictions,
            evicted_by="nlp" if evictions else None,
            finished=work.phase is WorkPhase.FINISHED,
            generated=self.generated,
            ended_at=past[-1][1] if work.phase is WorkPhase.FINISHED else None,
            failed=state is State.FAILED,
            evicted_since=last[State.EVICTED] if out else None,
            evicted_why="Preempted" if evictions else "",
            readmitted=bool(evictions) and not out,
        )
        return Seen(work, sighting)

    def waited(self, now: float) -> float:
        """The truth about its waits."""
        total = 0.0
        ends = [at for _, at in self.turns[1:]] + [float("inf")]
        for (state, begin), end in zip(self.turns, ends, strict=True):
            if state in (State.PENDING, State.EVICTED, State.ADMITTED) and begin < now:
                total += min(now, end) - begin
        return total


def turns(*states: tuple[State, float]) -> tuple[tuple[State, float], ...]:
    """Turns by seconds after START."""
    return tuple((state, START + after) for state, after in states)


@dataclass
class Looker:
    """Looks at lives; keeps memory, clocks, and all that was to be written."""

    lives: Sequence[Life]
    memory: Memory = field(default_factory=Memory)
    clocks: WaitClocks = field(default_factory=WaitClocks)
    capacity: int = 64

    def __post_init__(self) -> None:
        self.batches: list[Batch] = []

    def look(self, after: float) -> Batch:
        """One look, so many seconds after START."""
        now = START + after
        found = [seen for life in self.lives if (seen := life.seen(now)) is not None]
        self.clocks = self.clocks.advance([seen.sighting for seen in found], now)
        sight = Sight(CLUSTER, now, found, self.clocks, {"h100": self.capacity})
        self.memory, batch = advance(self.memory, sight)
        self.batches.append(batch)
        return batch

    @property
    def rows(self) -> list[Transition]:
        """All rows so far."""
        return [row for batch in self.batches for row in batch.rows]


def told(rows: Iterable[Transition]) -> list[tuple[State, float]]:
    """States and seconds after START."""
    return [(row.state, row.at - START) for row in rows]

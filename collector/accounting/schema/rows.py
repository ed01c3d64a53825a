"""Rows of the history, and what is kept to go on after a restart. Values only; pure.

Times are epoch seconds, whole milliseconds, so that a database gives back what it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from collector.assemble.clocks import Clock


class State(StrEnum):
    """Where a workload stands from the moment of its row on."""

    SUSPENDED = "suspended"
    """Its own user holds it back."""
    PENDING = "pending"
    """It waits for quota or nodes."""
    ADMITTED = "admitted"
    """It has its place; not all of its pods are Ready."""
    RUNNING = "running"
    """All pods that must run are Ready."""
    EVICTED = "evicted"
    """It lost its place, and waits again."""
    FINISHED = "finished"
    FAILED = "failed"
    GONE = "gone"
    """Its object is no more, and said nothing about an end."""


WAITS: Final = frozenset({State.PENDING, State.ADMITTED, State.EVICTED})
"""In these its wait clock runs."""
HOLDS: Final = frozenset({State.ADMITTED, State.RUNNING})
"""In these its GPUs are nobody else's."""
ENDS: Final = frozenset({State.FINISHED, State.FAILED, State.GONE})
"""After these comes nothing."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of state of one workload. (cluster, uid, step) tells rows apart, and step orders those of a uid."""

    cluster: str
    uid: str
    step: int
    at: float
    state: State
    key: str
    """The work over resubmissions: the same owner and template."""
    namespace: str
    name: str
    kind: str
    tenant: str
    tier: str
    pool: str
    """"" for GPUs of no known pool."""
    queue: str
    gpus: int
    pods: int
    priority: int = 0
    evictions: int = 0
    """Of this object, up to this row."""
    evicted_by: str = ""
    """State evicted: the tenant whose work took its place; "" where nobody can tell."""
    why: str = ""
    """State evicted: the engine's own word for it."""
    waited_seconds: float = 0.0
    """Summed over evictions and resubmissions, up to `at`."""
    waited_is_lower_bound: bool = False
    seen_before: float | None = None
    """None: it happened at `at`. Else nobody looked: it happened after this moment, and by `at` at the latest."""
    unseen: int = 0
    """Changes that must lie between the row before and this one, and that nobody saw."""

    @property
    def title(self) -> str:
        """How people name it: namespace/name."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Look:
    """A span in which the collector looked without a break. What lies in no span is a gap."""

    cluster: str
    begin: float
    until: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """From `at` on a pool had so many GPUs, on usable nodes and others."""

    cluster: str
    pool: str
    at: float
    gpus: int


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """One change of state of one change of the policy. (cluster, change, stage) tells rows apart."""

    cluster: str
    change: str
    stage: str
    """intended, on-trial, judged, returning, ended"""
    at: float
    policy: str
    tenant: str
    pool: str
    source: str
    destination: str
    gpus: int
    verdict: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What must be known of a workload to go on: its last row, and its wait clock."""

    last: Transition | None
    """None: of this object nothing but the clock is kept."""
    clock: Clock | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be written together, or not at all."""

    rows: tuple[Transition, ...] = ()
    standings: Mapping[str, Standing | None] = field(default_factory=dict)
    """Uid → what is to be kept of it; None: nothing any more."""
    looks: tuple[Look, ...] = ()
    capacities: tuple[Capacity, ...] = ()
    policy: tuple[PolicyStep, ...] = ()

    @property
    def size(self) -> int:
        """How much memory it takes, in rows."""
        return len(self.rows) + len(self.standings) + len(self.policy) + len(self.capacities)

    def then(self, later: Batch) -> Batch:
        """Both as one."""
        return Batch(
            self.rows + later.rows,
            {**self.standings, **later.standings},
            _longest((*self.looks, *later.looks)),
            self.capacities + later.capacities,
            self.policy + later.policy,
        )


@dataclass(frozen=True, slots=True)
class Memory:
    """What the next look goes on from: as the store would tell it after a restart."""

    standings: Mapping[str, Standing] = field(default_factory=lambda: MappingProxyType({}))
    """By uid."""
    look: Look | None = None
    """The span that is open, or the last one."""
    capacities: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Pool → GPUs."""


def _longest(looks: Iterable[Look]) -> tuple[Look, ...]:
    """Of spans with the same beginning the longest."""
    found: dict[tuple[str, float], Look] = {}
    for look in looks:
        key = look.cluster, look.begin
        if key not in found or found[key].until < look.until:
            found[key] = look
    return tuple(found.values())

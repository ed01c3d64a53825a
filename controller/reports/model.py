"""What a report says. Values only: every renderer reads this and nothing else, so that all forms agree.

Amounts are GPU-hours within the window unless the name says otherwise. What is not known is Unknown with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from collector.accounting.schema.hours import PoolHours, Span
from collector.model.reading import Reading


@dataclass(frozen=True, slots=True)
class Window:
    """The time that is reported on, in epoch seconds: a whole number of slots."""

    start: float
    end: float
    title: str
    time_zone: str
    closed: bool
    """It had ended when the report was made."""
    slot_seconds: int = 60
    """What one sample stands for."""

    @property
    def slots(self) -> int:
        """How many samples of each series a window that was seen whole has."""
        return round((self.end - self.start) / self.slot_seconds)

    @property
    def hours(self) -> float:
        """Its length; a week of a clock change is an hour longer or shorter."""
        return (self.end - self.start) / 3600


class Light(StrEnum):
    """How far the data carry."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"


@dataclass(frozen=True, slots=True)
class PoolSplit:
    """Where the GPU-hours of one pool went: all parts and the difference are the capacity."""

    pool: str
    hours: float
    """Length of the window."""
    seen_hours: float
    """The part of it in which all of the below was known."""
    capacity: Reading[float]
    """What its nodes offered; in hours that were not seen, as before them."""
    running: float = 0.0
    starting: float = 0.0
    """Held by pods of work that was not all Ready: starting, or ending."""
    phase_unknown: float = 0.0
    """Held, and nobody can tell which of the two."""
    free: float = 0.0
    admitted_without_node: float = 0.0
    """The part of `free` that quota had given to work whose pods had no node yet."""
    unusable: Mapping[str, float] = field(default_factory=dict)
    """Reason → held by nobody, on nodes where no work could start."""
    not_seen: float = 0.0
    """Hours without samples: neither used nor free, but not known."""
    difference: float = 0.0
    """What is left over: capacity less all parts."""
    misfit: float = 0.0
    """The same without regard to sign: what is too much now and too little later does not cancel out."""

    @property
    def held(self) -> float:
        """By tenants, whatever their work did with it."""
        return self.running + self.starting + self.phase_unknown

    @property
    def unusable_total(self) -> float:
        """For all reasons together."""
        return sum(self.unusable.values())

    @property
    def parts(self) -> float:
        """Everything but the difference."""
        return self.held + self.free + self.unusable_total + self.not_seen

    @property
    def seen_ratio(self) -> float:
        """Share of the window that was seen."""
        return self.seen_hours / self.hours if self.hours else 0.0


@dataclass(frozen=True, slots=True)
class TenantUse:
    """One tenant in one pool, over the hours that were seen.

    within_guarantee + floating + borrowed + agreement_unknown = held = running + starting + phase_unknown.
    """

    pool: str
    guaranteed: Reading[float]
    held: float
    within_guarantee: float
    floating: float
    borrowed: float
    agreement_unknown: float
    """Beyond the guarantee while the floating part was not known."""
    running: float
    starting: float
    phase_unknown: float
    idle_held: Reading[float]
    """Held and computing nothing: at least this, and at most `unjudged` more."""
    unjudged: float
    attainment: Reading[float]
    """Share of the entitled demand that was served in time."""
    target: float | None = None
    """What was promised of it."""

    @property
    def kept(self) -> bool | None:
        """Whether the promise was kept; None: no promise, or no verdict."""
        value = getattr(self.attainment, "value", None)
        return None if self.target is None or value is None else value >= self.target


@dataclass(frozen=True, slots=True)
class TenantWaits:
    """What a tenant's work went through, in all its queues."""

    waited_hours: Reading[float]
    """Of all work together."""
    oldest_wait_seconds: Reading[float]
    """The longest wait of any one workload that was seen."""
    evictions: Reading[float]
    at_least: bool
    """Part of the window was not seen."""


@dataclass(frozen=True, slots=True)
class TenantReport:
    """Everything about one tenant."""

    name: str
    tier: str
    uses: tuple[TenantUse, ...]
    waits: TenantWaits


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change of the policy: why, what was expected, what came of it."""

    id: str
    made_at: float
    tenant: str
    pool: str
    gpus: int
    source: str
    destination: str
    reason: str
    expected_ready: tuple[str, ...]
    expected_by: float
    may_evict: tuple[str, ...]
    lost_gpu_hours: float
    verdict: str | None
    """None: still on trial."""
    verdict_reason: str
    stage: str
    ended_at: float | None
    before_window: bool
    """Made earlier, and in force within the window."""


@dataclass(frozen=True, slots=True)
class EvictionEdge:
    """How often work of one tenant took the place of another's."""

    victim: str
    by: str
    """"" where nobody can tell."""
    count: int
    gpu_hours: float
    """What the victims had run since they were last Ready: lost, but for checkpoints."""


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """What the history of workloads says of the window, counted apart from the samples."""

    pools: tuple[PoolHours, ...]
    gaps: tuple[Span, ...]
    """In these nobody looked."""
    evictions: tuple[EvictionEdge, ...]
    """Most GPU-hours first."""
    finished: int
    failed: int
    gone: int
    """Objects that went without an end."""

    @property
    def gap_hours(self) -> float:
        """All of them together."""
        return sum(gap.hours for gap in self.gaps)


@dataclass(frozen=True, slots=True)
class ReportModel:
    """The whole report."""

    cluster: str
    window: Window
    made_at: float
    program_version: str
    light: Light
    light_reasons: tuple[str, ...]
    sentences: tuple[str, ...]
    """What a budget owner needs, in three sentences."""
    pools: tuple[PoolSplit, ...]
    tenants: tuple[TenantReport, ...]
    changes: Reading[tuple[ChangeLine, ...]]
    changes_note: str = ""
    history: HistoryPart | None = None
    """None: no history was given."""

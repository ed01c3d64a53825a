"""A Change: a decision that is written, with its forecast, its end and its verdict. Pure values.

A change moves `amount` GPUs of one pool from one own object (the source) to another (the destination), **take first,
then give**. It holds absolute intents, `taken` and `given`, with `taken >= given` at all times, so that the sum of all
levels never exceeds the sum of the baselines, and so that repeating a write after a crash changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from collector.assemble.capacity import SHARED_LEAF
from collector.model.quantities import counted

IDLE = "idle"
"""The source of a change that takes from no object: GPUs of the pool that nobody uses (native caps)."""


class Stage(StrEnum):
    """Where a change stands."""

    INTENDED = "intended"
    """Recorded; not all of it is written yet."""
    ON_TRIAL = "on-trial"
    KEPT = "kept"
    """Judged, and left in force until its time to live ends."""
    RETURNING = "returning"
    """Going back to the baseline, softly: it follows usage down."""
    ENDED = "ended"


class Verdict(StrEnum):
    """What a trial showed."""

    HELPED = "helped"
    NO_EFFECT = "no-effect"
    HURT = "hurt"
    CANNOT_TELL = "cannot-tell"


@dataclass(frozen=True, slots=True)
class WorkRef:
    """A workload that a forecast names."""

    key: str
    title: str
    gpus: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """Who should become Ready, by when, and who may be evicted for it."""

    ready: tuple[WorkRef, ...]
    ready_by: float
    evicted: tuple[WorkRef, ...] = ()
    lost_gpu_hours: float = 0.0
    stays: tuple[WorkRef, ...] = ()
    """Against a preemption cycle: who should not lose its place until `ready_by`."""


@dataclass(frozen=True, slots=True)
class Change:
    """One move between two own objects, from intent to end. Times are epoch seconds, amounts GPUs."""

    id: str
    policy: str
    tenant: str
    pool: str
    source: str
    """Name of the own object that GPUs are taken from."""
    destination: str
    amount: int
    reason: str
    """One sentence: why."""
    finding: str
    forecast: Forecast
    created_at: float
    expires_at: float
    stage: Stage = Stage.INTENDED
    taken: int = 0
    given: int = 0
    taken_written: int = 0
    """What the API server has confirmed of `taken`."""
    given_written: int = 0
    applied_at: float | None = None
    seen_ready: tuple[str, ...] = ()
    """Keys of the forecast's workloads that were seen Ready while the change was in force."""
    evictions_before: int = 0
    stays_evictions_before: int = 0
    extended: bool = False
    verdict: Verdict | None = None
    verdict_reason: str = ""
    judged_at: float | None = None
    returning_since: float | None = None
    return_reason: str = ""
    unneeded_since: float | None = None
    """Since when its tenant could do without it, without a break."""
    recalled_at: float | None = None
    """A loan: when its lender got something of it back last."""
    hard: bool = False
    """A person asked for an end that may evict."""
    standing: bool = False
    """Its amount is decided anew in every tick: a cap that follows what is safe to lend."""
    ended_at: float | None = None

    @property
    def active(self) -> bool:
        """Not ended: it may hold GPUs away from the baseline."""
        return self.stage is not Stage.ENDED

    @property
    def lends(self) -> bool:
        """It lends a float that stands idle to everybody: its tenant is the lender."""
        return self.destination == SHARED_LEAF

    @property
    def takes(self) -> bool:
        """It lowers an own object, not only gives what stands idle: what the budgets of changes and tenants ration."""
        return self.source != IDLE

    @property
    def inverse(self) -> str:
        """What undoes it, in words."""
        return f"give {counted(self.given, 'GPU')} of pool {self.pool} back from {self.destination} to {self.source}"

    def returning(self, now: float, reason: str, *, hard: bool = False) -> Change:
        """The same change on its way back to the baseline; once on its way it stays so."""
        if self.stage in (Stage.RETURNING, Stage.ENDED):
            return replace(self, hard=self.hard or hard)
        return replace(self, stage=Stage.RETURNING, returning_since=now, return_reason=reason, hard=hard)

    def overruled(self, now: float, reason: str) -> Change:
        """People undid it: nothing of it is asked for any more, and what is left of it on an object is written back."""
        return replace(self.returning(now, reason, hard=True), hard=True, amount=0, taken=0, given=0)

    def ended(self, now: float, reason: str = "") -> Change:
        """Closed: nothing of it is left in force. What was not judged by then can not be told any more."""
        closed = replace(self, stage=Stage.ENDED, taken=0, given=0, ended_at=now)
        closed = replace(closed, return_reason=self.return_reason or reason)
        if closed.verdict is not None:
            return closed
        return replace(closed, verdict=Verdict.CANNOT_TELL, verdict_reason="it ended before it could be judged")

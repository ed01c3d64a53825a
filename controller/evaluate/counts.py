"""Telemetry as a picture to decide on: per tenant and minute, how many GPUs run, wait, stand idle. No jobs are known.

What waits is taken as one piece of work that entered its queue when that was last seen empty. Clocks, names of waiting
and findings are those of the live loop. A minute that is missing is not there: nothing is made up for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from collector.assemble.clocks import Sighting, WaitClocks
from collector.assemble.waiting import named, naming_context
from collector.model.objects import Picture
from collector.model.reading import Known
from collector.model.snapshot import PoolState, Snapshot, TenantPool, Work, WorkPhase
from collector.model.tenancy import Engine, Entitlement, Pool, Site, SizeClass, Tenant, Tier

POOL: Final = Pool("gpus", "nvidia.com/gpu", {}, Engine.KUEUE, flavor="gpus")
PERIOD_SECONDS: Final = 60.0
UNSEEN_START_SECONDS: Final = 2 * PERIOD_SECONDS
"""At most so much of a gap before the first sight of waiting work is taken as waited, too."""
LONGEST_GAP_SECONDS: Final = 1800.0
"""After so long unseen it may be other work that waits: its wait begins anew."""


@dataclass(frozen=True, slots=True)
class Counts:
    """One tenant in one minute, in GPUs. `idle`: of its own quota."""

    tenant: str
    running: int
    pending: int
    idle: int


@dataclass(frozen=True, slots=True)
class _Queue:
    """One tenant's queue: when it was seen last, when it was seen empty last, and since when work waits in it."""

    seen_at: float
    empty_at: float | None = None
    since: float | None = None

    def advance(self, at: float, pending: int) -> _Queue:
        """With one more minute that was seen."""
        if not pending:
            return _Queue(at, at)
        if self.since is not None and at - self.seen_at <= LONGEST_GAP_SECONDS:
            return replace(self, seen_at=at)
        earliest = at - UNSEEN_START_SECONDS
        since = at if self.empty_at is None else min(at, max(self.empty_at + PERIOD_SECONDS, earliest))
        return _Queue(at, self.empty_at, since)


@dataclass(slots=True)
class Telemetry:
    """Turns minute after minute into snapshots. `limit_seconds`: how long work may wait, for every tenant."""

    tenants: Sequence[str]
    limit_seconds: float
    _queues: dict[str, _Queue] = field(default_factory=dict)
    _seen: dict[str, tuple[Sighting, ...]] = field(default_factory=dict)
    _clocks: WaitClocks = field(default_factory=WaitClocks)

    def site(self) -> Site:
        """One tier and one pool for all."""
        tier = Tier("all", 0, {SizeClass.SMALL_GANG: self.limit_seconds})
        return Site("telemetry", (POOL,), (tier,), tuple(Tenant(name, "all") for name in self.tenants))

    def look(self, at: float, minute: Sequence[Counts]) -> Snapshot:
        """The picture at the end of the minute that begins at `at`. Tenants that are missing in it are not there."""
        now, works = at + PERIOD_SECONDS, list[Work]()
        for counts in minute:
            before = self._queues.get(counts.tenant, _Queue(at))
            self._queues[counts.tenant] = before.advance(at, counts.pending)
            own = _works(counts, self._queues[counts.tenant].since, self.limit_seconds)
            self._seen[counts.tenant] = tuple(_sighting(work) for work in own)
            works += own
        # What is not seen in this minute is not known to be gone: its clock goes on.
        self._clocks = self._clocks.advance([one for seen in self._seen.values() for one in seen], now)
        works = [replace(work, waited_seconds=self._waited(work, now)) for work in works]
        states = tuple(_state(counts, works) for counts in minute)
        pools = {POOL.name: PoolState(POOL, (), reserved=sum(one.reserved for one in states))}
        context = naming_context(Picture(now), pools, states, now)
        return Snapshot(now, self.site(), pools, states, tuple(named(work, context) for work in works))

    def _waited(self, work: Work, now: float) -> float:
        clock = self._clocks.of(_sighting(work))
        return clock.waited_seconds(now) if clock is not None else 0.0


def _works(counts: Counts, since: float | None, limit_seconds: float) -> list[Work]:
    """What runs, and what waits, each as one."""
    found = [_work(counts.tenant, "running", counts.running, WorkPhase.RUNNING, 0.0, None)] if counts.running else []
    if counts.pending and since is not None:
        found.append(_work(counts.tenant, "waiting", counts.pending, WorkPhase.WAITING, since, limit_seconds))
    return found


def _work(tenant: str, name: str, gpus: int, phase: WorkPhase, created_at: float, limit: float | None) -> Work:
    key = f"{tenant}/{name}/{created_at:.0f}"
    return Work(
        key=key,
        uid=key,
        kind="counts",
        namespace=tenant,
        name=name,
        tenant=tenant,
        tier="all",
        pool=POOL.name,
        queue=tenant,
        priority=0,
        pods=1,
        gpus_per_pod=gpus,
        gpus=gpus,
        size=SizeClass.SMALL_GANG,
        phase=phase,
        created_at=created_at,
        waited_seconds=0.0,
        limit_seconds=limit,
        ready_at=created_at if phase is WorkPhase.RUNNING else None,
    )


def _sighting(work: Work) -> Sighting:
    return Sighting(
        work.key, work.uid, (work.tenant, work.tier, work.queue), work.waits, work.created_at, work.ready_at
    )


def _state(counts: Counts, works: Sequence[Work]) -> TenantPool:
    """Its quota is what runs and what is idle; beyond it, all that waits counts as its demand."""
    quota = counts.running + counts.idle
    overdue = sum(work.gpus for work in works if work.tenant == counts.tenant and work.overdue)
    return TenantPool(
        tenant=counts.tenant,
        tier="all",
        pool=POOL.name,
        entitlement=Entitlement(POOL.name, quota, burst=quota + counts.pending),
        floating_now=Known(0),
        reserved=counts.running,
        running=counts.running,
        waiting=counts.pending,
        queued=counts.pending,
        overdue=overdue,
    )


def by_minute(rows: Mapping[str, Mapping[float, Counts]]) -> list[tuple[float, tuple[Counts, ...]]]:
    """Tenant → time → counts, as one row per minute in order of time; tenants in order of names."""
    minutes: dict[float, list[Counts]] = {}
    for tenant in sorted(rows):
        for at, counts in rows[tenant].items():
            minutes.setdefault(at, []).append(counts)
    return [(at, tuple(minutes[at])) for at in sorted(minutes)]

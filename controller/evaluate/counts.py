"""Telemetry as a picture to decide on: per tenant and minute, how many GPUs run, wait, stand idle. No jobs are known.

What waits is taken as one piece of work that entered its queue when that was last seen empty. Clocks, names of waiting
and findings are those of the live loop. A minute that is missing is not there: nothing is made up for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
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


@dataclass
class Telemetry:
    """Turns minute after minute into snapshots. `limit_seconds`: how long work may wait, for every tenant."""

    tenants: Sequence[str]
    limit_seconds: float
    _queues: dict[str, _Queue] = field(default_factory=dict)
    _seen: dict[str, Sighting] = field(default_factory=dict)
    _clocks: WaitClocks = field(default_factory=WaitClocks)

    @cached_property
    def site(self) -> Site:
        """One tier and one pool for all."""
        tier = Tier("all", 0, {SizeClass.SMALL_GANG: self.limit_seconds})
        return Site("telemetry", (POOL,), (tier,), tuple(Tenant(name, "all") for name in self.tenants))

    def look(self, at: float, minute: Sequence[Counts]) -> Snapshot:
        """The picture at the end of the minute that begins at `at`. Tenants that are missing in it are not there."""
        now = at + PERIOD_SECONDS
        for counts in minute:
            queue = self._queues.get(counts.tenant, _Queue(at)).advance(at, counts.pending)
            self._queues[counts.tenant] = queue
            self._seen.pop(counts.tenant, None)
            if queue.since is not None:
                key = f"{counts.tenant}/{queue.since:.0f}"
                self._seen[counts.tenant] = Sighting(key, key, (counts.tenant, "all", ""), True, queue.since)
        # What is not seen in this minute is not known to be gone: its clock goes on.
        self._clocks = self._clocks.advance(self._seen.values(), now)
        works = {counts.tenant: self._waiting(counts, now) for counts in minute if counts.tenant in self._seen}
        states = tuple(_state(counts, works.get(counts.tenant)) for counts in minute)
        pools = {POOL.name: PoolState(POOL, (), reserved=sum(one.reserved for one in states))}
        context = naming_context(Picture(now), pools, states, now)
        return Snapshot(now, self.site, pools, states, tuple(named(work, context) for work in works.values()))

    def _waiting(self, counts: Counts, now: float) -> Work:
        """All that waits, as one."""
        sighting = self._seen[counts.tenant]
        clock = self._clocks.of(sighting)
        return Work(
            key=sighting.key,
            uid=sighting.uid,
            kind="counts",
            namespace=counts.tenant,
            name="waiting",
            tenant=counts.tenant,
            tier="all",
            pool=POOL.name,
            queue="",
            priority=0,
            pods=1,
            gpus_per_pod=counts.pending,
            gpus=counts.pending,
            size=SizeClass.SMALL_GANG,
            phase=WorkPhase.WAITING,
            created_at=sighting.created_at,
            waited_seconds=clock.waited_seconds(now) if clock is not None else 0.0,
            limit_seconds=self.limit_seconds,
        )


def _state(counts: Counts, work: Work | None) -> TenantPool:
    """Its quota is what runs and what is idle; beyond it, all that waits counts as its demand."""
    quota = counts.running + counts.idle
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
        overdue=work.gpus if work is not None and work.overdue else 0,
    )


def by_minute(rows: Mapping[str, Mapping[float, Counts]]) -> list[tuple[float, tuple[Counts, ...]]]:
    """Tenant → time → counts, as one row per minute in order of time; tenants in order of names."""
    minutes: dict[float, list[Counts]] = {}
    for tenant in sorted(rows):
        for at, counts in rows[tenant].items():
            minutes.setdefault(at, []).append(counts)
    return [(at, tuple(minutes[at])) for at in sorted(minutes)]

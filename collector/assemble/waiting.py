"""Why a workload waits, by name and in one sentence (design.md 4: waiting, named). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from collector.assemble.waiting_grouped import grouped_waiting, share_queue_problem
from collector.assemble.waiting_native import gpus_are, native_waiting
from collector.model.objects import Picture
from collector.model.quantities import counted, format_duration
from collector.model.reading import Unknown
from collector.model.snapshot import PoolState, TenantPool, WaitingName, Work, WorkPhase
from collector.model.tenancy import Engine

_NAMED_BORROWERS = 3


class Doors:
    """The queues through which work comes in, looked up by name."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._doors = {(door.namespace, door.name): door for door in picture.local_queues}

    def problem(self, work: Work, resource: str) -> str | None:
        """Why nothing comes through the queue of this work, or None."""
        if work.scheduler is not None:
            return share_queue_problem(work, resource, self._picture.share_queues)
        door = self._doors.get((work.namespace, work.queue))
        if door is None:
            return f"its queue {work.namespace}/{work.queue} does not exist"
        queue = self._picture.cluster_queues.get(door.cluster_queue)
        if queue is None:
            return f"its queue leads to ClusterQueue {door.cluster_queue}, which does not exist"
        if door.stopped or queue.stop_policy != "None":
            return f"its queue is stopped ({door.name if door.stopped else queue.name})"
        if not queue.active:
            return f"ClusterQueue {queue.name} is not active: {queue.inactive_reason or 'no reason given'}"
        return None


def ineligible_reason(work: Work, doors: Doors, pools: Mapping[str, PoolState], held: TenantPool | None) -> str | None:
    """Why it can not start whatever the quota, or None."""
    if work.phase is WorkPhase.SUSPENDED:
        return "suspended by its user"
    state = pools.get(work.pool or "")
    if state is None:
        return "no known pool offers what it asks for"
    if work.gpus_per_pod > state.gpus_per_node:
        asked = counted(work.gpus_per_pod, "GPU")
        return f"a pod asks for {asked}, the largest node of pool {work.pool} has {state.gpus_per_node}"
    total = state.total
    if work.gpus > total:
        return f"asks for {counted(work.gpus, 'GPU')}, pool {work.pool} has {total}"
    ceiling = held.entitlement.ceiling if held else None
    if ceiling is not None and work.gpus > ceiling:
        return f"asks for {counted(work.gpus, 'GPU')}, above its tenant's ceiling of {ceiling}"
    waits = work.phase is WorkPhase.WAITING
    if waits and held is not None and ceiling is not None and held.reserved + work.gpus > ceiling:
        return f"its tenant uses {held.reserved} of its ceiling of {counted(ceiling, 'GPU')}"
    return doors.problem(work, state.pool.resource) if work.queue else None


NameAndWhy: TypeAlias = tuple[WaitingName | None, str]


@dataclass(frozen=True, slots=True)
class Named:
    """What naming needs to see besides the work itself."""

    picture: Picture
    pools: Mapping[str, PoolState]
    tenants: Mapping[tuple[str, str], TenantPool]
    """By tenant and pool."""
    borrowed: Mapping[str, Mapping[str, int]]
    """Pool → tenant → GPUs in use beyond its own entitlement; only those who use any, in order of names."""
    now: float
    _places: dict[tuple[str, int], int] = field(default_factory=dict, compare=False)
    _others: dict[tuple[str, str], tuple[Mapping[str, int], str]] = field(default_factory=dict, compare=False)

    def borrowed_by_others(self, own: TenantPool) -> tuple[Mapping[str, int], str]:
        """Tenant → GPUs that others than `own` borrow of its pool, and the same in words. Told once per tenant."""
        key = (own.tenant, own.pool)
        if key not in self._others:
            others = {name: gpus for name, gpus in self.borrowed.get(own.pool, {}).items() if name != own.tenant}
            self._others[key] = others, _borrowers(others)
        return self._others[key]

    def fits(self, work: Work) -> bool:
        """Whether nodes are free for all pods of a work now. Counted once per pool and size of pod."""
        key = (work.pool or "", work.gpus_per_pod)
        if key not in self._places:
            self._places[key] = self.pools[key[0]].places(key[1])
        return self._places[key] >= work.pods


def naming_context(
    picture: Picture, pools: Mapping[str, PoolState], tenants: Iterable[TenantPool], now: float
) -> Named:
    """Put together what naming needs."""
    by_key = {(item.tenant, item.pool): item for item in tenants}
    borrowed: dict[str, dict[str, int]] = defaultdict(dict)
    for item in sorted((one for one in by_key.values() if one.borrowed() > 0), key=lambda one: one.tenant):
        borrowed[item.pool][item.tenant] = item.borrowed()
    return Named(picture, pools, by_key, borrowed, now)


def named(work: Work, context: Named) -> Work:
    """The work with its name of waiting and a sentence; as it was when its clock does not run."""
    if not work.waits and work.ineligible is None:
        return work
    waiting, why = name_of_waiting(work, context)
    return replace(work, waiting=waiting, why=why)


def name_of_waiting(work: Work, context: Named) -> NameAndWhy:
    """The name of a work's waiting, None where nothing tells, and a sentence."""
    if work.ineligible is not None:
        return WaitingName.INELIGIBLE, f"Can not start: {work.ineligible}."
    state = context.pools[work.pool or ""]
    own = context.tenants.get((work.tenant, work.pool or ""))
    if work.sent_from is not None:
        sentence = f"MultiKueue sent it from {work.sent_from}, where its wait is counted."
        return WaitingName.WITHIN_LIMIT, sentence
    if not work.overdue:
        limit = "no limit is set" if work.limit_seconds is None else f"limit {format_duration(work.limit_seconds)}"
        sentence = f"Has waited {format_duration(work.waited_seconds)} ({limit})."
        return WaitingName.WITHIN_LIMIT, sentence
    if work.phase is WorkPhase.STARTING:
        return _starting(work, state, context.now)
    if own is None:
        return None, "Its tenant has no entitlement in this pool."
    if work.scheduler is not None:
        return grouped_waiting(work, state, context.picture.share_queues)
    if state.pool.engine is Engine.NATIVE or work.pods_missing:
        return native_waiting(work, state, context.picture)
    return _queued(work, state, own, context)


def _starting(work: Work, state: PoolState, now: float) -> NameAndWhy:
    bound = sum(work.nodes.values())
    missing_pods = (work.gpus - bound) // max(1, work.gpus_per_pod)
    if missing_pods > 0 and not state.fits(missing_pods, work.gpus_per_pod):
        sentence = f"Admitted, but {missing_pods} of its pods find no node with {work.gpus_per_pod} free GPUs."
        return WaitingName.BLOCKED, sentence
    since_admission = now - (work.admitted_at if work.admitted_at is not None else work.created_at)
    if since_admission <= (work.limit_seconds or 0.0):
        sentence = f"Admitted {format_duration(since_admission)} ago; its pods are starting."
        return WaitingName.WITHIN_LIMIT, sentence
    sentence = "Admitted, nodes are free, and yet its pods are not Ready: look at the scheduler and at its pods."
    return WaitingName.BROKEN, sentence


def _queued(work: Work, state: PoolState, own: TenantPool, context: Named) -> NameAndWhy:
    entitled = own.entitled_now
    if isinstance(entitled, Unknown):
        return None, f"Can not be named: {entitled.reason}."
    free_own = entitled.value - own.reserved
    others, lent = context.borrowed_by_others(own)
    if work.gpus > free_own:
        used = f"{own.tenant} uses {own.reserved} of its {counted(entitled.value, 'GPU')} and asks for {work.gpus} more"
        if others:
            cure = f"{counted(work.gpus - max(0, free_own), 'GPU')} of float would start it"
            return WaitingName.STARVED, f"{used}, while {lent}; {cure}."
        sentence = f"{used}, and nobody borrows: the pool is too small for what was asked."
        return WaitingName.SHORT_OF_CAPACITY, sentence
    if not context.fits(work):
        return WaitingName.BLOCKED, _no_nodes(work, state, others)
    idle_since = own.last_admission_at if own.last_admission_at is not None else work.created_at
    quiet = context.now - max(idle_since, work.created_at)
    if quiet > (work.limit_seconds or 0.0):
        admitted = f"nothing was admitted for {format_duration(quiet)}"
        sentence = f"Quota and nodes are free, and {admitted}: look at the scheduler."
        return WaitingName.BROKEN, sentence
    return WaitingName.WITHIN_LIMIT, "Quota and nodes are free: it should start now."


def _no_nodes(work: Work, state: PoolState, others: Mapping[str, int]) -> str:
    if not state.nodes:
        return "Its quota is free, and yet it waits: where free GPUs lie is not known; perhaps fragmentation."
    shape, free = f"{work.pods} x {work.gpus_per_pod}", state.free
    if free < work.gpus and others:
        return f"Its quota is free, but only {gpus_are(free)}, while {_borrowers(others)}: not reclaimed yet."
    told = "fragmentation" if free >= work.gpus else f"only {gpus_are(free)} free at all"
    return f"Its quota is free, but no nodes have {shape} GPUs free: {told}."


def _borrowers(others: Mapping[str, int]) -> str:
    """Who borrows most, by name; the rest as a count."""
    largest = sorted(others.items(), key=lambda item: (-item[1], item[0]))
    named_ones = ", ".join(f"{tenant} borrows {gpus}" for tenant, gpus in largest[:_NAMED_BORROWERS])
    rest = len(largest) - _NAMED_BORROWERS
    return named_ones if rest <= 0 else f"{named_ones} and {rest} more borrow"

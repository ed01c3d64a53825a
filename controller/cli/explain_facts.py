"""Why a piece of work waits and how a tenant stands: facts out of a view, in the order a person asks for them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collector.accounting.schema.rows import Transition
from collector.assemble.holdings import quota_groups
from collector.assemble.native_quota import native_guarantee
from collector.assemble.never import never_start
from collector.model.objects import ClusterQueue
from collector.model.quantities import counted, format_duration
from collector.model.reading import Unknown
from collector.model.snapshot import Lie, PoolState, TenantPool, UseTold, WaitingName, Work, WorkPhase
from collector.model.tenancy import Engine, Tenant
from controller.cli.not_known import OF_GPUS, unseen
from controller.cli.view import View
from controller.policy.findings import queue_order


@dataclass(frozen=True, slots=True)
class Holder:
    """A tenant that holds quota of a pool, and the works it holds it with, the largest first."""

    state: TenantPool
    works: tuple[Work, ...]


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """Everything `explain` says of one piece of work."""

    work: Work
    why: str
    order: str
    """How its queue serves, in words; "" when it does not wait in one."""
    ahead: tuple[Work, ...]
    """Waiting work that its queue serves before it."""
    queue_length: int
    own: TenantPool | None
    holders: tuple[Holder, ...]
    """Most borrowed first."""
    help: tuple[str, ...]
    lies: tuple[Lie, ...]
    troubles: tuple[str, ...] = ()
    """What its gang and its GPUs suffer from."""
    not_judged: str = ""
    """Why it can not be told whether it hangs; "" where it can, and of what does not run."""
    storage: tuple[str, ...] = ()
    """How it uses each of its claims that moves much, a sentence each."""
    history: tuple[Transition, ...] = ()
    """What happened to it so far, where a history is kept."""


@dataclass(frozen=True, slots=True)
class TenantFacts:
    """Everything `explain` says of one tenant."""

    tenant: Tenant
    source: str
    namespaces: tuple[str, ...]
    states: tuple[TenantPool, ...]
    waits: tuple[Work, ...]
    idle: int
    unread: int
    lies: tuple[Lie, ...]
    troubles: tuple[str, ...] = ()
    """What its gangs and its GPUs suffer from."""
    storage: tuple[UseTold, ...] = ()


def work_facts(view: View, work: Work) -> WorkFacts:
    """What keeps this work, who is ahead, who holds the quota, what would help."""
    impossible = () if unseen(view.picture, OF_GPUS) else never_start(view.picture, view.snapshot)
    never = next((item.reason for item in impossible if item.work.uid == work.uid), "")
    hopes = work.waits and not never and work.ineligible is None and not view.waits_hidden
    queue = _same_queue(view, work) if hopes and work.phase is WorkPhase.WAITING else ()
    position = next((n for n, one in enumerate(queue) if one.uid == work.uid), 0)
    own = view.snapshot.tenant_pool(work.tenant, work.pool or "")
    return WorkFacts(
        work=work,
        why=f"Can never start: {never}." if never else work.why or _state(view, work),
        order=_order(view, work) if queue else "",
        ahead=queue[:position],
        queue_length=len(queue),
        own=own,
        holders=_holders(view, work.pool) if hopes else (),
        help=tuple(_help(view, work, own)) if hopes else (),
        lies=_lies_about(view, work.tenant, work.pool),
        troubles=_troubles_of(view, work),
        not_judged=_not_judged(view, work),
        storage=tuple(_claims(view, work)),
    )


def tenant_facts(view: View, tenant: Tenant) -> TenantFacts:
    """How a tenant stands in each pool, what of it waits, what it holds without use."""
    spaces = sorted(name for name, owner in view.snapshot.namespace_tenants.items() if owner == tenant.name)
    held = [one for ledger in view.ledgers for one in ledger.holders if one.pod.namespace in spaces]
    waits = [work for work in view.snapshot.works if work.tenant == tenant.name and work.waits]
    return TenantFacts(
        tenant=tenant,
        source=view.inferred.tenant_reasons.get(tenant.name, "") if view.inferred else "its document",
        namespaces=tuple(spaces),
        states=tuple(state for state in view.snapshot.tenants if state.tenant == tenant.name),
        waits=tuple(sorted(waits, key=lambda work: (-work.waited_seconds, work.key))),
        idle=sum(one.idle for one in held),
        unread=sum(one.unknown for one in held),
        lies=_lies_about(view, tenant.name, None),
        troubles=(
            *(one.cause.sentence for one in view.troubles.gangs if one.tenant == tenant.name),
            *(one.sentence for one in view.troubles.devices if one.tenant == tenant.name),
        ),
        storage=view.storage.tenants.get(tenant.name, ()),
    )


def _troubles_of(view: View, work: Work) -> tuple[str, ...]:
    pods = {f"{work.namespace}/{pod}" for pod in work.pod_names}
    return (
        *(one.cause.sentence for one in view.troubles.gangs if one.key == work.uid),
        *(one.sentence for one in view.troubles.devices if one.holder in pods),
    )


def _not_judged(view: View, work: Work) -> str:
    if view.devices.missing:
        return ""
    spins = (one.spins for one in view.troubles.unjudged if one.key == work.uid)
    return next((one.reason for one in spins if isinstance(one, Unknown)), "")


def _claims(view: View, work: Work) -> Iterator[str]:
    """Claims of its pods."""
    pods = (pod for pod in view.picture.pods.values() if pod.namespace == work.namespace)
    for claim in sorted({claim for pod in pods if pod.name in work.pod_names for claim in pod.claims}):
        sentence = view.storage.volumes.get((work.namespace, claim))
        if sentence is not None:
            yield f"{claim}: {sentence}"


def _state(view: View, work: Work) -> str:
    waited = format_duration(work.waited_seconds)
    if work.phase is not WorkPhase.RUNNING:
        return f"It is {work.phase.value}; it waited {waited}."
    since = "" if work.ready_at is None else f" since {format_duration(view.now - work.ready_at)}"
    held = [
        one
        for ledger in view.ledgers
        for one in ledger.holders
        if one.pod.namespace == work.namespace and work.name in (one.pod.name, one.pod.owner and one.pod.owner.name)
    ]
    counts = {state: sum(getattr(one, state) for one in held) for state in ("active", "idle", "sick", "unknown")}
    use = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    if not use and unseen(view.picture, OF_GPUS):
        use = "not known"
    return f"It runs{since} on {', '.join(work.nodes) or 'no node that is known'}; its GPUs: {use or 'none'}."


def _queue_of(view: View, work: Work) -> ClusterQueue | None:
    leads_to = {(door.namespace, door.name): door.cluster_queue for door in view.picture.local_queues}
    return view.picture.cluster_queues.get(leads_to.get((work.namespace, work.queue), ""))


def _order(view: View, work: Work) -> str:
    queue = _queue_of(view, work)
    if queue is None:
        return "By priority, then by age, over all tenants."
    if queue.strategy == "StrictFIFO":
        return f"ClusterQueue {queue.name} is strict: while the head does not fit, nobody behind it starts."
    return f"ClusterQueue {queue.name} lets work that fits pass a head that does not."


def _same_queue(view: View, work: Work) -> tuple[Work, ...]:
    """Waiting work behind the same ClusterQueue; without a queue all that waits for the same pool."""
    leads_to = {(door.namespace, door.name): door.cluster_queue for door in view.picture.local_queues}
    own = leads_to.get((work.namespace, work.queue))
    waiting = [one for one in view.snapshot.works if one.phase is WorkPhase.WAITING and one.ineligible is None]
    if work.queue:
        return queue_order([one for one in waiting if one.queue and leads_to.get((one.namespace, one.queue)) == own])
    return queue_order([one for one in waiting if not one.queue and one.pool == work.pool])


def _holders(view: View, pool: str | None) -> tuple[Holder, ...]:
    states = [state for state in view.snapshot.tenants if state.pool == pool and state.reserved > 0]
    holders = []
    for state in sorted(states, key=lambda one: (-one.borrowed(), -one.reserved, one.tenant)):
        works = [
            work
            for work in view.snapshot.works
            if (work.tenant, work.pool) == (state.tenant, pool)
            and work.phase in (WorkPhase.RUNNING, WorkPhase.STARTING)
        ]
        holders.append(Holder(state, tuple(sorted(works, key=lambda work: (-work.gpus, work.key)))))
    return tuple(holders)


def _help(view: View, work: Work, own: TenantPool | None) -> Iterator[str]:
    state = view.snapshot.pools.get(work.pool or "")
    if state is None or work.ineligible is not None:
        return
    yield from _own_idle(view, work)
    missing = _missing_quota(view, work, state, own)
    others = [one for one in view.snapshot.tenants if one.pool == work.pool and one.tenant != work.tenant]
    lent = sum(one.borrowed() for one in others)
    if missing > 0:
        rest = f"others borrow {lent}." if lent else "nobody borrows, so they would have to be given or bought."
        yield f"{counted(missing, 'GPU')} more of its tenant's own quota would admit it; {rest}"
    elif lent and state.free < work.gpus:
        yield f"Its own quota is free, and those who borrow {lent} hold the GPUs{_reclaim(view, work)}."
    yield _places(state, work, missing)
    if work.waiting is WaitingName.BROKEN:
        yield "Neither quota nor nodes keep it: look at the scheduler, its webhooks and the events of its pods."


def _missing_quota(view: View, work: Work, state: PoolState, own: TenantPool | None) -> int:
    """GPUs of quota that it lacks; 0 where no quota stands between it and the nodes, or nobody knows."""
    native = state.pool.engine is Engine.NATIVE
    if native and native_guarantee(view.picture, state.pool.resource, work.namespace) is None:
        return 0
    if own is None or isinstance(own.entitled_now, Unknown):
        return 0
    return max(0, work.gpus - max(0, own.entitled_now.value - own.reserved))


def _reclaim(view: View, work: Work) -> str:
    queue = _queue_of(view, work)
    return f": ClusterQueue {queue.name} has reclaimWithinCohort: {queue.reclaim_within_cohort}" if queue else ""


def _own_idle(view: View, work: Work) -> Iterator[str]:
    names = [
        (one.idle, f"{one.pod.namespace}/{one.pod.owner.name if one.pod.owner else one.pod.name}")
        for ledger in view.ledgers
        if ledger.pool == work.pool
        for one in ledger.holders
        if one.idle and view.snapshot.namespace_tenants.get(one.pod.namespace) == work.tenant
    ]
    if names:
        idle = sum(count for count, _ in names)
        holders = ", ".join(sorted({name for _, name in names}))
        verb = "computes" if idle == 1 else "compute"
        yield f"{counted(idle, 'GPU')} that {work.tenant} holds itself {verb} nothing ({holders})."


def _places(state: PoolState, work: Work, missing_quota: int) -> str:
    size = max(1, work.gpus_per_pod)
    places = sum(node.free // size for node in state.nodes)
    free = state.free
    if places >= work.pods:
        verdict = ": only quota keeps it." if missing_quota else "."
        return f"Nodes have room for all its pods now ({work.pods} × {size} of {counted(free, 'free GPU')}){verdict}"
    asked = f"{counted(work.pods, 'pod')} of {counted(size, 'GPU')}"
    return f"Nodes have room for {places} of {asked} now ({counted(free, 'GPU')} free in all)."


def _lies_about(view: View, tenant: str, pool: str | None) -> tuple[Lie, ...]:
    """Lies about the tenant, its namespaces, the objects that hold its quota, or the pool."""
    spaces = {name for name, owner in view.snapshot.namespace_tenants.items() if owner == tenant}
    places = {f"tenant {tenant}", *(f"namespace {name}" for name in spaces)}
    places |= {f"pool {state.pool}" for state in view.snapshot.tenants if state.tenant == tenant and pool is None}
    places |= {f"pool {pool}"} if pool else set()
    for group in quota_groups(view.picture):
        if group.namespaces & spaces:
            places |= {group.place, *(f"ClusterQueue {queue.name}" for queue in group.queues)}
    return tuple(lie for lie in view.lies if lie.where in places or any(f" {space}/" in lie.where for space in spaces))

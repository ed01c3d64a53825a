"""Snapshots as plain data with stable snake_case keys: what `-o json` of every reading verb is made of. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from collector.assemble.gpu_ledger import HeldGpus, PoolLedger, SickDevice
from collector.model.quantities import format_time
from collector.model.reading import Reading, Unknown
from collector.model.snapshot import Lie, TenantPool, UseTold, Work
from controller.cli.accounting_text import row_record
from controller.cli.explain_facts import TenantFacts, WorkFacts
from controller.cli.view import View


def value_of(reading: Reading[Any]) -> Any:
    """The value, or null: the reason is told beside it, where it matters."""
    return None if isinstance(reading, Unknown) else reading.value


def header_record(view: View) -> dict[str, Any]:
    """Which cluster was looked at, when, and what could not be read."""
    return {
        "taken_at": format_time(view.now),
        "server": view.server,
        "cluster": view.site.cluster,
        "tenants_from": "documents" if view.inferred is None else "inferred",
        "gpu_readings_problem": view.devices.missing or None,
        "not_readable": dict(view.picture.unreadable),
        "not_served": sorted(view.picture.unserved),
        "not_understood": {kind: list(problems) for kind, problems in view.picture.malformed.items()},
        "not_known": [gap.record() for gap in view.gaps],
    }


def work_record(work: Work) -> dict[str, Any]:
    """One piece of work and its wait."""
    return {
        "tenant": work.tenant,
        "tier": work.tier,
        "namespace": work.namespace,
        "name": work.name,
        "kind": work.kind,
        "uid": work.uid,
        "pool": work.pool,
        "queue": work.queue,
        "priority": work.priority,
        "pods": work.pods,
        "gpus_per_pod": work.gpus_per_pod,
        "gpus": work.gpus,
        "size": work.size.value,
        "phase": work.phase.value,
        "waited_seconds": round(work.waited_seconds, 1),
        "waited_is_lower_bound": work.waited_is_lower_bound,
        "limit_seconds": work.limit_seconds,
        "overdue": work.overdue,
        "waiting": work.waiting.value if work.waiting else None,
        "why": work.why,
        "ineligible": work.ineligible,
        "evictions": work.evictions,
        "evicted_by": work.evicted_by,
        "nodes": dict(work.nodes),
    }


def listed(records: list[dict[str, Any]], *, hidden: bool) -> list[dict[str, Any]] | None:
    """What was found; null where nothing was, and something may have been hidden: an empty list would deny it."""
    return None if hidden and not records else records


def tenant_record(state: TenantPool, view: View) -> dict[str, Any]:
    """One tenant in one pool: what was agreed, what it uses, what it lacks. In GPUs; null is not known."""
    use_hidden, waits_hidden = view.use_hidden, view.waits_hidden
    return {
        "tenant": state.tenant,
        "tier": state.tier,
        "pool": state.pool,
        "guarantee": state.entitlement.guarantee,
        "floating": value_of(state.floating_now),
        "floating_agreed": state.entitlement.floating,
        "entitled": value_of(state.entitled_now),
        "burst": state.entitlement.burst_gpus,
        "ceiling": state.entitlement.ceiling,
        "used": None if use_hidden else state.reserved,
        "running": None if use_hidden else state.running,
        "borrowed": None if use_hidden or isinstance(state.entitled_now, Unknown) else state.borrowed(),
        "waiting": None if waits_hidden else state.waiting,
        "overdue": None if waits_hidden else state.overdue,
        "shortfall": None if waits_hidden else state.shortfall,
    }


def ledger_record(ledger: PoolLedger) -> dict[str, Any]:
    """Where the GPUs of a pool stand. The counts add up to `total`; null counts as nothing there: it is not known."""
    unread = ledger.unknown > 0 and ledger.active + ledger.idle_held == 0
    hidden = bool(ledger.not_seen)
    return {
        "pool": ledger.pool or None,
        "resource": ledger.resource,
        "total": None if "nodes" in ledger.not_seen else ledger.total,
        "active": None if hidden or unread else ledger.active,
        "idle_held": None if hidden or unread else ledger.idle_held,
        "free": None if hidden else ledger.free,
        "stranded": None if hidden else ledger.stranded,
        "sick": None if hidden else ledger.sick,
        "unknown": None if hidden else ledger.unknown,
        "stranded_on": None
        if hidden
        else [{"reason": one.reason, "gpus": one.gpus, "nodes": list(one.nodes)} for one in ledger.stranded_on],
        "unknown_why": ledger.unknown_why or None,
        "gpus_per_pod_of_most_work": ledger.pod_size,
    }


def held_record(held: HeldGpus, tenant: str, held_seconds: float) -> dict[str, Any]:
    """A pod that holds GPUs."""
    return {
        "tenant": tenant,
        "namespace": held.pod.namespace,
        "pod": held.pod.name,
        "owner": held.pod.owner.name if held.pod.owner else None,
        "node": held.pod.node,
        "gpus": held.gpus,
        "idle_gpus": held.idle,
        "held_seconds": round(held_seconds, 1),
    }


def sick_record(device: SickDevice) -> dict[str, Any]:
    """A device that must be looked at."""
    return {
        "node": device.node,
        "gpu": device.index,
        "uuid": device.uuid,
        "model": device.model,
        "xid": device.xid,
        "held_by": list(device.holders),
    }


def lie_record(lie: Lie) -> dict[str, Any]:
    """A setting that promises what it can not hold."""
    return {"where": lie.where, "sentence": lie.sentence}


def storage_record(uses: Iterable[UseTold]) -> list[dict[str, Any]]:
    """How a tenant uses its storage; empty where it is not known."""
    return [{"storage": one.storage, "pattern": one.pattern, "advice": list(one.advice)} for one in uses]


def work_facts_record(facts: WorkFacts, view: View) -> dict[str, Any]:
    """Everything about one piece of work; null is not known."""
    hidden = view.waits_hidden
    return {
        **work_record(facts.work),
        "why": facts.why,
        "queue_order": facts.order or None,
        "queue_length": None if hidden else facts.queue_length,
        "ahead": None if hidden else [work_record(work) for work in facts.ahead],
        "own_quota": tenant_record(facts.own, view) if facts.own else None,
        "holders": None
        if hidden
        else [
            {**tenant_record(holder.state, view), "works": [work_record(work) for work in holder.works]}
            for holder in facts.holders
        ],
        "troubles": None if view.devices.missing else list(facts.troubles),
        "hang_not_known": facts.not_judged or None,
        "would_help": None if hidden else list(facts.help),
        "history": [row_record(row) for row in facts.history],
        "lies": [lie_record(lie) for lie in facts.lies],
        "storage": list(facts.storage),
    }


def tenant_facts_record(facts: TenantFacts, view: View) -> dict[str, Any]:
    """Everything about one tenant; null is not known."""
    return {
        "name": facts.tenant.name,
        "tier": facts.tenant.tier,
        "known_from": facts.source,
        "namespaces": list(facts.namespaces),
        "pools": listed([tenant_record(state, view) for state in facts.states], hidden=view.use_hidden),
        "objectives": [
            {"name": one.name, "kind": one.kind.value, "target": one.target, "window_seconds": one.window_seconds}
            for one in facts.tenant.objectives
        ],
        "idle_gpus": None if view.use_hidden or view.devices.missing else facts.idle,
        "held_gpus_without_reading": None if view.use_hidden else facts.unread,
        "troubles": None if view.devices.missing else list(facts.troubles),
        "waits": listed([work_record(work) for work in facts.waits], hidden=view.waits_hidden),
        "lies": [lie_record(lie) for lie in facts.lies],
        "storage": storage_record(facts.storage),
    }

"""What `trimtab look` found, before anybody decides how to show it. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from collector.assemble.gpu_ledger import HeldGpus, SickDevice, sick_devices, total_of
from collector.assemble.never import NeverStarts, never_start
from collector.model.snapshot import Work
from collector.model.tenancy import UNASSIGNED
from controller.cli.inferred_text import inferred_documents
from controller.cli.records import (
    header_record,
    held_record,
    ledger_record,
    lie_record,
    sick_record,
    tenant_record,
    work_record,
)
from controller.cli.view import View

MOST_LISTED: Final = 10


@dataclass(frozen=True, slots=True)
class IdleHolder:
    """A piece of work whose GPUs compute nothing."""

    tenant: str
    namespace: str
    name: str
    gpus: int
    idle: int
    held_seconds: float
    pods: tuple[HeldGpus, ...]


@dataclass(frozen=True, slots=True)
class LookReport:
    """One screen's worth of facts."""

    view: View
    waits: tuple[Work, ...]
    """All eligible work whose clock runs, the longest wait first."""
    never: tuple[NeverStarts, ...]
    idle: tuple[IdleHolder, ...]
    sick: tuple[SickDevice, ...]
    documents: str
    """The inferred documents; "" when they were given."""

    @property
    def overdue(self) -> tuple[Work, ...]:
        """Waits beyond their limit."""
        return tuple(work for work in self.waits if work.overdue)

    @property
    def findings(self) -> int:
        """How many things a person should look at. What could not be read counts: nobody can say that it is well."""
        hidden = len(self.view.picture.unreadable) + len(self.view.picture.malformed)
        return len(self.overdue) + len(self.never) + len(self.sick) + len(self.view.lies) + hidden


def look_report(view: View) -> LookReport:
    """Sort what the view shows by what hurts most."""
    never = never_start(view.picture, view.snapshot)
    hopeless = {item.work.uid for item in never}
    waits = [work for work in view.snapshot.works if work.waits and not work.ineligible and work.uid not in hopeless]
    return LookReport(
        view=view,
        waits=tuple(sorted(waits, key=lambda work: (-work.waited_seconds, work.key, work.uid))),
        never=never,
        idle=_idle_holders(view),
        sick=sick_devices(view.devices),
        documents=inferred_documents(view.inferred, view.now) if view.inferred else "",
    )


def report_record(report: LookReport) -> dict[str, Any]:
    """The whole report as plain data."""
    view = report.view
    return {
        **header_record(view),
        "findings": report.findings,
        "pools": [ledger_record(ledger) for ledger in view.ledgers],
        "all_gpus": ledger_record(total_of(view.ledgers)),
        "waiting_count": len(report.waits),
        "overdue_count": len(report.overdue),
        "longest_waits": [work_record(work) for work in report.waits[:MOST_LISTED]],
        "never_start": [{**work_record(item.work), "reason": item.reason} for item in report.never],
        "idle_holders": [
            held_record(held, holder.tenant, view.now - _since(held)) for holder in report.idle for held in holder.pods
        ],
        "sick_devices": [sick_record(device) for device in report.sick],
        "lies": [lie_record(lie) for lie in view.lies],
        "tenants": [tenant_record(state) for state in view.snapshot.tenants],
        "inferred_documents": report.documents or None,
    }


def _idle_holders(view: View) -> tuple[IdleHolder, ...]:
    pods: dict[tuple[str, str], list[HeldGpus]] = defaultdict(list)
    for ledger in view.ledgers:
        for held in ledger.holders:
            if held.idle:
                name = held.pod.owner.name if held.pod.owner else held.pod.name
                pods[held.pod.namespace, name].append(held)
    holders = [
        IdleHolder(
            tenant=view.snapshot.namespace_tenants.get(namespace, UNASSIGNED),
            namespace=namespace,
            name=name,
            gpus=sum(one.gpus for one in held),
            idle=sum(one.idle for one in held),
            held_seconds=max(view.now - _since(one) for one in held),
            pods=tuple(held),
        )
        for (namespace, name), held in pods.items()
    ]
    return tuple(sorted(holders, key=lambda one: (-one.idle * one.held_seconds, one.namespace, one.name)))


def _since(held: HeldGpus) -> float:
    return held.pod.ready_at if held.pod.ready_at is not None else held.pod.created_at

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
from controller.cli.not_known import OF_GPUS, unseen
from controller.cli.records import (
    header_record,
    held_record,
    ledger_record,
    lie_record,
    listed,
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
        return sum(count for count, _, _ in self.counted_findings)

    @property
    def counted_findings(self) -> tuple[tuple[int, str, str], ...]:
        """How many of each kind, with the words for one and for several; they add up to `findings`."""
        return (
            (len(self.overdue), "wait beyond its limit", "waits beyond their limits"),
            (len(self.never), "workload that can never start", "workloads that can never start"),
            (len(self.sick), "sick device", "sick devices"),
            (len(self.view.lies), "setting that can not be true", "settings that can not be true"),
            (len(self.view.gaps), "thing that was not seen", "things that were not seen"),
        )


def look_report(view: View) -> LookReport:
    """Sort what the view shows by what hurts most."""
    never = () if unseen(view.picture, OF_GPUS) else never_start(view.picture, view.snapshot)
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
    """The whole report as plain data; null is not known, and why stands under `not_known` or beside it."""
    view, hidden = report.view, report.view.waits_hidden
    return {
        **header_record(view),
        "findings": report.findings,
        "pools": listed([ledger_record(ledger) for ledger in view.ledgers], hidden=unseen(view.picture, ("nodes",))),
        "all_gpus": None if unseen(view.picture, ("nodes",)) else ledger_record(total_of(view.ledgers)),
        "waiting_count": None if hidden else len(report.waits),
        "overdue_count": None if hidden else len(report.overdue),
        "longest_waits": listed([work_record(work) for work in report.waits[:MOST_LISTED]], hidden=hidden),
        "never_start": listed(
            [{**work_record(item.work), "reason": item.reason} for item in report.never], hidden=hidden
        ),
        "idle_holders": listed(_idle_records(report), hidden=view.use_hidden or bool(view.devices.missing)),
        "sick_devices": listed([sick_record(one) for one in report.sick], hidden=bool(view.devices.missing)),
        "lies": listed([lie_record(lie) for lie in view.lies], hidden=bool(view.picture.unreadable)),
        "tenants": listed([tenant_record(state, view) for state in view.snapshot.tenants], hidden=view.use_hidden),
        "inferred_documents": report.documents or None,
    }


def _idle_records(report: LookReport) -> list[dict[str, Any]]:
    now = report.view.now
    return [held_record(held, one.tenant, now - _since(held)) for one in report.idle for held in one.pods]


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

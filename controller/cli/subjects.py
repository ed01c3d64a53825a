"""Which workload, tenant or change a person means by a name. Asks the ledger only when nothing else has the name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from collector.model.snapshot import Work
from collector.model.tenancy import UNASSIGNED, Tenant
from collector.sources.errors import SourceError
from controller.api.errors import InputError, Mistake
from controller.cli.names import nearest
from controller.cli.not_known import raise_when_hidden
from controller.cli.view import View
from controller.policy.change import Change
from controller.runtime.ledger_store import LedgerStore

Subject: TypeAlias = Work | Tenant | Change


def subject(name: str, view: View, ledger: LedgerStore) -> Subject:
    """The one thing of that name. Raises InputError when there is not one, and Failed when it may only be hidden."""
    kind, _, rest = name.partition("/")
    if kind not in ("workload", "tenant", "change") or not rest:
        kind, rest = "", name
    found: dict[str, Subject] = {}
    if kind in ("", "workload"):
        found |= _works(view, rest)
    if kind in ("", "tenant"):
        found |= _tenants(view, rest)
    problem = ""
    if kind == "change" or (not kind and not found and len(rest) >= 4):
        changes, problem = _changes(ledger, rest)
        found |= changes
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        listed = ", ".join(sorted(found)[:8]) + (", …" if len(found) > 8 else "")
        raise InputError((Mistake("NAME", name, f"one of the {len(found)} that this may mean: {listed}"),))
    raise_when_hidden(view.picture, f"workload, tenant or change {name}")
    raise InputError((Mistake("NAME", name, f"a workload, tenant or change{_near(view, rest)}{problem}"),))


def _works(view: View, name: str) -> Mapping[str, Subject]:
    """By namespace/name, name, uid, or the name of the Kueue Workload behind it."""
    found: dict[str, Subject] = {}
    for work in view.snapshot.works:
        queued = view.picture.workloads.get(work.uid)
        alias = {
            work.title,
            work.name,
            work.uid,
            *((queued.name, f"{queued.namespace}/{queued.name}") if queued else ()),
        }
        if name in alias:
            label = f"workload/{work.title}"
            found[label if label not in found else f"workload/{work.uid}"] = work
    return found


def _tenants(view: View, name: str) -> Mapping[str, Subject]:
    known = {tenant.name: tenant for tenant in view.site.tenants} | {UNASSIGNED: Tenant(UNASSIGNED, tier="")}
    return {f"tenant/{name}": known[name]} if name in known else {}


def _changes(ledger: LedgerStore, prefix: str) -> tuple[Mapping[str, Subject], str]:
    """The changes whose id begins so; and, when the ledger could not be read, a remark on that."""
    try:
        changes = ledger.load().changes
    except SourceError as error:
        return {}, f" (changes could not be read: {error})"
    return {f"change/{change.id}": change for change in changes if change.id.startswith(prefix)}, ""


def _near(view: View, name: str) -> str:
    titles = [work.title for work in view.snapshot.works] + [work.name for work in view.snapshot.works]
    return nearest(name, [*titles, *(tenant.name for tenant in view.site.tenants)])

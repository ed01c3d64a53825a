"""From samples and ledger to the report. Reads nothing and no clock: the same input gives the same report."""

from __future__ import annotations

from dataclasses import dataclass

from collector.model.reading import Reading
from collector.model.tenancy import Site
from controller.policy.ledger import Ledger
from controller.reports.changes import change_lines, what_is_forgotten
from controller.reports.history import Told, history_part
from controller.reports.model import ReportModel, Window
from controller.reports.pools import History, pool_split
from controller.reports.samples import Samples
from controller.reports.tenants import Tenants
from controller.reports.words import judged, sentences


@dataclass(frozen=True, slots=True)
class Sources:
    """What a report is made of."""

    cluster: str
    samples: Samples
    ledger: Reading[Ledger]
    site: Site | None = None
    """None: no documents were given, hence no promises."""
    told: Told | None = None
    """The history of workloads, where one is kept."""


def report_of(sources: Sources, window: Window, made_at: float, program_version: str) -> ReportModel:
    """The whole report."""
    history = History(sources.samples)
    agreed = {pool.name for pool in sources.site.pools} if sources.site else set()
    pools = tuple(pool_split(history, name, window) for name in sorted(agreed | set(history.pools)))
    tenants = Tenants(history, window, sources.site).reports()
    changes = change_lines(sources.ledger, window)
    note = what_is_forgotten(sources.ledger, window)
    light, reasons = judged(window, pools, tenants, changes, note)
    return ReportModel(
        cluster=sources.cluster,
        window=window,
        made_at=made_at,
        program_version=program_version,
        light=light,
        light_reasons=reasons,
        sentences=sentences(pools, tenants, changes),
        pools=pools,
        tenants=tenants,
        changes=changes,
        changes_note=note,
        history=None if sources.told is None else history_part(sources.told, window),
    )

"""The report for people: one HTML file without script, outside link or image. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from collector.model.quantities import format_duration
from collector.model.reading import Known, Reading
from controller.reports.model import PoolSplit, ReportModel, TenantReport, Window
from controller.reports.svg import HATCH, Part, bar
from controller.reports.window import local_time
from controller.reports.words import VERDICTS, amount, idle_held, percent

# From dark to light, so that they stay apart in grey print and for the colour-blind.
_RUNNING: Final = "#1f4e79"
_STARTING: Final = "#5b8db8"
_UNCLEAR: Final = "#8a8a8a"
_UNUSABLE: Final = "#b3541e"
_FREE: Final = "#dcdcc8"
_BORROWED: Final = "#e0a84a"


def report_html(report: ReportModel) -> str:
    """The whole report as one page."""
    environment = Environment(
        loader=PackageLoader("controller.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "amount": amount,
        "percent": percent,
        "duration": format_duration,
        "moment": partial(_moment, report.window),
    }
    return environment.get_template("weekly.html.j2").render(
        report=report,
        pools=[(pool, pool_parts(pool), bar(f"Pool {pool.pool}", pool_parts(pool))) for pool in report.pools],
        most_held=_most_held(report.tenants),
        tenant_bar=_tenant_bar,
        idle_held=idle_held,
        verdicts=VERDICTS,
        known=_is_known,
    )


def pool_parts(pool: PoolSplit) -> Sequence[Part]:
    """The parts of a pool in the order of its bar and its table; parts that are zero by nature are left out."""
    capacity = pool.capacity.value if isinstance(pool.capacity, Known) else 0.0

    def part(label: str, value: float, fill: str) -> Part:
        share = f" ({percent(value / capacity)})" if capacity else ""
        return Part(label, value, fill, f"{amount(value)} GPU-h{share}")

    parts = [part("Running", pool.running, _RUNNING), part("Starting or ending", pool.starting, _STARTING)]
    if pool.phase_unknown:
        parts.append(part("Held, phase not known", pool.phase_unknown, _UNCLEAR))
    parts += [part(f"Out of use: {why}", hours, _UNUSABLE) for why, hours in pool.unusable.items() if hours]
    return [*parts, part("Free", pool.free, _FREE), part("Not seen", pool.not_seen, HATCH)]


def _tenant_bar(tenant: TenantReport, most: float) -> str:
    """What a tenant held, by what allowed it, on one scale for all tenants."""
    uses = tenant.uses
    held = (
        ("Within guarantee", sum(use.within_guarantee for use in uses), _RUNNING),
        ("Floating", sum(use.floating for use in uses), _STARTING),
        ("Borrowed", sum(use.borrowed for use in uses), _BORROWED),
        ("Agreement not known", sum(use.agreement_unknown for use in uses), _UNCLEAR),
    )
    parts = [Part(label, hours, fill, f"{amount(hours)} GPU-h") for label, hours, fill in held]
    return bar(f"Tenant {tenant.name}", parts, most)


def _most_held(tenants: Sequence[TenantReport]) -> float:
    return max((sum(use.held for use in tenant.uses) for tenant in tenants), default=0.0)


def _is_known(reading: Reading[object]) -> bool:
    return isinstance(reading, Known)


def _moment(window: Window, epoch_seconds: float) -> str:
    return f"{local_time(epoch_seconds, window):%a %d %b %Y %H:%M}"

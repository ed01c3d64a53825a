"""The report for programs: every number with its unit in its name, null where it is not known, and why."""

from __future__ import annotations

from typing import Any, Final

import orjson

from collector.model.quantities import format_time
from collector.model.reading import Known, Reading, Unknown
from controller.reports.model import ChangeLine, HistoryPart, PoolSplit, ReportModel, TenantReport, TenantUse

SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""


def report_json(report: ReportModel) -> str:
    """The whole report as one JSON object."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "kind": "weekly-report",
        "cluster": report.cluster,
        "window": {
            "title": report.window.title,
            "from": format_time(report.window.start),
            "to": format_time(report.window.end),
            "time_zone": report.window.time_zone,
            "hours": report.window.hours,
            "closed": report.window.closed,
            "slot_seconds": report.window.slot_seconds,
        },
        "made_at": format_time(report.made_at),
        "program_version": report.program_version,
        "data": {"light": report.light.value, "reasons": list(report.light_reasons)},
        "sentences": list(report.sentences),
        "pools": [_pool(pool) for pool in report.pools],
        "tenants": [_tenant(tenant) for tenant in report.tenants],
        **_changes(report.changes),
        "changes_note": report.changes_note or None,
        "accounting": None if report.history is None else _history(report.history),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def _pool(pool: PoolSplit) -> dict[str, Any]:
    return {
        "pool": pool.pool,
        "hours": _rounded(pool.hours),
        "seen_hours": _rounded(pool.seen_hours),
        **_reading("capacity_gpu_hours", pool.capacity),
        "running_gpu_hours": _rounded(pool.running),
        "starting_gpu_hours": _rounded(pool.starting),
        "held_phase_unknown_gpu_hours": _rounded(pool.phase_unknown),
        "free_gpu_hours": _rounded(pool.free),
        "unusable_gpu_hours": {reason: _rounded(hours) for reason, hours in pool.unusable.items()},
        "not_seen_gpu_hours": _rounded(pool.not_seen),
        "difference_gpu_hours": _rounded(pool.difference),
        "misfit_gpu_hours": _rounded(pool.misfit),
        "of_free_admitted_without_node_gpu_hours": _rounded(pool.admitted_without_node),
    }


def _tenant(tenant: TenantReport) -> dict[str, Any]:
    waits = tenant.waits
    return {
        "tenant": tenant.name,
        "tier": tenant.tier or None,
        "pools": [_use(use) for use in tenant.uses],
        **_reading("waited_hours", waits.waited_hours),
        **_reading("oldest_wait_seconds", waits.oldest_wait_seconds),
        **_reading("evictions", waits.evictions),
        "waits_are_lower_bounds": waits.at_least,
    }


def _use(use: TenantUse) -> dict[str, Any]:
    return {
        "pool": use.pool,
        **_reading("guaranteed_gpu_hours", use.guaranteed),
        "held_gpu_hours": _rounded(use.held),
        "within_guarantee_gpu_hours": _rounded(use.within_guarantee),
        "floating_gpu_hours": _rounded(use.floating),
        "borrowed_gpu_hours": _rounded(use.borrowed),
        "agreement_unknown_gpu_hours": _rounded(use.agreement_unknown),
        "running_gpu_hours": _rounded(use.running),
        "starting_gpu_hours": _rounded(use.starting),
        "held_phase_unknown_gpu_hours": _rounded(use.phase_unknown),
        **_reading("idle_held_gpu_hours", use.idle_held),
        "unjudged_gpu_hours": _rounded(use.unjudged),
        **_reading("attainment_ratio", use.attainment),
        "promised_ratio": use.target,
        "promise_kept": use.kept,
    }


def _changes(changes: Reading[tuple[ChangeLine, ...]]) -> dict[str, Any]:
    if isinstance(changes, Unknown):
        return {"changes": None, "changes_unknown_why": changes.reason}
    return {"changes": [_change(change) for change in changes.value]}


def _change(change: ChangeLine) -> dict[str, Any]:
    return {
        "id": change.id,
        "made_at": format_time(change.made_at),
        "made_before_window": change.before_window,
        "tenant": change.tenant,
        "pool": change.pool,
        "gpus": change.gpus,
        "from": change.source,
        "to": change.destination,
        "reason": change.reason,
        "forecast": {
            "ready": list(change.expected_ready),
            "ready_by": format_time(change.expected_by),
            "may_evict": list(change.may_evict),
            "lost_gpu_hours": _rounded(change.lost_gpu_hours),
        },
        "verdict": change.verdict,
        "verdict_reason": change.verdict_reason or None,
        "stage": change.stage,
        "ended_at": format_time(change.ended_at) if change.ended_at is not None else None,
    }


def _history(history: HistoryPart) -> dict[str, Any]:
    return {
        "pools": [
            {
                "pool": pool.pool,
                "capacity_gpu_hours": _rounded(pool.capacity),
                "held_gpu_hours": _rounded(pool.held),
                "held_not_known_gpu_hours": _rounded(pool.unknown),
                "free_gpu_hours": _rounded(pool.free),
                "not_seen_gpu_hours": _rounded(pool.not_seen),
                "beyond_capacity_gpu_hours": _rounded(pool.beyond),
                "difference_gpu_hours": _rounded(pool.difference),
                "tenants": [
                    {
                        "tenant": name,
                        "running_gpu_hours": _rounded(hours.running),
                        "starting_gpu_hours": _rounded(hours.starting),
                        "held_not_known_gpu_hours": _rounded(hours.unknown),
                    }
                    for name, hours in pool.tenants.items()
                ],
            }
            for pool in history.pools
        ],
        "gaps": [{"from": format_time(gap.begin), "to": format_time(gap.end)} for gap in history.gaps],
        "gap_hours": _rounded(history.gap_hours),
        "evictions": [
            {
                "tenant": edge.victim,
                "by": edge.by or None,
                "count": edge.count,
                "ran_before_gpu_hours": _rounded(edge.gpu_hours),
            }
            for edge in history.evictions
        ],
        "finished": history.finished,
        "failed": history.failed,
        "gone": history.gone,
    }


def _reading(name: str, reading: Reading[float]) -> dict[str, Any]:
    if isinstance(reading, Known):
        return {name: _rounded(reading.value)}
    return {name: None, f"{name}_unknown_why": reading.reason}


def _rounded(value: float) -> float:
    """Without the dust of summing many floats; a thousandth of a GPU-second is left."""
    return round(value, 6) + 0.0

"""Alerts that need no objective: a tenant that falls short, a broken queue, a blind collector, a stalled loop. Pure."""

from __future__ import annotations

from typing import Final

from alerts.rules.model import Alert, Severity, SignalKind
from alerts.rules.timing import DAY, HOUR, MINUTE, Timing, promql_duration, promql_number

_LAST_SUCCESS: Final = "trimtab_collector_last_success_timestamp_seconds"
_LAST_TICK: Final = "trimtab_controller_last_tick_timestamp_seconds"
_STALE_SECONDS: Final = 2 * MINUTE
_STALE_FLOOR_SECONDS: Final = 15.0
_STALLED_SECONDS: Final = 3 * MINUTE
_STALLED_FLOOR_SECONDS: Final = 30.0
_REMEMBER_SECONDS: Final = 6 * HOUR
"""A source that was there within this time is expected to be there."""
_REMEMBER_FLOOR_SECONDS: Final = 10 * MINUTE


def health_alerts(timing: Timing) -> tuple[Alert, ...]:
    """The four alerts, the same for every site."""
    return (starved(timing), queue_broken(timing), blind(timing), controller_stalled(timing))


def starved(timing: Timing) -> Alert:
    """The early doorbell: two looks in a row at a shortfall. One failed scrape does not start it over."""
    shortfall = f"last_over_time(trimtab_tenant_shortfall_gpus[{timing.text(MINUTE)}])"
    return Alert(
        name="TrimtabTenantStarved",
        expr=f"max by (cluster, tenant, pool) ({shortfall}) > 0",
        for_seconds=timing.seconds(MINUTE),
        keep_firing_for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.STARVED,
        summary="{{ $labels.tenant }} waits beyond its limit for {{ $value }} GPUs of {{ $labels.pool }}",
        description="Entitled work of the tenant waits longer than its tier allows.",
        hint_query=(
            "topk(1, sum by (cluster, tenant, waiting) (max by (cluster, tenant, tier, queue, waiting) ("
            'trimtab_queue_pending_workloads{cluster="{cluster}",tenant="{tenant}",waiting!="within-limit"})) > 0)'
        ),
        hint_text="Most of its overdue work is {{ .Labels.waiting }}.",
    )


def queue_broken(timing: Timing) -> Alert:
    """Work that would fit and is not admitted: the scheduler, a webhook or a stuck pod, not a lack of quota."""
    minute = timing.text(MINUTE)
    by = "max by (cluster, tenant, tier, queue)"
    oldest = f"{by} (last_over_time(trimtab_queue_oldest_pending_seconds[{minute}]))"
    broken = f'{by} (last_over_time(trimtab_queue_pending_workloads{{waiting="broken"}}[{minute}]))'
    return Alert(
        name="TrimtabQueueBroken",
        expr=f"{oldest}\nand\n({broken} > 0)",
        for_seconds=timing.seconds(2 * MINUTE),
        severity=Severity.CRITICAL,
        signal=SignalKind.QUEUE_BROKEN,
        summary="Nothing is admitted from {{ $labels.queue }} although it would fit",
        description="The oldest work of {{ $labels.tenant }} there has waited {{ $value | humanizeDuration }}.",
    )


def blind(timing: Timing) -> Alert:
    """One alert per cluster, whichever and however many sources are old, gone, or were never there."""
    by_source = "by (cluster, source)"
    memory = promql_duration(timing.age_limit(_REMEMBER_SECONDS, _REMEMBER_FLOOR_SECONDS))
    remembered = f"last_over_time({_LAST_SUCCESS}[{memory}])"
    limit = promql_number(timing.age_limit(_STALE_SECONDS, _STALE_FLOOR_SECONDS))
    old = f"time() - min by (cluster) (max {by_source} ({remembered})) > {limit}"
    gone = f"count by (cluster) (group {by_source} ({remembered})\n  unless group {by_source} ({_LAST_SUCCESS}))"
    never = f"absent_over_time({_LAST_SUCCESS}[{memory}])"
    return Alert(
        name="TrimtabBlind",
        expr=f"({old})\nor\n{gone}\nor\n{never}",
        for_seconds=timing.seconds(MINUTE),
        severity=Severity.CRITICAL,
        signal=SignalKind.BLIND,
        summary="Trimtab does not see what it decides on",
        description="At least one source of the collector is old, gone or was never read; decisions are held.",
        hint_query=(
            f'bottomk(1, max by (cluster, source) (last_over_time({_LAST_SUCCESS}{{cluster="{{cluster}}"}}[{memory}])))'
        ),
        hint_text="The oldest reading is that of {{ .Labels.source }}.",
    )


def controller_stalled(timing: Timing) -> Alert:
    """The newest tick of all replicas is old. A site that never ran a controller has none to stall."""
    limit = promql_number(timing.age_limit(_STALLED_SECONDS, _STALLED_FLOOR_SECONDS))
    memory = promql_duration(timing.age_limit(DAY, _REMEMBER_FLOOR_SECONDS))
    last = f"max by (cluster) (last_over_time({_LAST_TICK}[{memory}]))"
    return Alert(
        name="TrimtabControllerStalled",
        expr=f"time() - {last} > {limit}",
        for_seconds=timing.seconds(MINUTE),
        severity=Severity.CRITICAL,
        signal=SignalKind.CONTROLLER_STALLED,
        summary="The loop has not ticked for {{ $value | humanizeDuration }}",
        description="No decision is taken and no change expires through the loop; the janitor still ends them.",
    )

"""Alerts about the storage of tenants: slower than promised, or not moving at all. Pure."""

from __future__ import annotations

from typing import Final

from alerts.rules.model import Alert, Severity, SignalKind
from alerts.rules.timing import MINUTE, Timing

_BY: Final = "max by (cluster, tenant, storage)"


def storage_alerts(timing: Timing) -> tuple[Alert, ...]:
    """The two alerts, the same for every site: without a promised latency only the second can fire."""
    return (storage_slow(timing), storage_stalled(timing))


def storage_slow(timing: Timing) -> Alert:
    """Reads or writes take longer than the tightest promise, on average and for a while."""
    minute = timing.text(MINUTE)
    limit = f"{_BY} (trimtab_storage_limit_seconds)"
    reads = f"{_BY} (last_over_time(trimtab_storage_read_latency_seconds[{minute}]))"
    writes = f"{_BY} (last_over_time(trimtab_storage_write_latency_seconds[{minute}]))"
    return Alert(
        name="TrimtabStorageSlow",
        expr=f"({writes} > {limit})\nor\n({reads} > {limit})",
        for_seconds=timing.seconds(MINUTE),
        keep_firing_for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.STORAGE_SLOW,
        summary="Volumes of {{ $labels.tenant }} take {{ $value | humanizeDuration }}",
        description="Its {{ $labels.storage }} volumes are slower on average than its objective allows.",
        hint_query=(
            'topk(1, max by (cluster, daemon) (trimtab_storage_osd_commit_latency_seconds{cluster="{cluster}"}))'
        ),
        hint_text="Slowest to commit is {{ .Labels.daemon }}.",
    )


def storage_stalled(timing: Timing) -> Alert:
    """I/O is in flight and none ends. There is no latency then: only what completes has one."""
    return Alert(
        name="TrimtabStorageStalled",
        expr=f"{_BY} (last_over_time(trimtab_storage_stalled[{timing.text(MINUTE)}])) > 0",
        for_seconds=timing.seconds(MINUTE / 2),
        severity=Severity.CRITICAL,
        signal=SignalKind.STORAGE_STALLED,
        summary="Volumes of {{ $labels.tenant }} complete nothing",
        description="Its {{ $labels.storage }} volumes did I/O until Ceph stalled, and have done none since.",
        hint_query=('topk(1, max by (cluster, daemon) (trimtab_storage_slow_operations{cluster="{cluster}"}) > 0)'),
        hint_text="Most slow operations stand at {{ .Labels.daemon }}: it waits, and may not be at fault.",
    )

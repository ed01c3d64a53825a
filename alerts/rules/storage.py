"""Alerts about the storage of tenants, and about the Ceph behind it; and how tenants use it, recorded. Pure."""

from __future__ import annotations

from typing import Final

from alerts.rules.model import Alert, RecordingRule, Severity, SignalKind
from alerts.rules.timing import MINUTE, Timing

_BY: Final = "max by (cluster, tenant, storage)"


MERGED_SHARE: Final = "trimtab:tenant_storage_merged_ratio"
_IMAGE: Final = "ceph_pool, image_namespace, image"
READ_SHARE: Final = "trimtab:tenant_storage_read_ratio"
_SIZE: Final = "trimtab:tenant_storage_{way}_size_bytes"
_STOPS: Final = 'disturbance=~"paused|full|silent|awaited|stall"'
_WAITS: Final = 'disturbance="slow-store",scope=~"osd|host"'
"""Of the whole cluster it is load as likely as a fault."""


def storage_rules(timing: Timing) -> tuple[RecordingRule, ...]:
    """What the I/O of each tenant is like. Nothing is recorded where nothing moves."""
    reads, writes = _rate("read", "operations"), _rate("write", "operations")
    return (
        RecordingRule(MERGED_SHARE, _merged(timing)),
        RecordingRule(READ_SHARE, f"{reads}\n/\n(({reads} + {writes}) > 0)"),
        *(
            RecordingRule(_SIZE.format(way=way), f"{_rate(way, 'bytes')}\n/\n({_rate(way, 'operations')} > 0)")
            for way in ("read", "write")
        ),
    )


def _merged(timing: Timing) -> str:
    """Of images that a kernel has mapped: what it merged, by what it was asked for. A volume is its tenant's."""
    window = timing.text(5 * MINUTE)
    volumes = f"max by (cluster, tenant, storage, {_IMAGE}) (trimtab_storage_volume_info)"

    def of_tenant(*names: str) -> str:
        rates = " + ".join(f"sum by (cluster, {_IMAGE}) (rate(trimtab_krbd_{name}_total[{window}]))" for name in names)
        return f"{_BY.replace('max', 'sum')} ({volumes} * on (cluster, {_IMAGE}) group_left () ({rates}))"

    merged = ("read_merged_operations", "write_merged_operations")
    return f"{of_tenant(*merged)}\n/\n({of_tenant(*merged, 'read_operations', 'write_operations')} > 0)"


def _rate(way: str, what: str) -> str:
    return f"{_BY} (trimtab_storage_{way}_{what}_per_second)"


def storage_alerts(timing: Timing) -> tuple[Alert, ...]:
    """The same for every site: without a promised latency `slow` can not fire."""
    return (storage_slow(timing), storage_stalled(timing), ceph_disturbed(timing))


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


def ceph_disturbed(timing: Timing) -> Alert:
    """Something in Ceph does not get on. One alert per cluster: several sensors of one event must not page twice.

    At once: what the collector calls a stall has lasted already, and a short one is over soon.
    """
    minute = timing.text(MINUTE)
    either = " or ".join(
        f"last_over_time(trimtab_storage_disturbance{{{which}}}[{minute}])" for which in (_STOPS, _WAITS)
    )
    going_on = "max by (cluster, disturbance, scope, where) (trimtab_storage_disturbance"
    return Alert(
        name="TrimtabCephDisturbed",
        expr=f"max by (cluster) ({either}) > 0",
        for_seconds=0.0,
        keep_firing_for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.STORAGE_STALLED,
        summary="Operations in the Ceph of {{ $labels.cluster }} do not get on",
        description="Whether tenants wait for it is told by TrimtabStorageStalled and TrimtabStorageSlow.",
        hint_query=f'topk(1, {going_on}{{cluster="{{cluster}}",{_STOPS}}}) > 0)',
        hint_text="{{ .Labels.disturbance }}, scope {{ .Labels.scope }} {{ .Labels.where }}.",
    )

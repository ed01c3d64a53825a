"""Alerts for gangs that do not get on, GPUs that are not well, nodes of which the collector sees too little. Pure."""

from __future__ import annotations

from typing import Final

from alerts.rules.model import Alert, Severity, SignalKind
from alerts.rules.timing import HOUR, MINUTE, Timing, promql_duration, promql_number

_GANGS: Final = "trimtab_tenant_troubled_workloads"
_GPUS: Final = "trimtab_tenant_troubled_gpus"
_AGE: Final = "trimtab_collector_source_age_seconds"
_COVERAGE: Final = "trimtab_collector_source_coverage_ratio"
_DEVICES: Final = "trimtab_collector_source_devices"
_OLD_SECONDS: Final = 5 * MINUTE
_OLD_FLOOR_SECONDS: Final = 30.0
_REMEMBER_SECONDS: Final = 6 * HOUR
_REMEMBER_FLOOR_SECONDS: Final = 10 * MINUTE
_LEAST_COVERAGE_RATIO: Final = 0.5


def gang_alerts(timing: Timing) -> tuple[Alert, ...]:
    """The four alerts, the same for every site."""
    return (_hung(timing), _straggles(timing), _sick(timing), _node_blind(timing))


def _hung(timing: Timing) -> Alert:
    """Ten minutes of it stand behind each sample already."""
    hung = f'last_over_time({_GANGS}{{gpu_trouble="hung"}}[{timing.text(MINUTE)}])'
    return Alert(
        name="TrimtabGangHung",
        expr=f"max by (cluster, tenant, pool) ({hung}) > 0",
        for_seconds=timing.seconds(MINUTE),
        keep_firing_for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.GANG_HUNG,
        summary="{{ $value }} gangs of {{ $labels.tenant }} in {{ $labels.pool }} hang",
        description="Their GPUs seem busy, and compute and exchange nothing; `trimtab explain` names them.",
    )


def _straggles(timing: Timing) -> Alert:
    straggling = f'last_over_time({_GANGS}{{gpu_trouble="straggling"}}[{timing.text(MINUTE)}])'
    return Alert(
        name="TrimtabGangStraggles",
        expr=f"max by (cluster, tenant, pool) ({straggling}) > 0",
        for_seconds=timing.seconds(5 * MINUTE),
        keep_firing_for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.GANG_STRAGGLES,
        summary="{{ $value }} gangs of {{ $labels.tenant }} in {{ $labels.pool }} wait for one rank",
        description="Its clock, activity or network is far from the others; `trimtab explain` names it.",
    )


def _sick(timing: Timing) -> Alert:
    sick = f'last_over_time({_GPUS}{{gpu_trouble=~"sick|lost|throttled"}}[{timing.text(MINUTE)}])'
    return Alert(
        name="TrimtabGpuSick",
        expr=f"max by (cluster, tenant, pool, gpu_trouble) ({sick}) > 0",
        for_seconds=timing.seconds(2 * MINUTE),
        keep_firing_for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.GPU_SICK,
        summary="{{ $labels.tenant }} holds {{ $value }} GPUs of {{ $labels.pool }} that are {{ $labels.gpu_trouble }}",
        description="No scheduling knob cures it; `trimtab look` names the devices.",
    )


def _node_blind(timing: Timing) -> Alert:
    """One alert per node and source, whichever and however many devices are old or hardly told, or the role is gone."""
    limit = promql_number(timing.age_limit(_OLD_SECONDS, _OLD_FLOOR_SECONDS))
    memory = promql_duration(timing.age_limit(_REMEMBER_SECONDS, _REMEMBER_FLOOR_SECONDS))
    by = "by (cluster, node, source)"
    old = f'count {by} (max by (cluster, node, source, device) ({_AGE}{{node!=""}}) > {limit})'
    thin = (
        f"count {by} (max by (cluster, node, source, device) "
        f'({_COVERAGE}{{node!=""}}) < {promql_number(_LEAST_COVERAGE_RATIO)})'
    )
    gone = (
        f'count {by} (group {by} (last_over_time({_DEVICES}{{node!=""}}[{memory}]))'
        f'\n  unless group {by} ({_DEVICES}{{node!=""}}))'
    )
    return Alert(
        name="TrimtabNodeBlind",
        expr=f"{old}\nor\n{thin}\nor\n{gone}",
        for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.NODE_BLIND,
        summary="{{ $labels.source }} of node {{ $labels.node }} tells little or nothing",
        description="{{ $value }} of its devices are old, hardly told, or the node role itself is gone.",
    )

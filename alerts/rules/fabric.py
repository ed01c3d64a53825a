"""Alerts for a slow network between nodes: of running gangs, whose cause is no quota then, and of NICs. Pure."""

from __future__ import annotations

from typing import Final

from alerts.rules.model import Alert, Severity, SignalKind
from alerts.rules.timing import MINUTE, Timing

_RATIO: Final = "trimtab_tenant_rdma_latency_ratio"
_SUSPECT: Final = "trimtab_rdma_suspect_ratio"
_UNUSUAL: Final = "trimtab_rdma_port_trouble_unusual"
_WRONG: Final = "trimtab_rdma_port_wrong_setting"
_LOOKS: Final = 5 * MINUTE
"""The probes of all nodes are gathered once a minute."""


def fabric_alerts(timing: Timing) -> tuple[Alert, ...]:
    """The same for every site: without probes none can fire."""
    return (fabric_slow(timing), fabric_suspect(timing), port_trouble(timing), port_setting(timing))


def port_trouble(timing: Timing) -> Alert:
    """More trouble by packet than before at a similar load, most of ten minutes. A slow application is no network."""
    window = timing.text(10 * MINUTE)
    unusual = f'avg_over_time({_UNUSUAL}{{trouble!="slow-receiver"}}[{window}])'
    return Alert(
        name="TrimtabRdmaPortTrouble",
        expr=f"max by (cluster, node, device, port, trouble) ({unusual}) > 0.5",
        for_seconds=timing.seconds(5 * MINUTE),
        keep_firing_for_seconds=timing.seconds(10 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.FABRIC_SLOW,
        summary="RDMA port {{ $labels.device }}/{{ $labels.port }} of {{ $labels.node }}: {{ $labels.trouble }}",
        description="It has had more of it by packet than is usual for it at such a load.",
    )


def port_setting(timing: Timing) -> Alert:
    """A setting that looks wrong, for half an hour: it does not heal by itself."""
    wrong = f"last_over_time({_WRONG}[{timing.text(_LOOKS)}])"
    return Alert(
        name="TrimtabRdmaPortSetting",
        expr=f"max by (cluster, node, device, port, setting) ({wrong}) > 0",
        for_seconds=timing.seconds(30 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.FABRIC_SLOW,
        summary="RDMA port {{ $labels.device }}/{{ $labels.port }} of {{ $labels.node }}: check {{ $labels.setting }}",
        description="The setting is unlike that of its node's other ports, or its counters contradict it.",
    )


def fabric_suspect(timing: Timing) -> Alert:
    """What the slow links of all nodes point at; each stands for two slow probes of each of its links already."""
    return Alert(
        name="TrimtabFabricSuspect",
        expr=f"max by (cluster, suspect_kind, suspect) (last_over_time({_SUSPECT}[{timing.text(_LOOKS)}])) > 1",
        for_seconds=timing.seconds(10 * MINUTE),
        keep_firing_for_seconds=timing.seconds(10 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.FABRIC_SLOW,
        summary="Slow RDMA links point at {{ $labels.suspect_kind }} {{ $labels.suspect }}",
        description='The worst of its links takes {{ $value | printf "%.1f" }} times what is usual for it.',
        hint_query='topk(1, max by (cluster, source, destination) (trimtab_rdma_link_ratio{cluster="{cluster}"}))',
        hint_text="The worst link of the cluster is {{ .Labels.source }} to {{ .Labels.destination }}.",
    )


def fabric_slow(timing: Timing) -> Alert:
    """Each sample stands for two probes already: a short `for` is enough."""
    return Alert(
        name="TrimtabFabricSlow",
        expr=f"max by (cluster, tenant, objective) (last_over_time({_RATIO}[{timing.text(MINUTE)}])) > 1",
        for_seconds=timing.seconds(MINUTE),
        keep_firing_for_seconds=timing.seconds(5 * MINUTE),
        severity=Severity.WARNING,
        signal=SignalKind.FABRIC_SLOW,
        summary="RDMA between nodes of {{ $labels.tenant }} is slower than objective {{ $labels.objective }} allows",
        description='A probed edge takes {{ $value | printf "%.1f" }} times the limit; no scheduling knob is moved.',
        hint_query=(
            "topk(1, max by (cluster, tenant, source, destination) ("
            f'{_RATIO}{{cluster="{{cluster}}",tenant="{{tenant}}"}}))'
        ),
        hint_text="The slowest edge is {{ .Labels.source }} to {{ .Labels.destination }}.",
    )

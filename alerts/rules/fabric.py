"""The alert for a slow network between the nodes of running gangs: RDMA, and no quota, is the cause. Pure."""

from __future__ import annotations

from typing import Final

from alerts.rules.model import Alert, Severity, SignalKind
from alerts.rules.timing import MINUTE, Timing

_RATIO: Final = "trimtab_tenant_rdma_latency_ratio"


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

"""Gangs and GPUs in trouble as series: totals per tenant, zero where it was looked, nothing where it was not."""

from __future__ import annotations

from collector.assemble.gang_devices import DeviceTrouble, GpuTroubles
from collector.assemble.gang_signs import GangSigns, GangTrouble, GangTroubleKind
from collector.catalogue.metric import GPU_TROUBLES
from collector.model.snapshot import OtherCause, OtherKind
from tests.unit.collector.exporter.published import published, scraped, snapshot

CAUSE = OtherCause(OtherKind.WORKLOAD, "why")


def gang(kind: GangTroubleKind, key: str, gpus: int, seconds: float) -> GangTrouble:
    return GangTrouble(kind, key, "vision", "h100", gpus, seconds, CAUSE)


def of(trouble: str) -> tuple[str, ...]:
    return "c1", "vision", "h100", trouble


def test_gangs_and_gpus_are_counted_and_the_longest_time_told() -> None:
    troubles = GpuTroubles(
        gangs=(
            gang("hung", "a", 16, 700.0),
            gang("hung", "b", 8, 900.0),
            gang("straggling", "c", 32, 650.0),
            gang("straggling", "c", 32, 640.0),
        ),
        unjudged=(GangSigns("d", "vision/d", "vision", 4, pool="h100"),),
        devices=(DeviceTrouble("sick", "n1", "3", "vision", "h100", "vision/a-0", "why"),),
    )
    found = scraped(published(snapshot(), troubles=troubles))
    gpus = found["trimtab_tenant_troubled_gpus"]
    assert {trouble: gpus[of(trouble)] for trouble in GPU_TROUBLES} == {
        "hung": 24.0,
        "suspected": 0.0,
        "straggling": 32.0,
        "unjudged": 4.0,
        "sick": 1.0,
        "lost": 0.0,
        "throttled": 0.0,
    }
    gangs = found["trimtab_tenant_troubled_workloads"]
    assert (gangs[of("hung")], gangs[of("straggling")], gangs[of("unjudged")]) == (2.0, 1.0, 1.0)
    assert found["trimtab_tenant_trouble_seconds"][of("hung")] == 900.0


def test_while_no_gpu_is_read_there_is_no_sample() -> None:
    assert not [name for name in scraped(published()) if "trouble" in name]
    assert "trimtab_tenant_troubled_gpus" in scraped(published(troubles=GpuTroubles()))

"""The collector's series about gangs and GPUs, read back as causes: which hold decisions back, and which are told."""

from __future__ import annotations

from collector.model.snapshot import OtherCause, OtherKind
from collector.sources.gang_evidence import gang_evidence
from collector.sources.prometheus import VectorSample

NOW = 1_700_000_000.0


def sample(name: str, value: float, **labels: str) -> VectorSample:
    return VectorSample({"__name__": name, "cluster": "c1", **labels}, value, NOW)


def troubled(trouble: str, gpus: float, gangs: float = 0.0, seconds: float = 0.0) -> list[VectorSample]:
    labels = {"tenant": "vision", "pool": "h100", "gpu_trouble": trouble}
    return [
        sample("trimtab_tenant_troubled_gpus", gpus, **labels),
        sample("trimtab_tenant_troubled_workloads", gangs, **labels),
        sample("trimtab_tenant_trouble_seconds", seconds, **labels),
    ]


def test_a_hung_gang_and_a_sick_gpu_are_causes_and_a_suspicion_is_none_yet() -> None:
    found = gang_evidence(
        [*troubled("hung", 16, 1, 720.0), *troubled("sick", 1), *troubled("suspected", 8, 2, 300.0)], NOW, 90.0
    )
    assert found.causes == {
        "vision": (
            OtherCause(
                OtherKind.WORKLOAD,
                "1 gang with 16 GPUs of pool h100 hangs: for 12m they seem busy, and compute and exchange nothing",
            ),
            OtherCause(OtherKind.GPU_HEALTH, "1 GPU of pool h100 that it holds reports an error of the hardware"),
        )
    }
    assert [one.sentence for one in found.suspected["vision"]] == [
        "2 gangs with 8 GPUs of pool h100 may hang: for 5m they seem busy, and compute and exchange nothing"
    ]
    assert (found.slowed, found.unseen) == ({}, None)


def test_what_makes_work_slower_and_takes_no_gpus_is_told_apart() -> None:
    found = gang_evidence([*troubled("straggling", 32, 1, 900.0), *troubled("throttled", 2)], NOW, 90.0)
    assert found.causes == {}
    assert [(one.kind, one.sentence) for one in found.slowed["vision"]] == [
        (
            OtherKind.WORKLOAD,
            "1 gang with 32 GPUs of pool h100 waits for one rank, for 15m far from its own gang",
        ),
        (OtherKind.GPU_HEALTH, "2 GPUs of pool h100 that it holds are held back by heat or a brake"),
    ]


def test_gangs_that_can_not_be_judged_and_zeros_are_nothing() -> None:
    found = gang_evidence([*troubled("unjudged", 64, 4), *troubled("hung", 0)], NOW, 90.0)
    assert (found.causes, found.suspected, found.slowed, found.unseen) == ({}, {}, {}, None)


def test_gpus_that_were_configured_and_are_read_no_more_are_not_ruled_out() -> None:
    def read(source: str, at: float) -> VectorSample:
        return sample("trimtab_collector_last_success_timestamp_seconds", at, source=source)

    silent = gang_evidence([read("kubernetes", NOW), read("dcgm", NOW - 300)], NOW, 90.0)
    assert silent.unseen == "no GPU was read for 1m 30s"
    assert gang_evidence([read("dcgm", NOW - 300), read("gpu-series", NOW - 10)], NOW, 90.0).unseen is None
    assert gang_evidence([read("kubernetes", NOW)], NOW, 90.0).unseen is None, "no GPU source is watched"

"""Idle GPUs of a tenant: only what its pods hold, only what is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.gpu_ledger import Devices
from collector.assemble.idle_held import GpuUse, gpu_use, with_idle_held
from collector.model.accelerator import GpuHolder, GpuReading
from collector.model.objects import Node, Picture, Pod
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Snapshot
from tests.unit.collector.exporter.published import NOW, snapshot

MISSING = Unknown("not exported")
GPU = "nvidia.com/gpu"


def device(number: int, activity: Reading[float], pod: str = "train-0") -> GpuReading:
    holders = (GpuHolder("vision-train", pod, "main"),)
    return GpuReading(
        uuid=f"GPU-{number}",
        index=str(number),
        node="n1",
        model="H100",
        mig=None,
        partitioned=False,
        holders=holders,
        activity_ratio=activity,
        utilization_ratio=MISSING,
        memory_used_bytes=MISSING,
        memory_total_bytes=MISSING,
        power_watts=MISSING,
        temperature_celsius=MISSING,
        last_xid_code=MISSING,
    )


def picture(**more: object) -> Picture:
    node = Node("n1", {}, {GPU: 8}, ready=True, cordoned=False)
    pod = Pod("u1", "vision-train", "train-0", "Running", {GPU: 4}, NOW - 9000, node="n1", ready_at=NOW - 9000)
    return Picture(taken_at=NOW, nodes={"n1": node}, pods={"u1": pod}, **more)  # type: ignore[arg-type]  # shorthand


def devices(*activities: Reading[float]) -> Devices:
    return Devices(Known(tuple(device(n, one) for n, one in enumerate(activities))), 600.0)


def judged(known: Devices) -> Snapshot:
    return with_idle_held(snapshot(), gpu_use(picture(), snapshot(), known, NOW))


def test_each_held_gpu_is_busy_idle_or_unknown() -> None:
    use = gpu_use(picture(), snapshot(), devices(Known(0.9), Known(0.0), MISSING), NOW)
    assert use == {("vision", "h100"): GpuUse(held=4, idle=1, unknown=2)}


@pytest.mark.parametrize(
    ("use", "idle_held"),
    [
        (GpuUse(held=4, idle=2, unknown=1), Known(2.0)),
        (GpuUse(held=4, idle=0, unknown=0), Known(0.0)),
        (GpuUse(held=4, idle=0, unknown=4), Unknown("no activity known of the 4 GPUs held")),
        (GpuUse(), Known(0.0)),
    ],
)
def test_unknown_is_never_zero_and_zero_is_never_unknown(use: GpuUse, idle_held: Reading[float]) -> None:
    assert use.idle_held == idle_held


def test_a_snapshot_takes_the_idle_gpus_of_its_tenants() -> None:
    taken = judged(devices(Known(0.0), Known(0.0), Known(0.5), Known(0.5)))
    assert taken.tenants[0].idle_held == Known(2.0)
    assert taken.evidence.idle_held == {("vision", "h100"): Known(2.0)}


def test_without_exporters_held_gpus_are_unknown() -> None:
    taken = judged(Devices(Unknown("no GPU exporter was read lately")))
    assert isinstance(taken.tenants[0].idle_held, Unknown)


@pytest.mark.parametrize("kind", ["pods", "nodes", "namespaces"])
def test_without_a_readable_picture_nothing_is_claimed(kind: str) -> None:
    before = snapshot()
    uses = gpu_use(picture(unreadable={kind: "403"}), before, devices(Known(0.0)), NOW)
    assert uses is None
    assert with_idle_held(before, uses) == before


def test_a_sick_device_is_held_and_judged_neither_busy_nor_idle() -> None:
    sick = replace(device(0, Known(0.0)), last_xid_code=Known(79))
    use = gpu_use(picture(), snapshot(), Devices(Known((sick, device(1, Known(0.0)))), 600.0), NOW)
    assert use == {("vision", "h100"): GpuUse(held=4, idle=1, unknown=2, sick=1)}
    assert use["vision", "h100"].unjudged == 3


def test_an_idle_gpu_that_keeps_its_memory_is_told_from_one_that_was_never_touched() -> None:
    kept = replace(device(0, Known(0.0)), memory_used_bytes=Known(4e10))
    untouched = replace(device(1, Known(0.0)), memory_used_bytes=Known(5e8))
    busy = replace(device(2, Known(0.9)), memory_used_bytes=Known(4e10))
    use = gpu_use(picture(), snapshot(), Devices(Known((kept, untouched, busy)), 600.0), NOW)
    assert use == {("vision", "h100"): GpuUse(held=4, idle=2, unknown=1, idle_with_memory=1)}

"""Hung gangs and sick GPUs, from what exporters show: all known signs agree, and for long, or nothing is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.gang_signs import GangMemory, GangSigns, HeldDevice, Straggler, sick_devices
from collector.model.reading import Known, Unknown
from collector.model.snapshot import OtherCause, OtherKind

HUNG = GangSigns("uid", "vision/train", "vision", 16, Known(1.0), Known(0.0), Known(0.3), Known(1e3))
SILENT = Unknown("not exported")


def watched(signs: GangSigns, seconds: float, every: float = 60.0) -> tuple[GangMemory, float]:
    """Looks at a gang from 0 on."""
    memory, now = GangMemory(), 0.0
    while now <= seconds:
        memory, now = memory.advance([signs], now), now + every
    return memory, now - every


def test_a_gang_that_spins_for_ten_minutes_hangs_and_until_then_it_may() -> None:
    memory, now = watched(HUNG, 600.0)
    assert (memory.suspected(now), set(memory.hung(now))) == ({}, {"vision"})
    assert memory.hung(now)["vision"] == (
        OtherCause(
            OtherKind.WORKLOAD,
            "vision/train hangs: for 10m its 16 GPUs seem busy, and compute and exchange nothing",
        ),
    )
    memory, now = watched(HUNG, 540.0)
    assert memory.hung(now) == {}
    assert [cause.sentence for cause in memory.suspected(now)["vision"]] == [
        "vision/train may hang: for 9m its 16 GPUs seem busy, and compute and exchange nothing"
    ]
    memory, now = watched(HUNG, 60.0)
    assert (memory.suspected(now), memory.hung(now)) == ({}, {}), "every start is quiet for a moment"


@pytest.mark.parametrize(
    "signs",
    [
        replace(HUNG, utilization_ratio=Known(0.6)),
        replace(HUNG, tensor_active_ratio=Known(0.05)),
        replace(HUNG, power_ratio=Known(0.8)),
        replace(HUNG, network_bytes_per_second=Known(5e9)),
    ],
    ids=["waits for data", "computes slowly", "draws power", "exchanges"],
)
def test_one_sign_of_life_is_enough(signs: GangSigns) -> None:
    memory, now = watched(signs, 1200.0)
    assert (memory.suspected(now), memory.hung(now)) == ({}, {})


@pytest.mark.parametrize(
    "signs",
    [
        replace(HUNG, utilization_ratio=SILENT),
        replace(HUNG, tensor_active_ratio=SILENT),
        replace(HUNG, power_ratio=SILENT, network_bytes_per_second=SILENT),
    ],
    ids=["no utilisation", "no tensor activity", "neither power nor network"],
)
def test_what_is_not_known_is_no_hang(signs: GangSigns) -> None:
    assert isinstance(signs.spins, Unknown)
    memory, now = watched(signs, 1200.0)
    assert (memory.suspected(now), memory.hung(now)) == ({}, {})


@pytest.mark.parametrize("signs", [replace(HUNG, power_ratio=SILENT), replace(HUNG, network_bytes_per_second=SILENT)])
def test_power_or_network_suffices(signs: GangSigns) -> None:
    memory, now = watched(signs, 600.0)
    assert set(memory.hung(now)) == {"vision"}


def test_a_moment_of_work_begins_it_anew_and_a_lost_look_does_not() -> None:
    memory, now = watched(HUNG, 540.0)
    lost = memory.advance([], now + 60).advance([HUNG], now + 120)
    assert set(lost.hung(now + 120)) == {"vision"}
    blind = memory.advance([replace(HUNG, tensor_active_ratio=SILENT)], now + 60).advance([HUNG], now + 120)
    assert set(blind.hung(now + 120)) == {"vision"}
    worked = memory.advance([replace(HUNG, tensor_active_ratio=Known(0.4))], now + 60).advance([HUNG], now + 120)
    assert worked.hung(now + 120) == worked.suspected(now + 120) == {}
    gone = memory.advance([HUNG], now + 600)
    assert gone.hung(now + 600) == {}, "unseen for long, it may have worked meanwhile"


def held(xid: int | None, index: int = 3, tenant: str = "vision") -> HeldDevice:
    return HeldDevice("n1", index, tenant, f"{tenant}/train-0", Known(xid) if xid is not None else SILENT)


def test_an_error_of_the_device_is_a_cause_of_who_holds_it() -> None:
    assert sick_devices([held(79), held(0, 4, "nlp")]) == {
        "vision": (OtherCause(OtherKind.GPU_HEALTH, "GPU 3 of node n1 reports error 79, and vision/train-0 holds it"),)
    }
    assert [cause.sentence.split()[1] for cause in sick_devices([held(79, 5), held(48, 2)])["vision"]] == ["2", "5"]


def test_errors_of_programs_and_what_is_not_known_are_no_cause() -> None:
    assert sick_devices([held(31), held(13), held(0), held(None)]) == {}


SLOW = Straggler("GPU 5 of node n0 clock", "GPU 5 of node n0 runs at 1200 MHz, the others at 1980", sick=True)
WORKS = replace(HUNG, tensor_active_ratio=Known(0.4), stragglers=(SLOW,))


def test_a_rank_that_is_far_for_ten_minutes_is_a_straggler_and_one_that_was_near_once_is_none() -> None:
    memory, now = watched(WORKS, 600.0)
    (found,) = memory.troubles(now)
    assert (found.kind, found.tenant, found.gpus, found.seconds) == ("straggling", "vision", 16, 600.0)
    assert found.cause == OtherCause(
        OtherKind.GPU_HEALTH,
        "vision/train waits for one rank: for 10m GPU 5 of node n0 runs at 1200 MHz, the others at 1980",
    )
    near = memory.advance([replace(WORKS, stragglers=())], now + 60)
    assert list(near.advance([WORKS], now + 120).troubles(now + 120)) == []


def test_gangs_that_can_not_be_told_are_counted_and_no_trouble() -> None:
    memory, now = watched(replace(HUNG, tensor_active_ratio=SILENT), 1200.0)
    assert ([one.title for one in memory.unjudged], list(memory.troubles(now))) == (["vision/train"], [])


def test_traffic_of_the_gpus_memory_is_a_sign_of_life() -> None:
    assert replace(HUNG, memory_active_ratio=Known(0.2)).spins == Known(False)

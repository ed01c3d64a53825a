"""Live readings joined to gangs: all GPUs of a gang are needed to call it hung, one sign of life to call it alive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from collector.assemble.gang_devices import (
    device_troubles,
    gang_signs,
    power_ratio,
    stragglers,
    troubles_of_window,
)
from collector.assemble.gang_signs import GangSigns
from collector.assemble.gpu_ledger import Devices
from collector.catalogue.board_power import board_watts
from collector.model.accelerator import LOST, GpuHolder, GpuReading
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import OtherKind, Snapshot
from tests.builders import agreed, look, site_of
from tests.pictures import PictureMaker

MISSING = Unknown("not exported")
NODES = ("n0", "n1")


def cluster(nodes: tuple[str, ...] = NODES, gpus: int = 8) -> Snapshot:
    maker = PictureMaker()
    for name in ("n0", "n1", "n2", "n3"):
        maker.node(name)
    maker.tenant("vision", floor=32)
    maker.running("vision", "train", nodes, gpus)
    return look(maker, site_of(agreed("vision", 32)))


def spinning(node: str, index: int, pod: str, **more: Any) -> GpuReading:
    usual = GpuReading(
        uuid=f"GPU-{node}-{index}",
        index=str(index),
        node=node,
        model="NVIDIA H100 80GB HBM3",
        mig=None,
        partitioned=False,
        holders=(GpuHolder("vision", pod, "main"),),
        activity_ratio=Known(1.0),
        utilization_ratio=Known(1.0),
        memory_used_bytes=Known(6e10),
        memory_total_bytes=Known(8e10),
        power_watts=Known(140.0),
        temperature_celsius=Known(40.0),
        last_xid_code=Known(0),
        health=Known(1.0),
        tensor_active_ratio=Known(0.0),
        memory_active_ratio=Known(0.001),
        clock_hertz=Known(1.98e9),
    )
    return replace(usual, **more)


def held(nodes: tuple[str, ...] = NODES, **more: Any) -> list[GpuReading]:
    return [spinning(node, index, f"train-{n}", **more) for n, node in enumerate(nodes) for index in range(8)]


def signs(readings: list[GpuReading], traffic: Mapping[str, Reading[float]] | None = None) -> GangSigns:
    (found,) = gang_signs(cluster(), Devices(Known(()), 600.0, tuple(readings), traffic or {}))
    return found


def test_a_gang_of_which_every_gpu_spins_and_draws_little_spins() -> None:
    found = signs(held())
    assert (found.title, found.tenant, found.pool, found.gpus) == ("vision/train", "vision", "h100", 16)
    assert found.power_ratio == Known(0.2)
    assert found.spins == Known(True)


@pytest.mark.parametrize(
    "alive",
    [
        {"utilization_ratio": Known(0.4)},
        {"tensor_active_ratio": Known(0.3)},
        {"memory_active_ratio": Known(0.3)},
        {"power_watts": Known(600.0)},
    ],
)
def test_one_gpu_that_shows_life_is_enough_even_where_another_is_not_read(alive: dict[str, Reading[float]]) -> None:
    readings = held()
    readings[3] = spinning("n0", 3, "train-0", **alive)
    assert signs(readings).spins == Known(False)
    assert signs(readings[:-1]).spins == Known(False)


def test_without_the_readings_of_every_gpu_nobody_says_that_it_hangs() -> None:
    assert signs(held()[:-1]).spins == Unknown("readings of 15 of its 16 GPUs")
    assert signs(held(tensor_active_ratio=MISSING)).spins == Unknown("not exported")
    assert signs([]).spins == Unknown("readings of 0 of its 16 GPUs")


def test_a_shared_gpu_says_nothing_of_one_gang() -> None:
    readings = held()
    two = (*readings[0].holders, GpuHolder("nlp", "other", "main"))
    readings[0] = replace(readings[0], holders=two)
    assert signs(readings).spins == Unknown("readings of 15 of its 16 GPUs")


def test_what_its_nodes_exchange_is_its_own_where_it_is_alone_there() -> None:
    assert signs(held(), {"n0": Known(2e9), "n1": Known(0.0)}).spins == Known(False)
    silent = signs(held(power_watts=MISSING), {"n0": Known(100.0), "n1": Known(50.0)})
    assert silent.spins == Known(True)
    assert signs(held(power_watts=MISSING), {"n0": Known(0.0)}).spins == Unknown(
        "neither power nor network traffic is known"
    )


def test_traffic_of_a_node_with_other_work_proves_no_life_and_its_silence_proves_silence() -> None:
    maker = PictureMaker()
    for name in NODES:
        maker.node(name)
    maker.tenant("vision", floor=16)
    maker.running("vision", "train", NODES, gpus=4)
    maker.running("vision", "other", ("n0",), gpus=4)
    snapshot = look(maker, site_of(agreed("vision", 16)))
    readings = tuple(spinning(node, i, f"train-{n}") for n, node in enumerate(NODES) for i in range(4))

    def exchanged(n0: float) -> Reading[float]:
        devices = Devices(Known(()), 600.0, readings, {"n0": Known(n0), "n1": Known(0.0)})
        return next(
            one for one in gang_signs(snapshot, devices) if one.title == "vision/train"
        ).network_bytes_per_second

    assert exchanged(5e9) == Unknown("other work on node n0 uses its adapters too")
    assert exchanged(10.0) == Known(10.0)


def test_a_single_gpu_is_no_gang() -> None:
    devices = Devices(Known(()), 600.0, (spinning("n0", 0, "train-0"),))
    assert list(gang_signs(cluster(("n0",), gpus=1), devices)) == []


def test_power_is_judged_by_the_limit_that_is_told_else_by_the_board() -> None:
    told = replace(held()[0], power_limit_watts=Known(280.0))
    assert power_ratio(told) == Known(0.5)
    strange = replace(held()[0], model="Somebody's 9000")
    assert power_ratio(strange) == Unknown("the power limit of Somebody's 9000 is not known")


@pytest.mark.parametrize(
    ("model", "watts"),
    [
        ("NVIDIA H100 80GB HBM3", 700.0),
        ("NVIDIA H100 PCIe", 350.0),
        ("NVIDIA A100-SXM4-80GB", 400.0),
        ("NVIDIA A100-PCIE-40GB", 250.0),
        ("NVIDIA A10G", 150.0),
        ("Tesla T4", 70.0),
        ("Quadro T400", None),
        ("", None),
    ],
)
def test_boards_are_known_by_their_whole_names(model: str, watts: float | None) -> None:
    assert board_watts(model) == watts


def test_one_rank_with_a_slow_clock_is_told_with_what_the_others_do() -> None:
    readings = held()
    readings[5] = replace(readings[5], clock_hertz=Known(1.2e9))
    (one,) = stragglers(readings, {})
    assert one.sentence == "GPU 5 of node n0 runs at 1200 MHz, the others at 1980"
    assert one.sick


def test_half_a_gang_that_works_otherwise_is_its_own_way_to_work() -> None:
    stages = held(("n0",), tensor_active_ratio=Known(0.6)) + held(("n1",), tensor_active_ratio=Known(0.1))
    assert list(stragglers(stages, {})) == []


@pytest.mark.parametrize(
    "readings",
    [held(("n0",))[:3], held(utilization_ratio=Known(0.1)), held(utilization_ratio=MISSING)],
    ids=["three ranks", "it rests", "unknown"],
)
def test_of_few_ranks_or_a_gang_that_rests_nobody_straggles(readings: list[GpuReading]) -> None:
    readings = [replace(readings[0], clock_hertz=Known(3e8)), *readings[1:]]
    assert list(stragglers(readings, {})) == []


def test_a_rank_that_is_not_known_might_be_the_one() -> None:
    readings = held()
    readings[5] = replace(readings[5], clock_hertz=Known(1.2e9))
    readings[9] = replace(readings[9], clock_hertz=MISSING)
    assert list(stragglers(readings, {})) == []


def test_one_rank_whose_activity_or_network_is_far_from_the_others() -> None:
    readings = held(tensor_active_ratio=Known(0.2))
    readings[0] = replace(readings[0], tensor_active_ratio=Known(0.9))
    traffic = {"n0": Known(1e9), "n1": Known(1e9), "n2": Known(1e9), "n3": Known(2e8)}
    assert [one.sentence for one in stragglers(readings, traffic)] == [
        "GPU 0 of node n0 computes for 90% of its time, the others for 20%",
        "node n3 exchanges 200 MB a second, the others 1000",
    ]


def test_sick_lost_and_throttled_gpus_name_who_holds_them() -> None:
    readings = held()
    readings[1] = replace(readings[1], last_xid_code=Known(79), health=Known(0.0))
    readings[2] = replace(readings[2], last_xid_code=Known(31))  # the program's own fault
    readings[3] = replace(readings[3], activity_ratio=Unknown(LOST), health=Known(0.0))
    readings[4] = replace(readings[4], throttle_ratio=Known(0.4))
    readings[5] = replace(readings[5], throttle_ratio=Known(0.01))
    readings[6] = replace(readings[6], health=Known(0.0), holders=())
    found = list(device_troubles(cluster(), Devices(Known(()), 600.0, tuple(readings))))
    assert [(one.kind, one.tenant, one.pool) for one in found] == [
        ("sick", "vision", "h100"),
        ("lost", "vision", "h100"),
        ("throttled", "vision", "h100"),
    ]
    assert [one.sentence for one in found] == [
        "GPU 1 of node n0 reports error 79, and vision/train-0 holds it",
        "GPU 3 of node n0 has vanished from its exporter, and vision/train-0 holds it",
        "GPU 4 of node n0 is held back by heat or a brake for 40% of its time, and vision/train-0 holds it",
    ]


def test_one_look_at_a_whole_window_tells_as_much_as_a_memory_of_it() -> None:
    readings = held()
    readings[5] = replace(readings[5], clock_hertz=Known(1.2e9))
    found = troubles_of_window(cluster(), Devices(Known(()), 600.0, tuple(readings)))
    assert [(one.kind, one.cause.kind, one.seconds) for one in found.gangs] == [
        ("hung", OtherKind.WORKLOAD, 600.0),
        ("straggling", OtherKind.GPU_HEALTH, 600.0),
    ]
    assert found.gangs[1].cause.sentence == (
        "vision/train waits for one rank: for 10m GPU 5 of node n0 runs at 1200 MHz, the others at 1980"
    )
    blind = troubles_of_window(cluster(), Devices(Known(()), 600.0, tuple(held(tensor_active_ratio=MISSING))))
    assert (blind.gangs, [one.title for one in blind.unjudged]) == ((), ["vision/train"])

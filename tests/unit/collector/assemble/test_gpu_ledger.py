"""Where each GPU stands: examples for every column, and for what may not be guessed."""

from __future__ import annotations

from dataclasses import replace

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.assemble.gpu_ledger import Devices, PoolLedger, gpu_ledger, sick_devices, total_of
from collector.assemble.infer import infer_site
from collector.model.objects import Node
from collector.model.reading import Known
from collector.model.snapshot import Evidence
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import parse_exposition
from tests.pictures import NOW, PictureMaker


def _ledgers(maker: PictureMaker, devices: Devices | None = None) -> tuple[PoolLedger, ...]:
    picture = maker.picture()
    site = infer_site(picture, "test").site
    snapshot, _ = assemble(picture, site, Evidence(), WaitClocks(), NOW)
    return gpu_ledger(picture, site, snapshot.works, devices or Devices(), NOW)


def _columns(ledger: PoolLedger) -> tuple[int, ...]:
    """total, active, idle-held, free, stranded, sick, unknown"""
    counts = (ledger.active, ledger.idle_held, ledger.free, ledger.stranded, ledger.sick, ledger.unknown)
    return (ledger.total, *counts)


def _device(node: str, index: int, activity: float = 0.9, xid: int = 0, pod: str = "") -> str:
    labels = f'UUID="GPU-{node}-{index}",gpu="{index}",Hostname="{node}",modelName="H100"'
    if pod:
        namespace, _, name = pod.partition("/")
        labels += f',namespace="{namespace}",pod="{name}",container="main"'
    return f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} {activity}\nDCGM_FI_DEV_XID_ERRORS{{{labels}}} {xid}\n"


def _devices(*lines: str) -> Devices:
    return Devices(Known(gpu_readings(parse_exposition("".join(lines)))))


def _one_node() -> PictureMaker:
    maker = PictureMaker("h100")
    maker.node("n0", gpus=4)
    return maker


def test_without_readings_held_gpus_are_unknown_and_the_reason_is_told() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=3)
    (ledger,) = _ledgers(maker)
    assert _columns(ledger) == (4, 0, 0, 0, 1, 0, 3)
    assert ledger.unknown_why == "no Prometheus was asked"


def test_held_gpus_are_active_or_idle_by_their_own_readings() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=2)
    devices = _devices(_device("n0", 0, 0.9, pod="a/p"), _device("n0", 1, 0.0, pod="a/p"))
    (ledger,) = _ledgers(maker, devices)
    assert _columns(ledger) == (4, 1, 1, 2, 0, 0, 0)
    assert [(one.active, one.idle) for one in ledger.holders] == [(1, 1)]


def test_a_pod_that_just_began_is_not_called_idle() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=1, age=60.0)
    (ledger,) = _ledgers(maker, _devices(_device("n0", 0, 0.0, pod="a/p")))
    assert (ledger.active, ledger.idle_held) == (1, 0)


def test_where_no_series_names_a_pod_held_gpus_are_unknown_and_not_idle() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=4)
    (ledger,) = _ledgers(maker, _devices(*(_device("n0", index, 0.9) for index in range(4))))
    assert (ledger.active, ledger.idle_held, ledger.unknown) == (0, 0, 4)


def test_a_device_without_reading_among_others_stays_unknown() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=2)
    (ledger,) = _ledgers(maker, _devices(_device("n0", 0, pod="a/p")))
    assert (ledger.active, ledger.unknown) == (1, 1)
    assert ledger.unknown_why == "no reading of a device of its own names the pod"


def test_a_shared_device_says_nothing_about_one_holder() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=1)
    maker.pod("b", "q", "n0", gpus=1)
    devices = _devices(_device("n0", 0, pod="a/p"), _device("n0", 0, pod="b/q"))
    (ledger,) = _ledgers(maker, devices)
    assert ledger.unknown == 2


def test_nodes_that_take_nothing_strand_their_free_gpus_and_are_named() -> None:
    maker = PictureMaker("h100")
    maker.node("n0", cordoned=True)
    maker.node("n1", ready=False)
    maker.node("n2")
    (ledger,) = _ledgers(maker)
    assert _columns(ledger) == (24, 0, 0, 8, 16, 0, 0)
    assert [(one.reason, one.gpus, one.nodes) for one in ledger.stranded_on] == [
        ("cordoned", 8, ("n0",)),
        ("not ready", 8, ("n1",)),
    ]


def test_fragments_smaller_than_most_pods_are_stranded() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.node("n1")
    maker.namespace("a")
    maker.pod("a", "small", "n0", gpus=2)
    maker.job("a", "big", gpus=4, pods=3)
    (ledger,) = _ledgers(maker)
    assert ledger.pod_size == 4
    assert (ledger.free, ledger.stranded) == (12, 2)
    assert ledger.stranded_on[0].reason == "in fragments smaller than 4"


def test_a_sick_device_counts_once_whoever_holds_it() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=1)
    devices = _devices(_device("n0", 0, 0.9, xid=79, pod="a/p"), _device("n0", 1, 0.0, xid=48), _device("n0", 2))
    (ledger,) = _ledgers(maker, devices)
    assert _columns(ledger) == (4, 0, 0, 2, 0, 2, 0)
    assert [(one.index, one.xid, one.holders) for one in sick_devices(devices)] == [
        ("0", 79, ("a/p",)),
        ("1", 48, ()),
    ]


def test_errors_of_programs_make_no_device_sick() -> None:
    assert sick_devices(_devices(_device("n0", 0, xid=31), _device("n0", 1, xid=13))) == ()


def test_a_device_that_its_exporter_calls_broken_is_sick_without_a_code() -> None:
    broken = gpu_readings(parse_exposition('gpu_health{gpu_id="1",gpu_uuid="u1",hostname="n0"} 0\n'))
    well = gpu_readings(parse_exposition('gpu_health{gpu_id="2",gpu_uuid="u2",hostname="n0"} 1\n'))
    found = sick_devices(Devices(Known((*broken, *well))))
    assert [(one.node, one.index, one.xid) for one in found] == [("n0", "1", None)]


def test_a_sick_device_that_the_node_no_longer_offers_is_still_counted() -> None:
    maker = PictureMaker("h100")
    maker.node("n0", gpus=3)
    devices = _devices(*(_device("n0", index, xid=79 if index == 3 else 0) for index in range(4)))
    (ledger,) = _ledgers(maker, devices)
    assert _columns(ledger) == (4, 0, 0, 3, 0, 1, 0)


def test_a_node_that_lost_devices_under_its_pods_does_not_count_more_than_it_has() -> None:
    maker = PictureMaker("h100")
    maker.node("n0", gpus=3)
    maker.pod("a", "p", "n0", gpus=4)
    (ledger,) = _ledgers(maker)
    assert _columns(ledger) == (3, 0, 0, 0, 0, 0, 3)


def test_an_exporter_that_names_its_own_pod_as_host_is_placed_by_the_holder() -> None:
    maker = _one_node()
    maker.pod("a", "p", "n0", gpus=1)
    (ledger,) = _ledgers(maker, _devices(_device("dcgm-exporter-x7", 0, pod="a/p")))
    assert ledger.active == 1


def test_gpus_outside_every_pool_have_a_line_of_their_own() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.node("n1", labels={})
    ledgers = _ledgers(maker)
    assert [(one.pool, one.total) for one in ledgers] == [("h100", 8), ("", 8)]
    assert total_of(ledgers).total == 16


def test_slices_are_matched_with_the_resource_of_their_profile() -> None:
    resource = "nvidia.com/mig-1g.5gb"
    maker = PictureMaker("a100")
    maker.put("nodes", "n0", Node("n0", maker.labels, {resource: 7}, ready=True, cordoned=False))
    pod = maker.pod("a", "p", "n0")
    maker.put("pods", pod.uid, replace(pod, gpus={resource: 1}))
    text = (
        'DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="G",gpu="0",Hostname="n0",GPU_I_PROFILE="1g.5gb",GPU_I_ID="7",'
        'namespace="a",pod="p",container="c"} 0.5\n'
    )
    (ledger,) = _ledgers(maker, _devices(text))
    assert (ledger.resource, ledger.active, ledger.free) == (resource, 1, 6)

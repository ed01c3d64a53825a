"""GPU readings out of exporter text: spellings of many versions, shared and cut devices, blanks, real captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.model.accelerator import GpuHolder, GpuReading, MigSlice
from collector.model.reading import Known, Reading, Unknown
from collector.parse.accelerator_readings import gpu_readings, merge_gpu_readings
from collector.parse.exposition import parse_exposition
from tests.benchmarks.bench_exposition import captured_texts

ENGINE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
SM = "DCGM_FI_PROF_SM_ACTIVE"
UTILIZATION = "DCGM_FI_DEV_GPU_UTIL"
USED = "DCGM_FI_DEV_FB_USED"
POWER = "DCGM_FI_DEV_POWER_USAGE"
XID = "DCGM_FI_DEV_XID_ERRORS"
GPU = 'gpu="0",UUID="GPU-a"'
MIB = 1024 * 1024


def readings(*lines: str, node: str = "", age_seconds: float = 0.0) -> tuple[GpuReading, ...]:
    exposition = parse_exposition("\n".join(lines) + "\n")
    assert exposition.problems == ()
    return gpu_readings(exposition, node, age_seconds)


def only_reading(*lines: str) -> GpuReading:
    (reading,) = readings(*lines)
    return reading


def reason(reading: Reading[float] | Reading[int]) -> str:
    assert isinstance(reading, Unknown)
    return reading.reason


def pod(name: str) -> GpuHolder:
    return GpuHolder("team", name, "main")


def test_a_device_is_read_in_units_that_names_tell() -> None:
    labels = f'{{{GPU},modelName="NVIDIA H100",Hostname="node-1",namespace="team",pod="train-0",container="main"}}'
    reading = only_reading(
        f"{ENGINE}{labels} 0.75",
        f"{UTILIZATION}{labels} 100",
        f"{USED}{labels} 1000",
        f"DCGM_FI_DEV_FB_FREE{labels} 79000",
        f"DCGM_FI_DEV_FB_RESERVED{labels} 500",
        f"{POWER}{labels} 650.5",
        f"DCGM_FI_DEV_GPU_TEMP{labels} 61",
        f"{XID}{labels} 79",
        f"DCGM_FI_PROF_DRAM_ACTIVE{labels} 0.25",
        f"DCGM_FI_DEV_SM_CLOCK{labels} 1980",
        f"DCGM_FI_DEV_THERMAL_VIOLATION{labels} 3e9",
        f"DCGM_FI_DEV_RELIABILITY_VIOLATION{labels} 5e8",
        f"DCGM_FI_DEV_POWER_VIOLATION{labels} 9e9",
    )
    assert reading == GpuReading(
        uuid="GPU-a",
        index="0",
        node="node-1",
        model="NVIDIA H100",
        mig=None,
        partitioned=False,
        holders=(pod("train-0"),),
        activity_ratio=Known(0.75),
        utilization_ratio=Known(1.0),
        memory_used_bytes=Known(1000.0 * MIB),
        memory_total_bytes=Known(80500.0 * MIB),
        power_watts=Known(650.5),
        temperature_celsius=Known(61.0),
        last_xid_code=Known(79),
        vendor="nvidia",
        health=Known(0.0),
        tensor_active_ratio=Unknown("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE is not exported"),
        memory_active_ratio=Known(0.25),
        power_limit_watts=Unknown("DCGM_FI_DEV_POWER_MGMT_LIMIT is not exported"),
        clock_hertz=Known(1.98e9),
        throttled_seconds=Known(3.5),
        throttle_ratio=reading.throttle_ratio,
    )
    assert isinstance(reading.throttle_ratio, Unknown), "it takes two readings"
    assert reading.attribution == "exclusive"


@pytest.mark.parametrize(
    "device",
    [
        'UUID="GPU-a",modelName="T4",Hostname="n"',
        'uuid="GPU-a",model_name="T4",hostname="n"',
        'gpu_uuid="GPU-a",modelName="T4",Hostname="n"',
    ],
)
@pytest.mark.parametrize(
    "holder",
    [
        'namespace="team",pod="x",container="main"',
        'pod_namespace="team",pod_name="x",container_name="main"',
        'namespace="gpu",pod="exporter",exported_namespace="team",exported_pod="x",exported_container="main"',
    ],
)
def test_labels_are_understood_in_the_spelling_of_every_version(device: str, holder: str) -> None:
    reading = only_reading(f'{ENGINE}{{gpu="0",{device},{holder}}} 0.5')
    assert (reading.uuid, reading.node, reading.model) == ("GPU-a", "n", "T4")
    assert reading.holders == (pod("x"),)


def test_the_exporters_own_pod_holds_no_gpu() -> None:
    assert only_reading(f'{ENGINE}{{{GPU},namespace="gpu",pod="nvidia-dcgm-exporter-x"}} 0').holders == ()
    idle, held = readings(
        f'{ENGINE}{{{GPU},namespace="gpu",pod="exporter-x"}} 0',
        f'{ENGINE}{{gpu="1",UUID="GPU-b",namespace="gpu",pod="exporter-x",exported_namespace="team",'
        'exported_pod="x",exported_container="main"} 1',
    )
    assert (idle.attribution, held.holders) == ("none", (pod("x"),))


def test_the_caller_may_know_the_node_better_than_the_exporter() -> None:
    (reading,) = readings(f'{ENGINE}{{{GPU},Hostname="nvidia-dcgm-exporter-km55s"}} 0', node="node-1")
    assert reading.node == "node-1"


def test_the_age_of_the_scrape_is_the_age_of_every_fact() -> None:
    (reading,) = readings(f"{ENGINE}{{{GPU}}} 0.5", f"{XID}{{{GPU}}} 0", age_seconds=12.0)
    assert reading.activity_ratio == Known(0.5, 12.0)
    assert reading.last_xid_code == Known(0, 12.0)


def test_activity_is_that_of_the_engine_else_of_the_multiprocessors_and_never_the_utilisation() -> None:
    assert only_reading(f"{SM}{{{GPU}}} 0.2", f"{ENGINE}{{{GPU}}} 0.9").activity_ratio == Known(0.9)
    assert only_reading(f"{SM}{{{GPU}}} 0.2", f"{UTILIZATION}{{{GPU}}} 100").activity_ratio == Known(0.2)
    busy = only_reading(f"{UTILIZATION}{{{GPU}}} 100")
    assert reason(busy.activity_ratio) == f"{ENGINE} is not exported; {SM} is not exported"
    assert busy.utilization_ratio == Known(1.0)


def test_a_fact_that_is_not_exported_is_unknown_and_not_zero() -> None:
    reading = only_reading(f"{ENGINE}{{{GPU}}} 0")
    assert reason(reading.power_watts) == f"{POWER} is not exported"
    assert reason(reading.last_xid_code) == f"{XID} is not exported"


def test_total_memory_is_known_only_when_all_of_its_parts_are() -> None:
    parts = (f"{USED}{{{GPU}}} 1", f"DCGM_FI_DEV_FB_FREE{{{GPU}}} 2")
    assert reason(only_reading(*parts).memory_total_bytes) == "DCGM_FI_DEV_FB_RESERVED is not exported"
    assert only_reading(*parts, f"DCGM_FI_DEV_FB_RESERVED{{{GPU}}} 3").memory_total_bytes == Known(6.0 * MIB)
    assert only_reading(f"DCGM_FI_DEV_FB_TOTAL{{{GPU}}} 7").memory_total_bytes == Known(7.0 * MIB)


@pytest.mark.parametrize("blank", ["2147483632", "2147483635", "140737488355328", "9223372036854775794", "NaN", "+Inf"])
def test_blank_values_are_unknown(blank: str) -> None:
    reading = only_reading(f"{POWER}{{{GPU}}} {blank}", f"{XID}{{{GPU}}} {blank}")
    assert reason(reading.power_watts) == f"blank value ({POWER})"
    assert reason(reading.last_xid_code) == f"blank value ({XID})"


def test_a_value_out_of_range_is_unknown_since_its_unit_must_have_changed() -> None:
    assert reason(only_reading(f"{ENGINE}{{{GPU}}} 75").activity_ratio).startswith(
        f"{ENGINE} is 75: expected 0 to 1.01"
    )
    assert reason(only_reading(f"{UTILIZATION}{{{GPU}}} 5000").utilization_ratio) == (
        f"{UTILIZATION} is 5000: expected 0 to 101"
    )
    assert isinstance(only_reading(f"{POWER}{{{GPU}}} -1").power_watts, Unknown)
    assert only_reading(f"{ENGINE}{{{GPU}}} 1.004").activity_ratio == Known(1.0)


def test_a_shared_device_is_counted_once_however_many_pods_repeat_its_value() -> None:
    reading = only_reading(
        *(f'{name}{{{GPU},namespace="team",pod="{one}",container="main"}} 0.5' for name in (ENGINE, SM) for one in "ab")
    )
    assert reading.activity_ratio == Known(0.5)
    assert reading.holders == (pod("a"), pod("b"))
    assert reading.attribution == "shared"


@pytest.mark.parametrize("labels", ['UUID="GPU-a::3"', 'UUID="GPU-a",vgpu="3"'])
def test_a_replica_of_a_time_sliced_device_belongs_to_the_device(labels: str) -> None:
    reading = only_reading(f'{ENGINE}{{gpu="0",{labels},namespace="team",pod="x",container="main"}} 0.5')
    assert reading.uuid == "GPU-a"
    assert reading.holders == (GpuHolder("team", "x", "main", "3"),)
    assert reading.attribution == "shared"


def test_series_per_process_beside_that_of_the_device_are_not_added_to_it() -> None:
    reading = only_reading(
        f"{USED}{{{GPU}}} 30",
        f'{USED}{{{GPU},namespace="team",pod="a",container="main"}} 10',
        f'{USED}{{{GPU},namespace="team",pod="b",container="main"}} 15',
    )
    assert reading.memory_used_bytes == Known(30.0 * MIB)


def test_series_per_process_alone_do_not_tell_the_value_of_the_device() -> None:
    reading = only_reading(
        f'{USED}{{{GPU},namespace="team",pod="a",container="main"}} 10',
        f'{USED}{{{GPU},namespace="team",pod="b",container="main"}} 15',
    )
    assert "differs between pods" in reason(reading.memory_used_bytes)


def test_two_series_of_one_device_never_hide_its_last_error() -> None:
    assert only_reading(f'{XID}{{{GPU},err_code="0"}} 0', f'{XID}{{{GPU},err_code="79"}} 79').last_xid_code == Known(79)


def test_slices_stand_beside_their_gpu_share_its_last_error_and_do_not_multiply_its_power() -> None:
    first, second = (f'{GPU},GPU_I_PROFILE="{name}",GPU_I_ID="{n}"' for name, n in (("1g.5gb", 11), ("2g.10gb", 3)))
    whole, *slices = readings(
        f'{ENGINE}{{{first},namespace="team",pod="a",container="main"}} 0.9',
        f"{ENGINE}{{{second}}} 0.1",
        f"{POWER}{{{first}}} 116.0",
        f"{POWER}{{{second}}} 116.2",
        f"{XID}{{{second}}} 94",
    )
    assert (whole.mig, whole.attribution) == (None, "none")
    assert (whole.power_watts, whole.last_xid_code) == (Known(116.2), Known(94))
    assert isinstance(whole.activity_ratio, Unknown)
    assert [one.mig for one in slices] == [MigSlice("2g.10gb", "3"), MigSlice("1g.5gb", "11")]
    assert [one.activity_ratio for one in slices] == [Known(0.1), Known(0.9)]
    assert [one.attribution for one in slices] == ["none", "slice"]
    assert reason(slices[0].power_watts) == "measured for the whole GPU, not per slice"
    assert [one.last_xid_code for one in slices] == [Known(94), Known(94)]


def test_devices_without_uuid_are_told_apart_by_node_and_index() -> None:
    found = readings(*(f'{ENGINE}{{gpu="{n}",Hostname="{host}"}} 0' for host in ("b", "a") for n in (10, 2)))
    assert [one.key for one in found] == [("a/2", ""), ("a/10", ""), ("b/2", ""), ("b/10", "")]


def test_samples_that_name_no_gpu_and_other_exporters_are_left_out() -> None:
    assert readings(f"{ENGINE} 0", f'{ENGINE}{{pod="x"}} 0', 'gpu_gfx_activity{gpu="0",UUID="y"} 3') == ()


def test_a_device_is_seen_even_when_none_of_its_facts_are_used_here() -> None:
    assert only_reading(f"DCGM_FI_DEV_SM_CLOCK{{{GPU}}} 1410").key == ("GPU-a", "")


def test_of_several_sources_each_fact_is_the_youngest_known_one() -> None:
    old = readings(f'{ENGINE}{{{GPU},pod="a"}} 0.1', f"{POWER}{{{GPU}}} 100", age_seconds=60.0)
    new = readings(f'{ENGINE}{{{GPU},pod="b",Hostname="n"}} 0.9', f"{XID}{{{GPU}}} 31", age_seconds=5.0)
    other = readings(f'{ENGINE}{{gpu="1",UUID="GPU-b",Hostname="n"}} 0.3')
    for united, last in (merge_gpu_readings(old, new, other), merge_gpu_readings(other, new, old)):
        assert united.activity_ratio == Known(0.9, 5.0)
        assert (united.power_watts, united.last_xid_code) == (Known(100.0, 60.0), Known(31, 5.0))
        assert sorted(holder.pod for holder in united.holders) == ["a", "b"]
        assert (united.node, last.uuid) == ("n", "GPU-b")


def test_a_real_a100_cut_into_three_slices(shared_folder: Path) -> None:
    text = captured_texts(shared_folder)["dcgm-mig-a100/runai-lt-2.9/mig/metrics/Active_21g.5gb__2g.10gb.ini"]
    whole, *slices = gpu_readings(parse_exposition(text))
    assert whole.model == "NVIDIA A100-SXM4-40GB"
    assert (whole.power_watts, whole.temperature_celsius) == (Known(116.163), Known(37.0))
    assert [one.mig for one in slices] == [MigSlice("2g.10gb", "5"), MigSlice("1g.5gb", "7"), MigSlice("1g.5gb", "9")]
    assert [one.activity_ratio for one in slices] == [Known(0.000036), Known(0.000062), Known(0.999917)]


def test_a_real_pair_of_t4_of_which_one_is_reserved(shared_folder: Path) -> None:
    text = captured_texts(shared_folder)["dcgm-mig-a100/runai-lt-2.9/fraction/metrics/1_workload.ini"]
    held, free = gpu_readings(parse_exposition(text))
    assert [holder.namespace for holder in held.holders] == ["runai-reservation"]
    assert (held.attribution, free.attribution) == ("exclusive", "none")
    assert held.memory_used_bytes == Known(128.0 * MIB)

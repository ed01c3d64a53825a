"""NVML asked directly, by a FAKE of the module pynvml: no GPU is behind any of this."""

from __future__ import annotations

import pytest

from collector.catalogue.accelerators import CORE
from collector.model.collected import NormalReading
from collector.model.reading import Known, Unknown
from collector.parse.nvml import nvml_readings
from collector.parse.pod_resources import DeviceHolder
from collector.sources.nvml import Nvml, NvmlMissing, load_nvml
from tests.testbed.fake_nvml import FakeGpu, FakeNvml

A = "trimtab_accelerator_"
GIB = 2**30


def readings(nvml: Nvml) -> dict[tuple[str, ...], NormalReading]:
    found = nvml_readings(nvml.read().samples, "node-1", 100.0).readings
    more = ("throttle", "code")
    return {
        (one.name.removeprefix(A), one.labels["device"], *filter(None, [one.labels["slice"]]), *(
            one.labels[label] for label in more if label in one.labels
        )): one
        for one in found
    }  # fmt: skip


def test_a_gpu_is_told_under_the_names_of_every_exporter_and_in_base_units() -> None:
    found = readings(Nvml(FakeNvml([FakeGpu("GPU-a")])))
    values = {key: one.value.value for key, one in found.items() if isinstance(one.value, Known)}
    assert values["utilization_ratio", "GPU-a"] == 0.97
    assert values["power_watts", "GPU-a"] == 650.0
    assert values["energy_joules_total", "GPU-a"] == 5000.0
    assert values["memory_used_bytes", "GPU-a"] == 60 * GIB
    assert values["health", "GPU-a"] == 1.0
    assert values["throttled_seconds_total", "GPU-a", "power"] == 2.0
    assert {name.removeprefix(A) for name in CORE} <= {key[0] for key in found}


def test_the_series_say_who_read_them_and_that_no_holder_is_known() -> None:
    labels = readings(Nvml(FakeNvml([FakeGpu("GPU-a")])))["power_watts", "GPU-a"].labels
    assert (labels["via"], labels["node"], labels["attribution"], labels["pod"]) == ("nvml", "node-1", "none", "")


def test_that_a_kernel_ran_is_no_measure_of_load() -> None:
    active = readings(Nvml(FakeNvml([FakeGpu("GPU-a")])))["active_ratio", "GPU-a"].value
    assert isinstance(active, Unknown)


def test_a_function_that_fails_costs_its_own_reading_alone() -> None:
    found = readings(Nvml(FakeNvml([FakeGpu("GPU-a", broken={"power", "ecc"}), FakeGpu("GPU-b")])))
    assert isinstance(found["power_watts", "GPU-a"].value, Unknown)
    assert isinstance(found["temperature_celsius", "GPU-a"].value, Known)
    assert isinstance(found["power_watts", "GPU-b"].value, Known)


def test_a_gpu_that_falls_off_the_bus_is_sick_and_not_silent() -> None:
    gpus = [FakeGpu("GPU-a"), FakeGpu("GPU-b")]
    nvml = Nvml(FakeNvml(gpus))
    nvml.read()
    gpus[0].lost = True
    assert ("GPU-a", "lost") in nvml.read().failures
    found = readings(nvml)
    assert found["health", "GPU-a"].value == Known(0.0)
    assert isinstance(found["power_watts", "GPU-a"].value, Unknown)
    assert isinstance(found["power_watts", "GPU-b"].value, Known)


def test_a_gpu_that_is_no_longer_counted_is_lost_as_well() -> None:
    fake = FakeNvml([FakeGpu("GPU-a"), FakeGpu("GPU-b")])
    nvml = Nvml(fake)
    nvml.read()
    fake.gpus = fake.gpus[:1]
    assert readings(nvml)["health", "GPU-b"].value == Known(0.0)


def test_a_row_that_can_not_be_remapped_makes_it_sick() -> None:
    assert readings(Nvml(FakeNvml([FakeGpu("GPU-a", remap_failed=1)])))["health", "GPU-a"].value == Known(0.0)


def test_repeated_error_codes_are_counted_each_by_itself() -> None:
    fake = FakeNvml([FakeGpu("GPU-a")])
    nvml = Nvml(fake)
    nvml.read()
    fake.events += [(fake.gpus[0], 79), (fake.gpus[0], 79), (fake.gpus[0], 31)]
    found = readings(nvml)
    assert found["errors_total", "GPU-a", "79"].value == Known(2.0)
    assert found["errors_total", "GPU-a", "79"].labels["kind"] == "hardware"
    assert found["errors_total", "GPU-a", "31"].labels["kind"] == "application"
    assert found["health", "GPU-a"].value == Known(0.0)


def test_slices_have_their_own_memory_and_no_power() -> None:
    gpu = FakeGpu("GPU-a", slices=[(7, "1g.10gb", 5 * GIB), (9, "2g.20gb", 12 * GIB)], broken={"utilization"})
    found = readings(Nvml(FakeNvml([gpu])))
    assert found["memory_used_bytes", "GPU-a", "9"].value == Known(12.0 * GIB)
    assert isinstance(found["power_watts", "GPU-a", "9"].value, Unknown)
    assert isinstance(found["utilization_ratio", "GPU-a"].value, Unknown)


def test_a_machine_without_nvml_says_what_is_missing_and_how_to_fix_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> FakeNvml:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("collector.sources.nvml.import_module", find)
    with pytest.raises(NvmlMissing, match=r"install trimtab\[nvml\]"):
        load_nvml()


def test_a_driver_that_is_not_there_is_told_apart_from_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeNvml([])

    def fail() -> None:
        raise fake.NVMLError(fake.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(fake, "nvmlInit", fail)
    monkeypatch.setattr("collector.sources.nvml.import_module", lambda _: fake)
    with pytest.raises(NvmlMissing, match="no driver of NVIDIA"):
        load_nvml()


def test_where_gpm_is_supported_the_active_ratio_is_known_from_the_second_look_on() -> None:
    nvml = Nvml(FakeNvml([FakeGpu("GPU-a", gpm=(90.0, 80.0, 45.0, 30.0)), FakeGpu("GPU-b")]))
    assert isinstance(readings(nvml)["active_ratio", "GPU-a"].value, Unknown), "a mean takes two samples"
    found = readings(nvml)
    ratios = {name: found[f"{name}_active_ratio", "GPU-a"].value for name in ("multiprocessor", "tensor", "memory")}
    assert ratios == {"multiprocessor": Known(0.8), "tensor": Known(0.45), "memory": Known(0.3)}
    assert found["active_ratio", "GPU-a"].value == Known(0.9)
    assert isinstance(found["active_ratio", "GPU-b"].value, Unknown)
    assert found["clock_hertz", "GPU-b"].value == Known(1.98e9)
    assert found["power_limit_watts", "GPU-b"].value == Known(700.0)


def test_errors_have_a_count_and_a_last_time_for_each_code() -> None:
    gpu = FakeGpu("GPU-a")
    library, moments = FakeNvml([gpu]), iter((1000.0, 1010.0, 1020.0))
    nvml = Nvml(library, lambda: next(moments))
    nvml.read()  # events count from here on
    library.events += [(gpu, 79), (gpu, 31), (gpu, 79)]
    found = readings(nvml)
    assert found["errors_total", "GPU-a", "79"].value == Known(2.0)
    assert found["last_error_timestamp_seconds", "GPU-a", "79"].value == Known(1020.0)
    assert found["last_error_timestamp_seconds", "GPU-a", "31"].value == Known(1010.0)
    assert found["last_error_timestamp_seconds", "GPU-a", "31"].labels["kind"] == "application"


def test_what_the_kubelet_tells_names_the_holder_of_gpus_shares_and_slices() -> None:
    whole, shared, cut = FakeGpu("GPU-a"), FakeGpu("GPU-b"), FakeGpu("GPU-c", slices=[(7, "1g.10gb", GIB)])
    samples = Nvml(FakeNvml([whole, shared, cut])).read().samples
    held = [
        DeviceHolder("GPU-a", "nvidia.com/gpu", "vision", "train-0", "main"),
        DeviceHolder("GPU-b::0", "nvidia.com/gpu", "vision", "nb-1", "main"),
        DeviceHolder("GPU-b::1", "nvidia.com/gpu", "nlp", "nb-2", "main"),
        DeviceHolder("MIG-GPU-c-7", "nvidia.com/mig-1g.10gb", "nlp", "small", "main"),
    ]
    found = nvml_readings(samples, "node-1", 100.0, held).readings
    told = {
        (one.labels["device"], one.labels["slice"]): (
            one.labels["attribution"],
            one.labels["namespace"],
            one.labels["pod"],
        )
        for one in found
        if one.name == f"{A}memory_used_bytes"
    }
    assert told["GPU-a", ""] == ("exclusive", "vision", "train-0")
    assert told["GPU-b", ""] == ("shared", "", "")
    assert told["GPU-c", "7"] == ("slice", "nlp", "small")
    assert told["GPU-c", ""][0] == "none"

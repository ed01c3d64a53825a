"""The fake dcgm-exporter text is valid exposition text and says what its devices say."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from controller.demo.gpu_text import GpuDevice, Holder, exposition_text

HELD = GpuDevice("gpu-0", 3, "NVIDIA H100 80GB HBM3", 0.5, Holder("vision", "train-0", "train"), xid=79)
FREE = GpuDevice("gpu-0", 4, "NVIDIA H100 80GB HBM3")


def samples(*devices: GpuDevice) -> dict[str, list[tuple[dict[str, str], float]]]:
    families = text_string_to_metric_families(exposition_text(devices))
    return {family.name: [(sample.labels, sample.value) for sample in family.samples] for family in families}


def test_every_family_has_one_sample_per_device() -> None:
    assert {name: len(found) for name, found in samples(HELD, FREE).items()} == dict.fromkeys(
        (
            "DCGM_FI_DEV_SM_CLOCK",
            "DCGM_FI_DEV_GPU_TEMP",
            "DCGM_FI_DEV_POWER_USAGE",
            "DCGM_FI_DEV_GPU_UTIL",
            "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
            "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
            "DCGM_FI_PROF_DRAM_ACTIVE",
            "DCGM_FI_DEV_FB_FREE",
            "DCGM_FI_DEV_FB_USED",
            "DCGM_FI_DEV_FB_RESERVED",
            "DCGM_FI_DEV_XID_ERRORS",
        ),
        2,
    )


def test_a_held_device_names_its_pod_and_a_free_one_none() -> None:
    (held, busy_percent), (free, idle_percent) = samples(HELD, FREE)["DCGM_FI_DEV_GPU_UTIL"]
    assert (held["namespace"], held["pod"], held["container"]) == ("vision", "train-0", "train")
    assert {"namespace", "pod", "container"}.isdisjoint(free)
    assert (held["gpu"], held["device"], held["Hostname"]) == ("3", "nvidia3", "gpu-0")
    assert (busy_percent, idle_percent) == (50.0, 0.0)


def test_memory_adds_up_to_the_same_size_on_every_device() -> None:
    found = samples(HELD, FREE)
    sizes = {
        sum(found[f"DCGM_FI_DEV_FB_{part}"][index][1] for part in ("FREE", "USED", "RESERVED")) for index in (0, 1)
    }
    assert len(sizes) == 1


def test_the_identity_of_a_device_stays_and_is_its_own() -> None:
    assert HELD.uuid == GpuDevice("gpu-0", 3, "other model").uuid
    assert len({HELD.uuid, FREE.uuid, GpuDevice("gpu-1", 3, HELD.model).uuid}) == 3


def test_without_devices_the_page_is_empty() -> None:
    assert exposition_text([]) == ""


def test_a_device_that_hangs_is_busy_and_does_nothing() -> None:
    found = {name: rows[0][1] for name, rows in samples(replace(HELD, hangs=True)).items()}
    assert (found["DCGM_FI_DEV_GPU_UTIL"], found["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"]) == (100.0, 0.0)
    assert found["DCGM_FI_DEV_POWER_USAGE"] < 350.0

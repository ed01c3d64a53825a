"""GPU readings out of a Prometheus: which series become which facts, and what is said when there are none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from collector.model.accelerator import GpuReading
from collector.model.reading import Known, Unknown
from collector.sources.errors import Unreachable
from collector.sources.gpu_series import read_devices, read_latest
from collector.sources.prometheus import Prometheus, VectorSample

DEVICE = {"UUID": "GPU-1", "gpu": "0", "Hostname": "n0", "namespace": "a", "pod": "p", "container": "c"}


RENAMED = {
    "UUID": "GPU-2",
    "gpu": "0",
    "Hostname": "n1",
    "job": "other",
    "namespace": "gpu-operator",
    "pod": "exporter",
    "exported_namespace": "b",
    "exported_pod": "q",
    "exported_container": "c",
}


class _Answers(Prometheus):
    """A server that answers the queries it was told of for each device, and others with nothing."""

    def __init__(self, answers: Mapping[str, float] | Unreachable, *devices: Mapping[str, str]) -> None:
        self.url = "http://prometheus.test"
        self._answers = answers
        self._devices = devices or (DEVICE,)
        self.asked: list[str] = []

    def instant(self, query: str, at: float | None = None) -> Sequence[VectorSample]:
        self.asked.append(query)
        if isinstance(self._answers, Unreachable):
            raise self._answers
        if query.startswith("group by (__name__)"):
            return [VectorSample({"__name__": name}, 1.0, 0.0) for name in self._names(self._answers)]
        value = self._answers.get(query)
        return [] if value is None else [VectorSample(device, value, 0.0) for device in self._devices]

    @staticmethod
    def _names(answers: Mapping[str, float]) -> set[str]:
        return {name for query in answers for name in re.findall(r"[A-Za-z_]{8,}", query) if not name.endswith("_time")}


ACTIVITY = "max_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[600s]) and DCGM_FI_PROF_GR_ENGINE_ACTIVE"


def used(prometheus: Prometheus) -> tuple[GpuReading, ...]:
    found = read_devices(prometheus, 600.0).readings
    assert isinstance(found, Known)
    return found.value


def test_activity_is_the_highest_of_the_window_and_errors_are_the_last() -> None:
    (gpu,) = used(_Answers({ACTIVITY: 0.7, "DCGM_FI_DEV_XID_ERRORS": 79.0}))
    assert gpu.activity_ratio == Known(0.7)
    assert gpu.last_xid_code == Known(79)
    assert [holder.pod for holder in gpu.holders] == ["p"]


def test_a_page_whose_labels_were_renamed_takes_nobodys_gpus_away_on_another_page() -> None:
    found = used(_Answers({ACTIVITY: 0.7}, DEVICE, RENAMED))
    assert [[holder.pod for holder in gpu.holders] for gpu in found] == [["p"], ["q"]]


def test_for_gangs_each_sign_is_what_speaks_most_against_a_hang_and_covers_the_whole_window() -> None:
    def whole(function: str, name: str) -> str:
        return f"{function}({name}[600s]) and {name} and {name} offset 600s"

    (gpu,) = read_devices(
        _Answers(
            {
                whole("min_over_time", "DCGM_FI_DEV_GPU_UTIL"): 99.0,
                whole("max_over_time", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"): 0.002,
                whole("max_over_time", "DCGM_FI_DEV_POWER_USAGE"): 131.0,
            }
        ),
        600.0,
    ).latest
    assert (gpu.utilization_ratio, gpu.tensor_active_ratio) == (Known(0.99), Known(0.002))
    assert gpu.power_watts == Known(131.0)


def test_the_last_values_are_asked_for_in_this_cluster_and_only_fresh_ones() -> None:
    matcher = '{cluster=~"|here"}'
    name = f"nvidia_smi_utilization_gpu_ratio{matcher}"
    query = f"{name} and (timestamp({name}) > time() - 150)"
    prometheus = _Answers({query: 0.5}, {"uuid": "GPU-1", "node": "n1"})
    (gpu,) = read_latest(prometheus, "here", 600.0)
    assert (gpu.uuid, gpu.node, gpu.utilization_ratio) == ("GPU-1", "n1", Known(0.5))


def test_what_our_node_role_exports_is_read_back() -> None:
    matcher = '{cluster=~"|here"}'

    def fresh(name: str) -> str:
        return f"{name}{matcher} and (timestamp({name}{matcher}) > time() - 150)"

    labels = {
        "vendor": "nvidia",
        "model": "NVIDIA H100 80GB HBM3",
        "node": "n1",
        "device": "GPU-1",
        "slice": "",
        "namespace": "vision",
        "pod": "train-0",
        "via": "nvml",
    }
    answers = {fresh("trimtab_accelerator_active_ratio"): 0.25, fresh("trimtab_accelerator_health"): 0.0}
    (gpu,) = read_latest(_Answers(answers, labels), "here", 600.0)
    assert (gpu.node, gpu.activity_ratio, gpu.health) == ("n1", Known(0.25), Known(0.0))
    assert [(holder.namespace, holder.pod) for holder in gpu.holders] == [("vision", "train-0")]


def test_no_series_is_unknown_and_not_an_empty_cluster() -> None:
    found = read_devices(_Answers({}), 600.0)
    assert found.readings == Unknown("Prometheus at http://prometheus.test has no series of a GPU exporter")


def test_an_answer_that_does_not_come_is_the_reason() -> None:
    found = read_devices(_Answers(Unreachable("GET", "/", "connection refused")), 600.0)
    assert found.readings == Unknown("Prometheus at http://prometheus.test did not answer: connection refused")


def test_an_exporter_that_serves_the_same_energy_again_and_again_is_frozen_and_its_values_are_not_believed() -> None:
    energy, by = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[300s]", "by (cluster, job, instance)"
    frozen = f"(sum {by} (changes({energy})) == 0) and (min {by} (count_over_time({energy})) >= 4)"
    found = read_devices(_Answers({ACTIVITY: 0.7, frozen: 0.0}), 600.0)
    assert found.readings == Unknown(
        "every exporter of GPUs that Prometheus at http://prometheus.test scrapes repeats the same values"
    )
    assert found.latest == (), "what stands still would look like a hang"

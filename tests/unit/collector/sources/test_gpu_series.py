"""GPU readings out of a Prometheus: which series become which facts, and what is said when there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.model.reading import Known, Unknown
from collector.sources.errors import Unreachable
from collector.sources.gpu_series import read_gpus
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
        value = self._answers.get(query)
        return [] if value is None else [VectorSample(device, value, 0.0) for device in self._devices]


def test_activity_is_the_highest_of_the_window_and_errors_are_the_last() -> None:
    prometheus = _Answers(
        {
            "max_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[600s]) and DCGM_FI_PROF_GR_ENGINE_ACTIVE": 0.7,
            "DCGM_FI_DEV_XID_ERRORS": 79.0,
        }
    )
    found = read_gpus(prometheus, 600.0)
    assert isinstance(found, Known)
    (gpu,) = found.value
    assert gpu.activity_ratio == Known(0.7)
    assert gpu.last_xid_code == Known(79)
    assert [holder.pod for holder in gpu.holders] == ["p"]


def test_a_page_whose_labels_were_renamed_takes_nobodys_gpus_away_on_another_page() -> None:
    activity = "max_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[600s]) and DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    found = read_gpus(_Answers({activity: 0.7}, DEVICE, RENAMED), 600.0)
    assert isinstance(found, Known)
    assert [[holder.pod for holder in gpu.holders] for gpu in found.value] == [["p"], ["q"]]


def test_no_series_is_unknown_and_not_an_empty_cluster() -> None:
    found = read_gpus(_Answers({}), 600.0)
    assert found == Unknown("Prometheus at http://prometheus.test has no series of dcgm-exporter")


def test_an_answer_that_does_not_come_is_the_reason() -> None:
    found = read_gpus(_Answers(Unreachable("GET", "/", "connection refused")), 600.0)
    assert found == Unknown("Prometheus at http://prometheus.test did not answer: connection refused")


def test_an_exporter_that_serves_the_same_energy_again_and_again_is_frozen_and_its_values_are_not_believed() -> None:
    activity = "max_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[600s]) and DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    energy, by = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[300s]", "by (cluster, job, instance)"
    frozen = f"(sum {by} (changes({energy})) == 0) and (min {by} (count_over_time({energy})) >= 4)"
    found = read_gpus(_Answers({activity: 0.7, frozen: 0.0}), 600.0)
    assert found == Unknown(
        "every exporter of GPUs that Prometheus at http://prometheus.test scrapes repeats the same values"
    )

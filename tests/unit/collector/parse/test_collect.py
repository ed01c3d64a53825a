"""Texts of every vendor become readings under one set of names and units, and every sample of them has its fate."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from collector.catalogue.index import find
from collector.model.collected import Collected, NormalReading
from collector.model.reading import Known, Reading, Unknown
from collector.parse.collect import NOTHING_MORE, Circumstances, SourceKind, collect_text
from tests.unit.collector.parse.vendor_texts import AMD, ASCEND, CAMBRICON, CEPH, DCGM_3, EXPOSITIONS, HAMI, KUEUE

MIB = 1024.0 * 1024.0
A = "trimtab_accelerator_"


def collected(text: str, kind: SourceKind = SourceKind.AUTO, around: Circumstances = NOTHING_MORE) -> Collected:
    found = collect_text(text, kind, around)
    assert found.samples.read == found.samples.used + found.samples.passed + sum(found.samples.dropped.values())
    return found


def only(found: Collected, name: str, **labels: str) -> NormalReading:
    (reading,) = [one for one in found.readings if one.name == name and labels.items() <= one.labels.items()]
    return reading


def value(found: Collected, name: str, **labels: str) -> Reading[float]:
    return only(found, name, **labels).value


@pytest.mark.parametrize("source", EXPOSITIONS)
def test_each_source_is_found_out_by_what_it_says_and_reads_the_same_when_named(source: str) -> None:
    text = EXPOSITIONS[source]
    found = collected(text)
    assert found.sources == (source,)
    assert found == collected(text, SourceKind(source))
    values = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert found.samples.read == len(values)
    assert found.samples.used > 0


@pytest.mark.parametrize("source", EXPOSITIONS)
def test_every_reading_stands_in_the_catalogue_with_its_unit_and_labels(source: str) -> None:
    for reading in collected(EXPOSITIONS[source]).readings:
        name = reading.name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
        entry = find(reading.name) or find(name)
        assert entry is not None, reading.name
        assert reading.unit == entry.unit
        if reading.name.startswith("trimtab_"):
            assert set(reading.labels) <= set(entry.labels), reading.name


def test_all_sources_in_one_text_are_kept_apart() -> None:
    text = "".join(text if text.endswith("\n") else text + "\n" for text in EXPOSITIONS.values())
    found = collected(text)
    parts = [collected(text) for text in EXPOSITIONS.values()]
    assert found.samples.used == sum(part.samples.used for part in parts)
    assert sorted(found.sources) == sorted(EXPOSITIONS)


def test_a_text_of_nobody_known_is_passed_on_whole() -> None:
    found = collected('up{job="x"} 1\nhttp_requests_total 5\nnot a line\n')
    assert (found.samples.passed, found.readings) == (2, ())
    assert found.samples.dropped == {"malformed line": 1}


class TestDcgm:
    found = collect_text(DCGM_3, SourceKind.AUTO)

    def test_units_are_converted(self) -> None:
        assert value(self.found, f"{A}utilization_ratio") == Known(1.0)
        assert value(self.found, f"{A}memory_used_bytes") == Known(2048 * MIB)
        assert value(self.found, f"{A}memory_total_bytes") == Known(81560 * MIB)
        assert value(self.found, f"{A}energy_joules_total") == Known(5.0)
        assert value(self.found, f"{A}throttled_seconds_total", throttle="power") == Known(3.0)

    def test_load_is_the_activity_and_not_the_utilisation(self) -> None:
        assert value(self.found, f"{A}active_ratio") == Known(0.031)

    def test_what_is_no_value_is_dropped_by_name_and_unknown(self) -> None:
        assert self.found.samples.dropped == {"blank value": 1, "names no device": 1, "truncated line": 1}
        assert value(self.found, f"{A}power_watts") == Unknown("blank value (DCGM_FI_DEV_POWER_USAGE)")
        assert self.found.samples.passed == 1

    def test_an_applications_error_leaves_the_device_healthy_and_its_repeats_are_unknown(self) -> None:
        assert value(self.found, f"{A}health") == Known(1.0)
        repeats = only(self.found, f"{A}errors_total")
        assert (repeats.labels["code"], repeats.labels["kind"]) == ("31", "application")
        assert isinstance(repeats.value, Unknown)
        assert "repeats of it can not be seen" in repeats.value.reason

    def test_a_share_of_throttled_time_is_not_made_of_one_reading(self) -> None:
        assert value(self.found, f"{A}throttle_ratio") == Unknown("from counters it takes two readings")

    def test_the_labels_say_whose_it_is(self) -> None:
        assert only(self.found, f"{A}memory_used_bytes").labels == {
            "vendor": "nvidia",
            "model": "NVIDIA H100",
            "node": "n1",
            "device": "GPU-a",
            "slice": "",
            "tenant": "",
            "namespace": "vision",
            "pod": "train-0",
            "attribution": "exclusive",
            "via": "dcgm",
        }

    def test_tenants_come_from_the_documents_and_the_node_from_whoever_knows_better(self) -> None:
        found = collected(DCGM_3, around=Circumstances(node="gpu-1", tenants={"vision": "vision-team"}))
        labels = only(found, f"{A}health").labels
        assert (labels["tenant"], labels["node"]) == ("vision-team", "gpu-1")


def dcgm(name: str, number: str, **labels: str) -> str:
    block = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{name}{{{block}}} {number}\n"


@pytest.mark.parametrize(
    ("labels", "attribution", "namespace", "pod"),
    [
        ([{}], "none", "", ""),
        ([{"namespace": "a", "pod": "p", "container": "c"}], "exclusive", "a", "p"),
        ([{"exported_namespace": "a", "exported_pod": "p", "namespace": "mon", "pod": "e"}], "exclusive", "a", "p"),
        ([{"namespace": "a", "pod": "p", "GPU_I_ID": "3", "GPU_I_PROFILE": "1g.5gb"}], "slice", "a", "p"),
        ([{"namespace": "a", "pod": "p"}, {"namespace": "a", "pod": "q"}], "shared", "a", ""),
        ([{"namespace": "a", "pod": "p"}, {"namespace": "b", "pod": "q"}], "shared", "", ""),
        ([{"namespace": "a", "pod": "p", "vgpu": "1"}], "shared", "a", "p"),
        ([{"hpc_job": "17"}], "exclusive", "", ""),
        ([{"hpc_job": "17"}, {"hpc_job": "18"}], "shared", "", ""),
        ([{"dra_claim_namespace": "a", "dra_claim_name": "claim"}], "exclusive", "a", ""),
        (
            [{"dra_mig_device_uuid": "MIG-1", "dra_mig_profile": "1g.5gb", "namespace": "a", "pod": "p"}],
            "slice",
            "a",
            "p",
        ),
    ],
)
def test_attribution_tells_whether_a_value_may_be_summed(
    labels: list[dict[str, str]], attribution: str, namespace: str, pod: str
) -> None:
    device = {"gpu": "0", "UUID": "GPU-a"}
    text = "".join(dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.5", **device, **one) for one in labels)
    reading = [one for one in collected(text).readings if one.name == f"{A}active_ratio"][-1]
    assert reading.value == Known(0.5)
    assert (reading.labels["attribution"], reading.labels["namespace"], reading.labels["pod"]) == (
        attribution,
        namespace,
        pod,
    )


class TestSums:
    def text(self, *uses: tuple[str, str, str]) -> str:
        return "".join(
            dcgm("DCGM_FI_DEV_FB_USED", number, gpu="0", UUID="GPU-a", namespace=namespace, pod=pod)
            for namespace, pod, number in uses
        )

    def memory(self, text: str) -> Mapping[str, tuple[Reading[float], float, float]]:
        sums = collected(text).sums
        return {one.namespace: (one.value, one.lowest, one.highest) for one in sums if "memory" in one.name}

    def test_a_shared_value_is_divided_between_nothing_and_all_of_it(self) -> None:
        text = self.text(("a", "p", "900"), ("a", "q", "900"), ("b", "r", "900"))
        assert self.memory(text) == {
            "a": (Known(600 * MIB), 0.0, 900 * MIB),
            "b": (Known(300 * MIB), 0.0, 900 * MIB),
        }

    def test_a_device_shared_within_one_namespace_is_all_of_its_own(self) -> None:
        assert self.memory(self.text(("a", "p", "900"), ("a", "q", "900"))) == {
            "a": (Known(900 * MIB),) + (900 * MIB,) * 2
        }

    def test_parts_that_were_measured_are_no_estimate(self) -> None:
        text = dcgm("DCGM_FI_DEV_FB_USED", "30", gpu="0", UUID="GPU-a") + self.text(("a", "p", "10"), ("b", "q", "15"))
        assert self.memory(text) == {
            "a": (Known(10 * MIB),) + (10 * MIB,) * 2,
            "b": (Known(15 * MIB),) + (15 * MIB,) * 2,
        }

    def test_a_value_that_is_not_known_refuses_the_sum(self) -> None:
        text = self.text(("a", "p", "2147483632")) + dcgm(
            "DCGM_FI_DEV_FB_USED", "5", gpu="1", UUID="GPU-b", namespace="a", pod="p"
        )
        (total,) = self.memory(text).values()
        assert isinstance(total[0], Unknown)
        assert total[0].reason == "GPU-a: blank value (DCGM_FI_DEV_FB_USED)"

    def test_the_power_of_a_gpu_is_not_multiplied_by_its_slices(self) -> None:
        slices = "".join(
            dcgm(
                "DCGM_FI_DEV_POWER_USAGE",
                "300",
                gpu="0",
                UUID="GPU-a",
                GPU_I_ID=n,
                GPU_I_PROFILE="1g",
                namespace="a",
                pod=n,
            )
            for n in ("1", "2")
        )
        (power,) = [one for one in collected(slices).sums if "power" in one.name]
        assert power.value == Unknown("GPU-a: measured for the whole GPU, not per slice")


def test_nvidia_smi_joins_name_and_counts_errors_by_code() -> None:
    found = collected(EXPOSITIONS["nvidia-smi"])
    assert only(found, f"{A}utilization_ratio", device="b7").labels["model"] == "NVIDIA L40S"
    assert value(found, f"{A}power_watts", device="b7") == Known(120.0)
    errors = only(found, f"{A}errors_total", device="b7")
    assert (errors.value, errors.labels["code"], errors.labels["kind"]) == (Known(2.0), "79", "hardware")
    assert value(found, f"{A}health", device="b7") == Known(0.0)
    assert value(found, f"{A}memory_used_bytes", device="c8", slice="2") == Known(1000.0)


class TestAmd:
    found = collect_text(AMD, SourceKind.AUTO)

    def test_percentages_megabytes_and_microjoules_are_converted(self) -> None:
        assert value(self.found, f"{A}utilization_ratio") == Known(0.88)
        assert value(self.found, f"{A}memory_used_bytes") == Known(1024 * MIB)
        assert value(self.found, f"{A}energy_joules_total") == Known(7.0)
        assert value(self.found, f"{A}throttle_ratio") == Known(0.25)
        assert value(self.found, f"{A}health") == Known(0.0)

    @pytest.mark.parametrize("change", [str.upper, lambda name: f"amd_{name}", lambda name: f"site_x_{name}"])
    def test_upper_case_and_prefixes_of_a_site_are_understood(self, change: object) -> None:
        assert callable(change)
        changed = "".join(
            line if line.startswith("#") else change(line.partition("{")[0]) + "".join(line.partition("{")[1:])
            for line in AMD.replace("gpu_nodes_total 1\n", "").splitlines(keepends=True)
        )
        assert collected(changed).readings == self.found.readings

    def test_partitions_are_slices_of_the_card(self) -> None:
        text = "".join(
            f'gpu_gfx_activity{{gpu_id="{n}",gpu_uuid="u{n}",serial_number="s",gpu_partition_id="{n}",'
            f'gpu_compute_partition_type="cpx",namespace="a",pod="p{n}"}} {n}0\n'
            for n in (1, 2)
        )
        found = collected(text)
        slices = [one.labels for one in found.readings if one.name == f"{A}utilization_ratio" and one.labels["slice"]]
        assert [(one["device"], one["slice"], one["attribution"]) for one in slices] == [
            ("s", n, "slice") for n in "12"
        ]


class TestAscend:
    found = collect_text(ASCEND, SourceKind.AUTO)

    def test_units_differ_between_chips_and_virtual_ones(self) -> None:
        assert value(self.found, f"{A}memory_used_bytes", device="D0") == Known(1024 * MIB)
        assert value(self.found, f"{A}memory_used_bytes", slice="100") == Known(2048 * 1024.0)

    def test_a_virtual_chip_is_joined_to_its_chip_by_index(self) -> None:
        labels = only(self.found, f"{A}memory_used_bytes", slice="100").labels
        assert (labels["device"], labels["attribution"], labels["pod"]) == ("D1", "slice", "small")

    def test_the_time_is_that_of_the_sample(self) -> None:
        assert only(self.found, f"{A}power_watts", device="D0").time == 1723621883.587

    def test_an_exporter_that_repeats_an_old_moment_says_nothing_about_now(self) -> None:
        found = collected(ASCEND, around=Circumstances(time=1723621883.0 + 3600))
        assert isinstance(value(found, f"{A}power_watts", device="D0"), Unknown)
        assert found.samples.dropped["stale sample"] == 7


class TestCambricon:
    def test_a_core_is_not_taken_for_the_whole_device(self) -> None:
        assert value(collected(CAMBRICON), f"{A}utilization_ratio") == Known(0.3)

    def test_names_that_a_site_has_changed_are_understood_when_told(self) -> None:
        assert isinstance(value(collected(CAMBRICON), f"{A}power_watts"), Unknown)
        told = collected(CAMBRICON, around=Circumstances(renames={"mlu_watts_of_board": "mlu_power_usage"}))
        assert value(told, f"{A}power_watts") == Known(150.0)

    def test_without_a_prefix_it_reads_the_same(self) -> None:
        bare = CAMBRICON.replace("mlu_", "")
        assert [one.value for one in collected(bare).readings] == [one.value for one in collected(CAMBRICON).readings]


class TestHami:
    found = collect_text(HAMI, SourceKind.AUTO)

    def test_its_ratio_is_a_percentage(self) -> None:
        assert value(self.found, f"{A}utilization_ratio") == Known(0.8)

    def test_parts_of_containers_stand_beside_the_device_and_both_generations_count_once(self) -> None:
        used = [one for one in self.found.readings if one.name == f"{A}memory_used_bytes"]
        assert [(one.value, one.labels["attribution"], one.labels["pod"]) for one in used] == [
            (Known(30000.0), "shared", ""),
            (Known(10000.0), "slice", "a"),
            (Known(15000.0), "slice", "b"),
        ]
        assert self.found.samples.passed == 2


def test_a_port_counter_that_stands_at_its_end_is_unknown() -> None:
    found = collected(EXPOSITIONS["node-exporter"])
    port = "trimtab_rdma_port_"
    assert value(found, f"{port}received_bytes_total") == Known(4000.0)
    assert isinstance(value(found, f"{port}transmit_wait_ticks_total"), Unknown)
    assert (value(found, f"{port}active"), value(found, f"{port}link_up")) == (Known(1.0), Known(0.0))
    assert found.samples.dropped == {"saturated counter": 1}


def test_cephs_nanoseconds_and_milliseconds_become_seconds() -> None:
    found = collected(CEPH)
    seconds = value(found, "trimtab_ceph_image_write_latency_seconds_total", image="img0", ceph_pool="rbd")
    assert isinstance(seconds, Known)
    assert seconds.value / 2040 == pytest.approx(0.0548, rel=0.01)
    (commit,) = [one.value for one in found.readings if one.name == "trimtab_ceph_osd_commit_latency_seconds"]
    assert isinstance(commit, Known)
    assert commit.value == pytest.approx(0.013)
    assert value(found, "trimtab_ceph_health_check", check="OSD_DOWN") == Known(1.0)


def test_latencies_no_longer_in_nanoseconds_are_noticed_by_their_mean() -> None:
    found = collected(CEPH.replace("111815850645.0", "111.8"))
    seconds = value(found, "trimtab_ceph_image_write_latency_seconds_total")
    assert isinstance(seconds, Unknown)
    assert "its unit must have changed" in seconds.reason
    assert found.samples.dropped == {"implausible value": 1}


def test_memory_in_bytes_instead_of_mebibytes_is_noticed() -> None:
    found = collected(dcgm("DCGM_FI_DEV_FB_USED", "2147483000", gpu="0", UUID="GPU-a"))
    assert isinstance(value(found, f"{A}memory_used_bytes"), Unknown)


def test_a_page_without_the_clusters_health_is_that_of_ceph_exporter() -> None:
    assert collected(CEPH.replace("ceph_health_status 1.0\n", "")).sources == ("ceph-exporter",)


def test_a_series_that_comes_twice_counts_once_by_its_higher_value() -> None:
    found = collected("".join(f'ceph_osd_op_w{{ceph_daemon="osd.0"}} {number}\n' for number in (5, 7, 6)))
    assert [one.value for one in found.readings] == [Known(7.0)]
    assert found.samples.dropped == {"repeats a series": 2}


def test_resources_have_one_spelling() -> None:
    found = collected(EXPOSITIONS["kube-state-metrics"])
    assert only(found, "kube_pod_container_resource_requests").labels["resource"] == "nvidia.com/gpu"
    assert only(found, "kube_resourcequota").labels["resource"] == "requests.nvidia.com/gpu"


def test_old_names_of_the_scheduler_are_read_under_the_new_ones() -> None:
    found = collected(EXPOSITIONS["kube-scheduler"])
    assert value(found, "scheduler_pod_scheduling_sli_duration_seconds_bucket", le="+Inf") == Known(10.0)
    assert value(found, "scheduler_preemption_attempts_total") == Known(4.0)


def test_no_limit_and_no_share_are_unknown_and_not_numbers() -> None:
    found = collected(KUEUE)
    assert found.samples.dropped == {"infinite value": 1, "not a number": 1}
    assert isinstance(value(found, "kueue_cluster_queue_borrowing_limit"), Unknown)
    assert isinstance(value(found, "kueue_cluster_queue_weighted_share"), Unknown)

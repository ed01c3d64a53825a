"""A window of a trace becomes a plan of Jobs."""

from __future__ import annotations

import gzip
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from tests.testbed.api import KubeApi, Manifest
from tests.testbed.cluster import BORROW, gpu_job
from tests.testbed.driver import (
    BadTrace,
    Driver,
    Report,
    TraceJob,
    held_gpus,
    plan,
    read_philly,
    shape_of,
    tenants_of,
    window_of,
)

START = datetime.fromisoformat("2017-10-09T06:00:00")


def job(after_seconds: float, gpus: int = 1, run_seconds: float = 600.0, virtual_cluster: str = "a") -> TraceJob:
    return TraceJob(START + timedelta(seconds=after_seconds), run_seconds, gpus, virtual_cluster)


def test_a_window_takes_its_start_leaves_its_end_and_is_in_order_of_time() -> None:
    late, first, end = job(30), job(0), job(60)
    assert window_of([late, first, end, job(-1)], START, START + timedelta(seconds=60)) == [first, late]


@pytest.mark.parametrize(
    ("gpus", "shape"), [(1, (1, 1)), (8, (1, 8)), (16, (2, 8)), (128, (16, 8)), (12, None), (0, None), (-8, None)]
)
def test_a_gang_is_one_pod_up_to_a_node_and_whole_nodes_beyond(gpus: int, shape: tuple[int, int] | None) -> None:
    assert shape_of(gpus) == shape


def test_named_virtual_clusters_keep_their_tenant_and_the_others_come_by_gpu_time() -> None:
    window = [job(0, 8, 100, "small"), job(0, 1, 9000, "big"), job(0, 1, 900, "middle")]
    assert tenants_of(window, ["vision", "speech=big", "chat"]) == {
        "big": "speech",
        "middle": "vision",
        "small": "chat",
    }


def test_time_is_scaled_and_no_run_is_shorter_than_a_second() -> None:
    first, second = plan([job(120, 16, 6000), job(240, 1, 3)], START, {"a": "vision"}, time_scale=60).jobs
    assert (first.due_seconds, first.run_seconds, first.pods, first.gpus_per_pod) == (2.0, 100.0, 2, 8)
    assert (second.due_seconds, second.run_seconds) == (4.0, 1.0)
    assert first.name != second.name


def test_what_is_left_out_is_counted_by_reason() -> None:
    window = [job(0, 12), job(1, 64), job(2, virtual_cluster="b"), job(3)]
    planned = plan(window, START, {"a": "vision"}, time_scale=1, max_gpus=32)
    assert len(planned.jobs) == 1
    assert planned.skipped == {
        "gang is no whole number of nodes": 1,
        "gang larger than allowed": 1,
        "virtual cluster without tenant": 1,
    }


def test_a_planned_job_is_queued_in_its_tenants_queue_and_ends_by_itself() -> None:
    (planned,) = plan([job(0, 16)], START, {"a": "vision"}, time_scale=60).jobs
    manifest = planned.manifest(queue="vision")
    assert manifest["metadata"]["namespace"] == "vision"
    assert manifest["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "vision"}
    assert manifest["spec"]["parallelism"] == manifest["spec"]["completions"] == 2
    assert manifest["spec"]["template"]["metadata"]["annotations"] == {"trimtab.io/run-seconds": "10.000"}


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    trace = tmp_path / "philly.csv.gz"
    text = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,one,66.0,11cb48\n"
    trace.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(BadTrace, match=r"philly.csv.gz, line 2: .*'one'"):
        list(read_philly(trace))


def test_the_real_trace_reads_whole(shared_folder: Path) -> None:
    jobs = list(read_philly(shared_folder / "traces" / "philly" / "philly.csv.gz"))
    assert len(jobs) == 82_247
    assert len({job.virtual_cluster for job in jobs}) == 15


def test_the_report_gives_worst_and_mean_lag() -> None:
    assert Report(2, [0.5, 1.5]).as_dict() == {
        "submitted": 2,
        "max_lag_seconds": 1.5,
        "mean_lag_seconds": 1.0,
        "skipped": {},
    }
    assert Report().max_lag_seconds == Report().mean_lag_seconds == 0.0


def test_only_what_still_stands_and_is_no_borrow_work_counts_against_the_guarantee() -> None:
    running, borrowed, done = gpu_job("a", "t", 4, 2), gpu_job("b", "t", 4, priority_class=BORROW), gpu_job("c", "t", 8)
    done["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert held_gpus([running, borrowed, done]) == 8


def test_native_work_beyond_the_guarantee_is_submitted_under_the_borrow_class() -> None:
    class Cluster:
        def __init__(self) -> None:
            self.jobs: list[Manifest] = []

        def list_objects(self, api_version: str, kind: str, namespace: str) -> list[Manifest]:
            return self.jobs

        def create(self, manifest: Manifest, manager: str) -> Manifest:
            self.jobs.append(manifest)
            return manifest

    cluster = Cluster()
    planned = plan([job(0, 4), job(0, 4), job(0, 1)], START, {"a": "vision"}, time_scale=1000)
    Driver(cast(KubeApi, cluster), planned, {"vision": 8}).run()
    classes = [one["spec"]["template"]["spec"].get("priorityClassName") for one in cluster.jobs]
    assert classes == [None, None, BORROW]
    assert all("kueue.x-k8s.io/queue-name" not in one["metadata"]["labels"] for one in cluster.jobs)

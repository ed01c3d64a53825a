"""The testbed itself: its real parts start, work together, and come back after a stop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import urllib3

from controller.demo.processes import wait_until
from tests.testbed import Testbed
from tests.testbed.api import ApiRefused, KubeApi
from tests.testbed.cluster import Site, SiteTenant, build_site, clear, gpu_job, has_condition, remove_site
from tests.testbed.driver import Driver, TraceJob, plan
from tests.testbed.kueue import API_VERSION as KUEUE
from tests.testbed.monitoring import ScrapeTarget

SITE = Site("bed", nodes=2, tenants=(SiteTenant("bed-a", floor=8, floating=2), SiteTenant("bed-b", floor=4)), shared=2)


@pytest.fixture(scope="module")
def built_site(control_plane: Testbed) -> Iterator[KubeApi]:
    api = control_plane.kubernetes.api
    build_site(api, SITE)
    yield api
    remove_site(api, SITE)


@pytest.fixture
def site(built_site: KubeApi) -> Iterator[KubeApi]:
    yield built_site
    for tenant in SITE.tenants:
        clear(built_site, tenant.name)


def test_the_fake_exporter_shows_who_holds_which_device(site: KubeApi, control_plane: Testbed) -> None:
    control_plane.start("gpu-exporter")
    site.create(gpu_job("hold", "bed-a", gpus_per_pod=2, queue="bed-a"))
    page = control_plane.gpu_exporter.url
    wait_until(lambda: _text(page).count("DCGM_FI_DEV_GPU_UTIL{") == 16, "all devices to be shown")
    held = re.compile('^DCGM_FI_DEV_GPU_UTIL{.*namespace="bed-a",pod="hold-', re.MULTILINE)
    wait_until(lambda: len(held.findall(_text(page))) == 2, "two devices to be held")


def test_a_driven_plan_is_submitted_in_time(site: KubeApi) -> None:
    start = datetime.fromisoformat("2017-10-09T06:00:00")
    window = [TraceJob(start + timedelta(seconds=60 * number), 60.0, 2, "a") for number in range(5)]
    report = Driver(site, plan(window, start, {"a": "bed-b"}, time_scale=60)).run()
    assert report.submitted == 5
    assert report.max_lag_seconds < 30.0
    wait_until(lambda: is_complete(site, "bed-b", "bed-b-00004"), "the last job to complete")


def is_complete(api: KubeApi, namespace: str, name: str) -> bool:
    return has_condition(api.get("batch/v1", "Job", name, namespace), "Complete")


def test_a_queued_job_runs_on_fake_nodes_and_completes(site: KubeApi) -> None:
    site.create(gpu_job("train", "bed-a", gpus_per_pod=4, pods=2, run_seconds=1, queue="bed-a"))
    wait_until(lambda: is_complete(site, "bed-a", "train"), "the job to complete")
    wait_until(lambda: _workload_is(site, "bed-a", "Finished"), "Kueue to see it finished")
    assert _workload_is(site, "bed-a", "Admitted")


def test_the_floor_lent_to_another_tenant_is_reclaimed(site: KubeApi) -> None:
    # 16 GPUs: the tenant's own 10, the shared 2 and the other's floor of 4.
    for number in range(8):
        site.create(gpu_job(f"borrow-{number}", "bed-a", gpus_per_pod=2, queue="bed-a"))
    wait_until(lambda: _running_gpus(site, "bed-a") == 16, "the first tenant to borrow everything")
    # In pods as small as the evicted ones: a larger pod could find what was freed on two nodes.
    site.create(gpu_job("own", "bed-b", gpus_per_pod=2, pods=2, queue="bed-b"))
    wait_until(lambda: _running_gpus(site, "bed-b") == 4, "the second tenant to reclaim its floor")
    assert _running_gpus(site, "bed-a") <= 12


def test_the_api_server_comes_back_on_its_port_with_its_data_and_its_followers(
    site: KubeApi, control_plane: Testbed
) -> None:
    url, blind_kueue = control_plane.kubernetes.url, control_plane.kueue.service.identity
    with control_plane.api_server_away():
        assert not control_plane.kubernetes.api_server.is_running()
    assert control_plane.kubernetes.url == url
    assert site.get("v1", "Namespace", "bed-a")["status"]["phase"] == "Active"
    # The old process would see nothing for a while, up to more than a minute after a second outage.
    assert control_plane.kueue.service.identity not in (None, blind_kueue)
    site.create(gpu_job("after", "bed-a", gpus_per_pod=1, run_seconds=1, queue="bed-a"))
    wait_until(lambda: is_complete(site, "bed-a", "after"), "a job to pass through every program")


def test_a_user_has_only_the_rights_it_was_given_and_its_writes_are_on_record(control_plane: Testbed) -> None:
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get"]}]
    user = control_plane.kubernetes.user("bed-clerk", rules)
    api = KubeApi.from_kubeconfig(user.kubeconfig)
    note = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note", "namespace": "default"}}
    api.create(note)
    with pytest.raises(ApiRefused, match="403"):
        api.delete("v1", "ConfigMap", "note", "default")
    verbs = [event["verb"] for event in control_plane.kubernetes.writes(user.username)]
    assert verbs == ["create", "delete"]


def test_prometheus_scrapes_kueue_and_rings_alertmanager(
    monitoring: Testbed, control_plane: Testbed, tmp_path: Path
) -> None:
    kueue = control_plane.kueue
    rules = tmp_path / "rules.yml"
    rules.write_text("groups: [{name: bed, rules: [{alert: BedIsUp, expr: 'up{job=\"kueue\"} == 1'}]}]")
    target = ScrapeTarget("kueue", kueue.metrics_url, {}, control_plane.kubernetes.token, kueue.metrics_authority)
    monitoring.prometheus.configure([target], [rules], monitoring.alertmanager)
    monitoring.prometheus.wait_for("kueue_build_info or up{job='kueue'} == 1")
    wait_until(lambda: bool(monitoring.alertmanager.alerts()), "the alert to reach Alertmanager")


def _text(url: str) -> str:
    return urllib3.request("GET", url).data.decode()


def _workload_is(api: KubeApi, namespace: str, condition: str) -> bool:
    (workload,) = api.list_objects(KUEUE, "Workload", namespace)
    return has_condition(workload, condition)


def _running_gpus(api: KubeApi, namespace: str) -> int:
    pods = api.list_objects("v1", "Pod", namespace)
    limits = (
        pod["spec"]["containers"][0]["resources"]["limits"] for pod in pods if pod["status"]["phase"] == "Running"
    )
    return sum(int(limit["nvidia.com/gpu"]) for limit in limits)

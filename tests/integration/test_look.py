"""`trimtab look`, `waits` and `explain` on a real Kubernetes with Kueue, by people with few rights and no documents.

look-a holds its own floor and the shared part, look-b its floor: look-b's next work starves, and can not reclaim.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from controller.cli.main import run
from controller.demo.processes import wait_until
from tests.testbed import Testbed
from tests.testbed.api import KubeApi, Manifest, kubeconfig_text
from tests.testbed.cluster import GIT, Site, SiteTenant, build_site, gpu_job, remove_site
from tests.testbed.monitoring import ScrapeTarget

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]

SITE = Site("lookpool", nodes=3, tenants=(SiteTenant("look-a", floor=8), SiteTenant("look-b", floor=8)), shared=8)
READ = {"verbs": ["get", "list"]}
KUEUE_KINDS = ["workloads", "localqueues", "clusterqueues", "cohorts", "resourceflavors", "workloadpriorityclasses"]
ALL_KINDS: list[Mapping[str, Any]] = [
    {**READ, "apiGroups": [""], "resources": ["nodes", "namespaces", "pods", "resourcequotas", "configmaps", "events"]},
    {**READ, "apiGroups": ["apps"], "resources": ["replicasets"]},
    {**READ, "apiGroups": ["batch"], "resources": ["jobs"]},
    {**READ, "apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"]},
    {**READ, "apiGroups": ["kueue.x-k8s.io"], "resources": KUEUE_KINDS},
]


@pytest.fixture(scope="module")
def starving(control_plane: Testbed) -> Iterator[Testbed]:
    api = control_plane.kubernetes.api
    build_site(api, SITE)
    api.apply(_without_reclaim(), GIT)
    for number in range(2):
        api.create(gpu_job(f"big-{number}", "look-a", gpus_per_pod=8, queue="look-a"))
    api.create(gpu_job("own", "look-b", gpus_per_pod=8, queue="look-b"))
    wait_until(lambda: (_running(api, "look-a"), _running(api, "look-b")) == (2, 1), "the nodes to be full")
    api.create(gpu_job("waits", "look-b", gpus_per_pod=8, queue="look-b"))
    api.create(gpu_job("hero", "look-b", gpus_per_pod=16, queue="look-b"))
    api.create(gpu_job("lost", "look-b", gpus_per_pod=1, queue="no-such-queue"))
    wait_until(lambda: len(api.list_objects("kueue.x-k8s.io/v1beta2", "Workload", "look-b")) == 4, "all to queue")
    yield control_plane
    remove_site(api, SITE)


@pytest.fixture(scope="module")
def reader(starving: Testbed) -> Path:
    return starving.kubernetes.user("looker", ALL_KINDS).kubeconfig


@pytest.fixture(scope="module")
def documents(reader: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What look inferred, with limits that a test can wait for."""
    path = tmp_path_factory.mktemp("documents") / "inferred.yaml"
    assert run(["look", "--kubeconfig", str(reader), "--yaml-out", str(path)]) == 1
    path.write_text(path.read_text(encoding="utf-8").replace("single-node: 15m", "single-node: 1s"), encoding="utf-8")
    asked = ["waits", "--kubeconfig", str(reader), "--config", str(path)]
    wait_until(lambda: run(asked) == 1, "the limit to pass")
    return path


def _without_reclaim() -> Manifest:
    (queue,) = (
        one for one in SITE.git_manifests() if (one["kind"], one["metadata"]["name"]) == ("ClusterQueue", "look-b")
    )
    return {**queue, "spec": {**queue["spec"], "preemption": {"reclaimWithinCohort": "Never"}}}


def _running(api: KubeApi, namespace: str) -> int:
    return sum(1 for pod in api.list_objects("v1", "Pod", namespace) if pod["status"]["phase"] == "Running")


def _json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*arguments, "-o", "json"]) == code
    decoded: dict[str, Any] = orjson.loads(capsys.readouterr().out)
    assert decoded["schema_version"] == 1
    return decoded


def test_a_reader_without_configuration_sees_who_waits_what_never_starts_and_which_setting_lies(
    reader: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = _json(capsys, "look", "--kubeconfig", str(reader), code=1)
    assert {"lookpool"} <= {pool["pool"] for pool in seen["pools"]}
    (pool,) = (one for one in seen["pools"] if one["pool"] == "lookpool")
    assert (pool["total"], pool["unknown"], pool["active"]) == (24, 24, None)
    assert ("look-b", "waits") in {(work["namespace"], work["name"]) for work in seen["longest_waits"]}
    reasons = {work["name"]: work["reason"] for work in seen["never_start"] if work["namespace"] == "look-b"}
    assert reasons["hero"] == "a pod asks for 16 GPUs, the largest node of pool lookpool has 8"
    assert reasons["lost"] == "its queue no-such-queue does not exist in look-b; there are: look-b"
    lies = {lie["where"]: lie["sentence"] for lie in seen["lies"]}
    assert "`reclaimWithinCohort: Never`" in lies["ClusterQueue look-b"]
    tenants = {state["tenant"]: state for state in seen["tenants"]}
    assert (tenants["look-a"]["guarantee"], tenants["look-a"]["used"], tenants["look-a"]["borrowed"]) == (8, 16, 8)


def test_the_inferred_documents_are_good_and_make_the_starved_work_show_its_holder(
    reader: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", str(documents)]) == 0
    capsys.readouterr()
    assert run(["look", "--kubeconfig", str(reader), "--config", str(documents)]) == 1
    screen = " ".join(capsys.readouterr().out.split())
    assert "look-b/waits starved" in screen
    assert "look-a borrows 8" in screen


def test_waits_lists_one_tenant_and_ends_with_one_while_something_is_overdue(
    reader: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["waits", "--kubeconfig", str(reader), "--config", str(documents), "--tenant", "look-b"]
    waits = {work["name"]: work for work in _json(capsys, *asked, code=1)["waits"]}
    assert waits["waits"]["waiting"] == "starved"
    assert waits["waits"]["overdue"]
    assert run([*asked[:-1], "look-c"]) == 2
    assert "near: look-" in capsys.readouterr().err


def test_explain_names_the_holder_of_the_quota_and_a_tenants_lack(
    reader: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--kubeconfig", str(reader), "--config", str(documents)]
    work = _json(capsys, "explain", "look-b/waits", *where, code=0)["workload"]
    holder = work["holders"][0]
    assert (holder["tenant"], holder["borrowed"]) == ("look-a", 8)
    assert {one["name"] for one in holder["works"]} == {"big-0", "big-1"}
    assert work["lies"][0]["where"] == "ClusterQueue look-b"
    tenant = _json(capsys, "explain", "look-b", *where, code=0)["tenant"]
    assert (tenant["pools"][0]["entitled"], tenant["pools"][0]["waiting"]) == (8, 8)
    assert run(["explain", "look-b/wats", *where]) == 2
    assert "near: look-b/waits" in capsys.readouterr().err


def test_somebody_who_may_not_read_everything_is_told_so_and_sees_the_rest(
    starving: Testbed, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [{**ALL_KINDS[0], "resources": ["nodes", "pods"]}, *ALL_KINDS[1:]]
    user = starving.kubernetes.user("half-looker", rules)
    assert run(["look", "--kubeconfig", str(user.kubeconfig)]) == 1
    screen = " ".join(capsys.readouterr().out.split())
    assert "namespaces: GET /api/v1/namespaces: 403 Forbidden" in screen
    assert "resourcequotas: GET" in screen
    assert "look-b/waits" in screen


def test_looking_writes_nothing(starving: Testbed, reader: Path) -> None:
    run(["look", "--kubeconfig", str(reader)])
    run(["explain", "look-b", "--kubeconfig", str(reader)])
    name = starving.kubernetes.user("looker", ALL_KINDS).username
    assert list(starving.kubernetes.writes(name)) == []


@pytest.mark.prometheus
def test_with_prometheus_held_gpus_are_known_to_compute(
    starving: Testbed, monitoring: Testbed, reader: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    starving.start("gpu-exporter")
    # A scrape may take as long as the interval: one that comes too late would take the readings away again.
    monitoring.prometheus.configure([ScrapeTarget("gpu", starving.gpu_exporter.url, {})], interval="10s")
    monitoring.prometheus.wait_for('count(DCGM_FI_DEV_GPU_UTIL{namespace=~"look-.*"}) == 24')
    url = monitoring.prometheus.url
    seen = _json(capsys, "look", "--kubeconfig", str(reader), "--prometheus-url", url, code=1)
    (pool,) = (one for one in seen["pools"] if one["pool"] == "lookpool")
    assert (pool["active"], pool["unknown"]) == (24, 0)
    assert seen["gpu_readings_problem"] is None


def test_a_prometheus_that_is_away_is_a_reason_and_no_failure(reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = _json(
        capsys, "look", "--kubeconfig", str(reader), "--prometheus-url", f"http://127.0.0.1:{_free_port()}", code=1
    )
    assert "did not answer" in seen["gpu_readings_problem"]
    assert seen["pools"][0]["active"] is None


def test_an_api_server_that_is_away_is_a_source_out_of_reach(
    starving: Testbed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = tmp_path / "away.kubeconfig"
    url = f"https://127.0.0.1:{_free_port()}"
    kubeconfig.write_text(kubeconfig_text(url, "nobody", "token", starving.kubernetes.authority), encoding="utf-8")
    assert run(["look", "--kubeconfig", str(kubeconfig)]) == 3
    said = capsys.readouterr()
    assert url in said.err
    assert said.out == ""


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])

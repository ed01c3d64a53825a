"""`trimtab run collector` as a process of its own, over a real API server, Kueue and the fake GPU exporter."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import urllib3

from collector.parse.exposition import parse_exposition
from controller.api.errors import InputError
from controller.cli import run_collector as command
from controller.demo.processes import Service, answers, free_port, wait_until
from tests.testbed import Testbed
from tests.testbed.api import KubeApi
from tests.testbed.cluster import Site, SiteTenant, build_site, gpu_job, remove_site
from tests.testbed.fake_gpu_exporter import BUSY_RATIO

ROOT = Path(__file__).resolve().parents[2]
SITE = Site("run", nodes=2, tenants=(SiteTenant("run-a", floor=8), SiteTenant("run-b", floor=8)))
DOCUMENTS = """
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  pools:
  - name: h100
    resource: nvidia.com/gpu
    nodeSelector: {testbed.trimtab.io/site: run}
    engine: kueue
    flavor: run
  tiers:
  - {name: critical, rank: 100, startWithin: {single-node: 1m}}
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: a}
spec:
  tier: critical
  members: {namespaces: [run-a]}
  pools: [{pool: h100, guarantee: 8}]
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: b}
spec:
  tier: critical
  members: {localQueues: [{namespace: run-b, name: run-b}]}
  pools: [{pool: h100, guarantee: 8, burst: 16}]
"""
COMMAND = (sys.executable, "-c", "from controller.cli.main import main; main()", "run", "collector")

Series = Mapping[tuple[str, ...], float]


class Collector:
    """The process under test and what it says."""

    def __init__(self, folder: Path, bed: Testbed) -> None:
        self.folder, self.port = folder, free_port()
        self.config = folder / "documents.yaml"
        self.config.write_text(DOCUMENTS, encoding="utf-8")
        self.url = f"http://127.0.0.1:{self.port}"
        arguments = [
            f"--config={self.config}",
            f"--kubeconfig={bed.kubernetes.kubeconfig}",
            f"--gpu-exporter={bed.gpu_exporter.url}",
            f"--listen=127.0.0.1:{self.port}",
            "--cluster=testbed",
            "--time-scale=60",
        ]
        self.service = Service(
            "collector",
            lambda: [*COMMAND, *arguments],
            folder,
            lambda: answers(f"{self.url}/readyz"),
            environment={"PYTHONPATH": str(ROOT)},
        )

    def series(self, name: str, **wanted: str) -> Series:
        """Label values without the cluster, in the order of the page → value."""
        answer = urllib3.request("GET", f"{self.url}/metrics", retries=False, timeout=60.0)
        samples = parse_exposition(answer.data.decode()).samples
        found: dict[tuple[str, ...], float] = {}
        for sample in samples:
            labels = dict(sample.labels)
            if sample.name == name and wanted.items() <= labels.items():
                labels.pop("cluster", None)
                found[tuple(labels.values())] = sample.value
        return found

    def value(self, name: str, **wanted: str) -> float | None:
        """The one series, or None when it is missing."""
        found = list(self.series(name, **wanted).values())
        assert len(found) <= 1, found
        return found[0] if found else None

    def wait(self, what: str, probe: Callable[[], bool], timeout_seconds: float = 180.0) -> None:
        wait_until(probe, f"{what}; log: {self.service.log_tail()}", timeout_seconds)


@pytest.fixture
def site(control_plane: Testbed) -> Iterator[KubeApi]:
    control_plane.start("gpu-exporter")
    build_site(control_plane.kubernetes.api, SITE)
    yield control_plane.kubernetes.api
    remove_site(control_plane.kubernetes.api, SITE)


@pytest.fixture
def collector(site: KubeApi, control_plane: Testbed, tmp_path: Path) -> Iterator[Collector]:
    collector = Collector(tmp_path, control_plane)
    collector.service.start()
    yield collector
    collector.service.stop()


def gpus(collector: Collector, what: str, tenant: str) -> float | None:
    return collector.value(f"trimtab_tenant_{what}_gpus", tenant=tenant)


@pytest.mark.kubernetes
@pytest.mark.kueue
def test_waits_reclaims_and_idle_gpus_are_told_and_what_is_gone_is_missing(
    collector: Collector, site: KubeApi, control_plane: Testbed
) -> None:
    # Nobody works yet: zeros, since they are known.
    assert collector.series("trimtab_tenant_namespace_info", tenant="b") == {("run-b", "b"): 1.0}
    assert gpus(collector, "entitled", "a") == 0
    assert gpus(collector, "idle_held", "a") == 0
    assert collector.value("trimtab_queue_oldest_pending_seconds", queue="run-a/run-a") == 0
    assert collector.value("trimtab_pool_free_gpus") == 16

    # One tenant takes everything and computes nothing with it.
    for number in range(2):
        job = gpu_job(f"lazy-{number}", "run-a", gpus_per_pod=8, queue="run-a")
        job["spec"]["template"]["metadata"]["annotations"][BUSY_RATIO] = "0"
        site.create(job)
    collector.wait("the first tenant to run", lambda: gpus(collector, "running", "a") == 16)
    assert gpus(collector, "borrowed", "a") == 8
    assert gpus(collector, "entitled", "a") == 8, "entitled demand ends at the burst"
    assert gpus(collector, "idle_held", "a") != 16, "nobody is called idle before a whole window"

    # The other reclaims its floor; its second job waits beyond the limit of a scaled minute.
    for number in range(2):
        site.create(gpu_job(f"own-{number}", "run-b", gpus_per_pod=8, queue="run-b"))
    collector.wait("the second tenant to run", lambda: gpus(collector, "running", "b") == 8)
    collector.wait("its shortfall", lambda: gpus(collector, "shortfall", "b") == 8)
    assert gpus(collector, "entitled", "b") == 16
    oldest = collector.value("trimtab_queue_oldest_pending_seconds", queue="run-b/run-b")
    assert oldest is not None
    assert oldest > 1
    evictions = collector.series("trimtab_workload_evictions_total", tenant="a")
    assert sum(evictions.values()) >= 1
    waited = sum(collector.series("trimtab_workload_wait_seconds_total", tenant="b").values())
    collector.wait(
        "the wait to add up",
        lambda: sum(collector.series("trimtab_workload_wait_seconds_total", tenant="b").values()) > waited,
    )
    collector.wait("the idle GPUs", lambda: gpus(collector, "idle_held", "a") == 8)
    assert gpus(collector, "idle_held", "b") in (0, None)

    # The GPU exporter goes: idle is unknown, all else goes on.
    control_plane.gpu_exporter.stop()
    collector.wait("idle to be missing", lambda: gpus(collector, "idle_held", "a") is None)
    refused = collector.value("trimtab_collector_errors_total", source="dcgm", reason="refused")
    assert refused is not None
    assert gpus(collector, "shortfall", "b") == 8
    control_plane.gpu_exporter.start()
    collector.wait("busy GPUs to be known again", lambda: gpus(collector, "idle_held", "b") == 0)

    # The API server goes: missing, never zero; back again: by itself, with the waits that went on.
    with control_plane.api_server_away():
        collector.wait("the tenants to be missing", lambda: gpus(collector, "entitled", "b") is None)
        assert collector.series("trimtab_queue_oldest_pending_seconds") == {}
        assert gpus(collector, "guarantee", "b") == 8, "what stands in the documents is still true"
        assert answers(f"{collector.url}/healthz")
        assert collector.value("trimtab_collector_errors_total", source="kubernetes", device="pods")
    collector.wait("the tenants to be back", lambda: gpus(collector, "shortfall", "b") == 8)
    now_oldest = collector.value("trimtab_queue_oldest_pending_seconds", queue="run-b/run-b")
    assert now_oldest is not None
    assert now_oldest > oldest


@pytest.mark.kubernetes
@pytest.mark.kueue
def test_a_broken_edit_of_the_documents_is_told_and_not_taken(collector: Collector) -> None:
    collector.config.write_text(DOCUMENTS.replace("guarantee: 8,", "guarantee: many,"), encoding="utf-8")
    collector.wait("the mistake to be counted", lambda: bool(collector.series("trimtab_collector_errors_total")))
    assert collector.series("trimtab_collector_errors_total").keys() >= {("", "invalid", "documents")}
    assert gpus(collector, "guarantee", "b") == 8
    assert "guarantee" in collector.service.log_tail()
    collector.config.write_text(DOCUMENTS.replace("guarantee: 8,", "guarantee: 4,"), encoding="utf-8")
    collector.wait("the good edit to be taken", lambda: gpus(collector, "guarantee", "b") == 4)


@pytest.mark.kubernetes
@pytest.mark.kueue
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_in_order_when_asked(collector: Collector, number: signal.Signals) -> None:
    child = collector.service._child
    assert child is not None
    child.send_signal(number)
    assert child.wait(timeout=180) == 0
    assert '"event": "stopped"' in collector.service.log_tail()


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("listen", "nowhere", "--listen: got nowhere, expected host:port"),
        (
            "listen",
            "256.0.0.1:80",
            "--listen: got 256.0.0.1:80, expected an address to listen on",
        ),
        ("gpu_exporter", ["node-1:9400"], "--gpu-exporter: got node-1:9400, expected an address such as http://"),
        ("gpu_exporter", ["http://[node"], "--gpu-exporter: got http://[node, expected an address such as http://"),
        ("rdma_probes", Path("/no/probes.yaml"), "/no/probes.yaml: got no such file or folder, expected a file"),
        ("rdma_probes", Path("/"), "/: got a folder, expected a file with YAML text"),
        ("prometheus_url", "prometheus", "--prometheus-url: got prometheus, expected an address such as http://"),
    ],
)
def test_options_that_can_not_be_used_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, value: object, words: str
) -> None:
    monkeypatch.setattr(command, "log_as_json", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    config, kubeconfig = tmp_path / "documents.yaml", tmp_path / "kubeconfig"
    config.write_text(DOCUMENTS, encoding="utf-8")
    kubeconfig.write_text(KUBECONFIG, encoding="utf-8")
    options = {"listen": "127.0.0.1:0"} | {option: value}
    with pytest.raises(InputError) as raised:
        command.run_collector(config=[config], kubeconfig=kubeconfig, **options)  # type: ignore[arg-type]  # shorthand
    assert str(raised.value).startswith(words)


def test_bad_documents_end_it_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "log_as_json", lambda: None)
    config = tmp_path / "documents.yaml"
    config.write_text("kind: Tenant\n", encoding="utf-8")
    with pytest.raises(InputError):
        command.run_collector(config=[config], listen="127.0.0.1:0")


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


def test_an_api_server_that_is_away_is_waited_for_and_said(tmp_path: Path) -> None:
    config, kubeconfig = tmp_path / "documents.yaml", tmp_path / "kubeconfig"
    config.write_text(DOCUMENTS, encoding="utf-8")
    kubeconfig.write_text(KUBECONFIG, encoding="utf-8")
    port = free_port()
    arguments = [f"--config={config}", f"--kubeconfig={kubeconfig}", f"--listen=127.0.0.1:{port}"]
    service = Service(
        "collector",
        lambda: [*COMMAND, *arguments],
        tmp_path,
        lambda: answers(f"http://127.0.0.1:{port}/readyz"),
        environment={"PYTHONPATH": str(ROOT)},
    )
    service.start()
    text = urllib3.request("GET", f"http://127.0.0.1:{port}/metrics", retries=False, timeout=60.0).data.decode()
    assert 'trimtab_collector_errors_total{device="pods",reason="unreadable",source="kubernetes"}' in text
    assert 'trimtab_collector_last_success_timestamp_seconds{cluster="default",source="kubernetes"} 0.0' in text
    assert 'trimtab_tenant_guarantee_gpus{cluster="default",pool="h100",tenant="a"} 8.0' in text
    assert "trimtab_tenant_entitled_gpus{" not in text
    assert "trimtab_tenant_namespace_info{" not in text
    service.stop()


def test_the_collector_loads_no_pandas_and_stays_small() -> None:
    probe = (
        "import sys, controller.cli.run_collector;"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM:'));"
        "print({'pandas', 'numpy', 'sklearn', 'grafanalib'} & set(sys.modules), int(peak.split()[1]) // 1024)"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=ROOT)
    heavy, megabytes = ran.stdout.rsplit(" ", 1)
    assert heavy == "set()"
    assert int(megabytes) < 110

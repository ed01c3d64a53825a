"""What the rules record of GPU exporters' series in a real Prometheus is what our parser reads from the same text.

Every text stands for a cluster of its own, scraped twice: once as it is, and once by a Prometheus that puts labels of
its own in the place of the exporter's.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeAlias

import pytest

from alerts.render.rules import prometheus_rules
from alerts.rules import rule_groups
from alerts.rules.devices import device_rules
from collector.model.accelerator import GpuReading
from collector.model.reading import Known, Reading, total
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import parse_exposition
from controller.demo.gpu_text import GpuDevice, Holder, exposition_text
from controller.demo.processes import NotInTime, wait_until
from tests.benchmarks.bench_exposition import without_problems
from tests.testbed import Testbed
from tests.testbed.monitoring import ScrapeTarget

pytestmark = pytest.mark.prometheus

FAMILIES = frozenset(
    re.findall(r"\b(?:DCGM|nvidia_smi|gpu|npu|vnpu|container_npu)_\w+", " ".join(rule.expr for rule in device_rules()))
)
"""What the rules read: a holder that only another family names is not theirs to see."""
VALUES = ("activity_ratio", "memory_used_bytes", "power_watts")
TENANTS = {"train": "vision", "talk": "speech", "runai-reservation": "vision"}
"""Namespace → tenant; every other namespace is of nobody."""
EXPORTER_LABELS = {
    "namespace": "gpu-operator",
    "pod": "nvidia-dcgm-exporter-or-metrics-exporter-or-npu-exporter-x7",
    "container": "exporter",
}
Aggregates: TypeAlias = dict[tuple[str, ...], float]
"""(series, tenant, node, attribution or "") and (series, node, device, slice or "") → value."""

OLD_NAMES = """\
DCGM_FI_DEV_FB_USED{gpu="0",uuid="GPU-a",hostname="n1",pod_namespace="train",pod_name="p",container_name="c"} 100
DCGM_FI_DEV_FB_USED{gpu="1",uuid="GPU-b",hostname="n1"} 0
DCGM_FI_DEV_POWER_USAGE{gpu="0",uuid="GPU-a",hostname="n1",pod_namespace="train",pod_name="p",container_name="c"} 301.5
DCGM_FI_PROF_SM_ACTIVE{gpu="0",uuid="GPU-a",hostname="n1",pod_namespace="train",pod_name="p",container_name="c"} 0.25
"""
SHARED = """\
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a::0",Hostname="n1",namespace="train",pod="p",container="c"} 100
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a::1",Hostname="n1",namespace="talk",pod="q",container="c"} 100
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",Hostname="n1",namespace="talk",pod="q",container="c"} 7
DCGM_FI_DEV_FB_USED{gpu="2",UUID="GPU-c",Hostname="n1",namespace="talk",pod="r",container="c",vgpu="3"} 9
DCGM_FI_DEV_FB_USED{gpu="3",UUID="GPU-d",Hostname="n1",namespace="train",pod="p",container="one"} 9
DCGM_FI_DEV_FB_USED{gpu="3",UUID="GPU-d",Hostname="n1",namespace="train",pod="p",container="two"} 11
"""
PARTLY_UNKNOWN = """\
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",Hostname="n1",namespace="train",pod="p",container="c"} 2147483632
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",Hostname="n1",namespace="train",pod="p",container="c"} 5
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-c",Hostname="n2",namespace="train",pod="p",container="c"} 5
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-d",Hostname="n2"} -1
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",Hostname="n1",namespace="train",pod="p",container="c"} 100
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b",Hostname="n1",namespace="train",pod="p",container="c"} NaN
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-c",Hostname="n2",namespace="train",pod="p",container="c"} 100
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",Hostname="n1",namespace="train",pod="p",container="c"} 1.005
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-b",Hostname="n1",namespace="train",pod="p",container="c"} 0.5
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-c",Hostname="n2",namespace="train",pod="p",container="c"} 100
"""
AMD_TEXT = """\
gpu_used_vram{gpu_id="0",serial_number="S1",gpu_uuid="A1",hostname="n1",pod="p",namespace="train",container="c"} 1000
gpu_used_vram{gpu_id="1",serial_number="S2",gpu_uuid="A2",hostname="n1"} 5
gpu_used_vram{GPU_ID="0",SERIAL_NUMBER="S3",GPU_UUID="A3",HOSTNAME="n2",POD="q",NAMESPACE="talk",CONTAINER="c"} 7
gpu_package_power{gpu_id="0",serial_number="S1",gpu_uuid="A1",hostname="n1",pod="p",namespace="train",container="c"} 500
gpu_average_package_power{gpu_id="1",serial_number="S2",gpu_uuid="A2",hostname="n1"} 90
gpu_package_power{gpu_id="1",serial_number="S2",gpu_uuid="A2",hostname="n1"} 4294967295
gpu_package_power{GPU_ID="0",SERIAL_NUMBER="S3",GPU_UUID="A3",HOSTNAME="n2",POD="q",NAMESPACE="talk",CONTAINER="c"} 80
"""
ASCEND_TEXT = """\
npu_chip_info_hbm_used_memory{id="0",vdie_id="D0",pod_name="p",namespace="train",container_name="c"} 2048
npu_chip_info_hbm_used_memory{id="1",vdie_id="",pod_name="",namespace="",container_name=""} 0
npu_chip_info_power{id="0",vdie_id="D0",pod_name="p",namespace="train",container_name="c"} 301.5
npu_chip_info_overall_utilization{id="0",vdie_id="D0",pod_name="p",namespace="train",container_name="c"} 75
npu_chip_info_vector_utilization{id="1",vdie_id="",pod_name="",namespace="",container_name=""} 40
"""
SMI_TEXT = """\
nvidia_smi_memory_used_bytes{uuid="GPU-a"} 1.1e+10
nvidia_smi_mig_memory_used_bytes{uuid="GPU-a",gpu_instance_id="7",profile="1g.10gb"} 4e+09
nvidia_smi_power_draw_watts{uuid="GPU-a"} 430
nvidia_smi_power_draw_instant_watts{uuid="GPU-a"} 447
nvidia_smi_power_draw_average_watts{uuid="GPU-b"} 33
"""
VENDOR_TEXTS: Mapping[str, str] = {"amd": AMD_TEXT, "ascend": ASCEND_TEXT, "nvidia-smi": SMI_TEXT}


def devices_of_a_small_cluster() -> Iterator[GpuDevice]:
    holders = [Holder("train", "p", "main"), Holder("talk", "q", "main"), Holder("stray", "r", "main"), None]
    for node in ("n1", "n2"):
        for index in range(8):
            holder = holders[index // 2]
            yield GpuDevice(node, index, "NVIDIA H100", 0.1 * index if holder else 0.0, holder)


OWN_TEXTS: Mapping[str, str] = {
    "a dcgm-exporter 4": exposition_text(devices_of_a_small_cluster()),
    "old names": OLD_NAMES,
    "shared": SHARED,
    "partly unknown": PARTLY_UNKNOWN,
}


def parsed(text: str) -> Aggregates:
    """The aggregates that the parser's readings give."""
    found: Aggregates = defaultdict(float)
    alone: dict[tuple[str, str], list[GpuReading]] = defaultdict(list)
    for one in gpu_readings(parse_exposition(text, FAMILIES)):
        for series in VALUES:
            if isinstance(known := getattr(one, series), Known):
                found[f"trimtab:device_{series}", one.node, *one.key] = known.value
        tenants = {TENANTS.get(holder.namespace, "unassigned") for holder in one.holders}
        for tenant in tenants if one.attribution != "none" else ():
            found["trimtab:tenant_devices", tenant, one.node, one.attribution] += 1
            if one.attribution in ("exclusive", "slice"):
                alone[tenant, one.node].append(one)
    for place, readings in alone.items():
        for series in VALUES:
            summed: Reading[float] = total(getattr(one, series) for one in readings)
            if isinstance(summed, Known):
                part = len(readings) if series == "activity_ratio" else 1
                found[f"trimtab:tenant_{series}", *place, ""] = summed.value / part
    return dict(found)


def recorded(bed: Testbed, cluster: str) -> Aggregates:
    """The same as Prometheus recorded them."""
    labels = {"tenant": ("tenant", "node", "attribution"), "device": ("node", "device", "GPU_I_ID")}
    asked = [("devices", "tenant"), *((series, subject) for series in VALUES for subject in labels)]
    return {
        (name, *(one["metric"].get(label, "") for label in labels[subject])): float(one["value"][1])
        for series, subject in asked
        if (name := f"trimtab:{subject}_{series}")
        for one in bed.prometheus.query(f'{name}{{cluster="{cluster}"}}')
    }


@contextmanager
def served(pages: Mapping[str, str]) -> Iterator[str]:
    """The address of a server that has these texts at these paths."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages[self.path].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def recording(bed: Testbed, texts: Mapping[str, str], folder: Path) -> Iterator[dict[str, Aggregates]]:
    """Prometheus scrapes every text in both ways and records; gives what should come, by cluster."""
    expected: dict[str, Aggregates] = {}
    pages, info = {}, ["# TYPE trimtab_tenant_namespace_info gauge"]
    ways = {"as it is": (True, {}), "renamed": (False, EXPORTER_LABELS)}
    targets = []
    for number, (name, text) in enumerate(texts.items()):
        pages[f"/{number}"] = text
        for way, (honor, labels) in ways.items():
            cluster = f"{name}, {way}"
            expected[cluster] = parsed(text)
            info += [
                f'trimtab_tenant_namespace_info{{cluster="{cluster}",namespace="{namespace}",tenant="{tenant}"}} 1'
                for namespace, tenant in TENANTS.items()
            ]
            targets.append((f"dcgm-{number}-{way}", f"/{number}", {"cluster": cluster, **labels}, honor))
    pages["/info"] = "\n".join(info) + "\n"
    rules = folder / "rules.yml"
    rules.write_text(prometheus_rules(rule_groups(None, 60.0)), encoding="utf-8")
    with served(pages) as url:
        scraped = [ScrapeTarget(job, url + path, labels, honor_labels=honor) for job, path, labels, honor in targets]
        bed.prometheus.configure([ScrapeTarget("trimtab-collector", f"{url}/info"), *scraped], [rules])
        try:
            yield expected
        finally:
            bed.prometheus.configure([])


def check(bed: Testbed, expected: Mapping[str, Aggregates]) -> None:
    for cluster, aggregates in expected.items():
        wanted = pytest.approx(aggregates)
        try:
            wait_until(lambda cluster=cluster, wanted=wanted: recorded(bed, cluster) == wanted, "parity")  # type: ignore[misc]  # bound now
        except NotInTime:
            assert recorded(bed, cluster) == wanted, cluster


def test_what_is_recorded_is_what_the_parser_reads(monitoring: Testbed, tmp_path: Path) -> None:
    with recording(monitoring, OWN_TEXTS, tmp_path) as expected:
        assert all(expected.values()), "each text says something of a tenant"
        check(monitoring, expected)


def test_what_is_recorded_of_real_exporters_is_what_the_parser_reads(
    monitoring: Testbed, shared_folder: Path, tmp_path: Path
) -> None:
    fixtures = shared_folder / "fixtures"
    files = sorted([*fixtures.glob("dcgm-*/**/*.ini"), *fixtures.glob("dcgm-*/*.prom")])
    texts = {file.stem: without_problems(file.read_text(encoding="utf-8")) for file in files}
    with recording(monitoring, texts, tmp_path) as expected:
        assert any(key[0] == "trimtab:tenant_devices" for found in expected.values() for key in found), "some are held"
        check(monitoring, expected)


def test_what_is_recorded_of_other_vendors_is_what_the_parser_reads(monitoring: Testbed, tmp_path: Path) -> None:
    with recording(monitoring, VENDOR_TEXTS, tmp_path) as expected:
        for vendor in ("amd", "ascend"):
            names = {key[0] for key in expected[f"{vendor}, as it is"]}
            assert {"trimtab:tenant_devices", "trimtab:tenant_memory_used_bytes", "trimtab:tenant_power_watts"} <= names
        check(monitoring, expected)


def test_what_is_recorded_of_real_exporters_of_other_vendors_is_what_the_parser_reads(
    monitoring: Testbed, shared_folder: Path, tmp_path: Path
) -> None:
    fixtures = shared_folder / "fixtures"
    files = sorted(
        [
            *fixtures.glob("nvidia-gpu-exporter-metrics/*.metrics"),
            *fixtures.glob("amd-metrics-mini/*.txt"),
            *fixtures.glob("ascend-npu-exporter/mind-cluster/prometheus_metrics*"),
        ]
    )
    # A Prometheus takes no samples of 1970, as the captures name them: the same without their times.
    texts = {
        file.stem: re.sub(r"(?m)^([^#].*\S) \d{9,}$", r"\1", without_problems(file.read_text(encoding="utf-8")))
        for file in files
    }
    with recording(monitoring, texts, tmp_path) as expected:
        assert any(key[0] == "trimtab:device_power_watts" for found in expected.values() for key in found)
        check(monitoring, expected)

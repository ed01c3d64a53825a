"""Real captures of every source: each sample is used, passed on or dropped by name, and what is said is plausible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from collector.catalogue import accelerators as names
from collector.model.collected import Collected, NormalReading
from collector.model.reading import Known, Unknown
from collector.parse.collect import SourceKind, collect_text
from collector.parse.exposition import parse_exposition
from collector.parse.rdma_files import rdma_readings
from collector.sources.rdma_sysfs import read_rdma_files
from tests.benchmarks.bench_exposition import captured_texts

GIB = 1024.0**3
PLAUSIBLE: Mapping[str, tuple[float, float]] = {
    names.MEMORY_USED: (0, 300 * GIB),
    names.MEMORY_TOTAL: (0, 300 * GIB),
    names.POWER: (0, 2000),
    names.TEMPERATURE: (0, 120),
    names.MEMORY_TEMPERATURE: (0, 120),
    "trimtab_rdma_port_rate_bytes_per_second": (1e8, 1e11),
    "trimtab_rdma_port_counter_refresh_seconds": (0.001, 1),
    "trimtab_ceph_osd_commit_latency_seconds": (0, 60),
    "trimtab_rdma_probe_latency_seconds": (1e-7, 1),
}
SOURCES: Mapping[str, str] = {
    "amd-": "amd",
    "ascend-": "ascend",
    "dcgm-": "dcgm",
    "ksm/": "kube-state-metrics",
    "kube-scheduler/": "kube-scheduler",
    "node-exporter-e2e/e2e": "node-exporter",
    "nvidia-gpu-exporter-metrics/": "nvidia-smi",
    "own-captures/ceph": "ceph-mgr",
}


def check(found: Collected, where: str) -> None:
    samples = found.samples
    assert samples.read == samples.used + samples.passed + sum(samples.dropped.values()), where
    for reading in found.readings:
        assert is_plausible(reading), f"{where}: {reading}"


def is_plausible(reading: NormalReading) -> bool:
    if isinstance(reading.value, Unknown):
        return bool(reading.value.reason)
    lowest, highest = (0.0, 1.0) if reading.unit in ("ratio", "0 or 1") else PLAUSIBLE.get(reading.name, (0.0, 1e19))
    return lowest <= reading.value.value <= highest


def test_every_sample_of_every_exposition_is_accounted_for_and_plausible(shared_folder: Path) -> None:
    texts = captured_texts(shared_folder)
    assert len(texts) > 20
    for where, text in texts.items():
        found = collect_text(text, SourceKind.AUTO)
        check(found, where)
        exposition = parse_exposition(text)
        assert found.samples.read == len(exposition.samples) + len(exposition.problems), where
        known = [source for beginning, source in SOURCES.items() if where.startswith(beginning)]
        assert list(found.sources) == known, where


def test_nothing_good_is_dropped_but_for_a_named_reason(shared_folder: Path) -> None:
    reasons = {
        reason
        for text in captured_texts(shared_folder).values()
        for reason in collect_text(text, SourceKind.AUTO).samples.dropped
    }
    assert reasons <= {"malformed line", "truncated line", "saturated counter", "not a number", "infinite value"}


def test_used_memory_is_never_above_the_total(shared_folder: Path) -> None:
    for where, text in captured_texts(shared_folder).items():
        for used, total in memories(collect_text(text, SourceKind.AUTO)):
            assert used <= total, where


def memories(found: Collected) -> Iterator[tuple[float, float]]:
    by_labels: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}
    for one in found.readings:
        if isinstance(one.value, Known):
            by_labels.setdefault(tuple(sorted(one.labels.items())), {})[one.name] = one.value.value
    for facts in by_labels.values():
        if names.MEMORY_USED in facts and names.MEMORY_TOTAL in facts:
            yield facts[names.MEMORY_USED], facts[names.MEMORY_TOTAL]


def test_every_output_of_ucx_has_its_result(shared_folder: Path) -> None:
    for path in sorted((shared_folder / "fixtures" / "own-captures" / "ucx").glob("*.txt")):
        found = collect_text(path.read_text(), SourceKind.AUTO)
        check(found, path.name)
        assert found.sources == ("ucx",)
        assert (found.samples.read, found.samples.used) == (1, 1)


def test_what_perftest_prints_without_a_device_is_no_result(shared_folder: Path) -> None:
    text = (shared_folder / "fixtures" / "own-captures" / "rdma-nodevice.txt").read_text()
    assert collect_text(text, SourceKind.PERFTEST).samples.read == 0


@pytest.mark.parametrize(
    ("folder", "devices", "active"),
    [("ib-sysfs-h100", 9, 9), ("procfs-infiniband", 3, 4)],
)
def test_every_file_of_every_port_is_accounted_for(shared_folder: Path, folder: str, devices: int, active: int) -> None:
    tree = shared_folder / "fixtures" / folder
    files = read_rdma_files(tree)
    found = rdma_readings(files)
    check(found, folder)
    assert found.samples.read == sum(one.name != "link_layer" for one in files)
    assert len({one.labels["device"] for one in found.readings}) == devices
    states = [one for one in found.readings if one.name == "trimtab_rdma_port_active"]
    assert sum(one.value == Known(1.0) for one in states) == active

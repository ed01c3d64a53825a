"""Probes with perftest's programs, a FAKE here: write and read apart, one at a time, and what can go wrong."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from collector.assemble.probe_memory import ProbeMemory
from collector.exporter.http import Address, HttpServer, metrics_app
from collector.exporter.node_probes import NodeProbes
from collector.exporter.probe_families import NodeProbeCollector
from collector.exporter.probe_http import node_routes
from collector.model.probing import Link, Nic, Operation, ProbeHost, ProbeSettings, Tool
from collector.model.reading import Known, Unknown
from collector.sources.probe_gather import gather
from collector.sources.probe_peer import SERVE, ask_peer
from collector.sources.probe_tool import ProbeFault
from controller.demo.processes import free_port, wait_until
from tests.testbed import fake_perftest

TOKEN = "t0ken"
HERE, THERE = Nic("here", "mlx5_0", "127.0.0.1", 0), Nic("there", "mlx5_1", "127.0.0.1", 0)
LINK = Link(HERE.key, THERE.key)
QUANTITIES = {(operation, quantile) for operation in (Operation.WRITE, Operation.READ) for quantile in (0.5, 0.99)}


class TwoNodes:
    """`here` asks; `there` serves over HTTP. Both on 127.0.0.1, so that one port serves for both."""

    def __init__(self, settings: ProbeSettings) -> None:
        self.here = NodeProbes("here", settings, TOKEN, time.time, ProbeMemory())
        self.there = NodeProbes("there", settings, TOKEN, time.time, ProbeMemory())
        routes = node_routes(self.there, self.there.serve, lambda: {"node": "there", "links": []})
        app = metrics_app(CollectorRegistry(), lambda: True, more=routes)
        self.server = HttpServer(app, Address("127.0.0.1", settings.port))
        self.server.start()


@pytest.fixture
def settings() -> ProbeSettings:
    hosts = (ProbeHost("here", "127.0.0.1", (HERE,)), ProbeHost("there", "127.0.0.1", (THERE,)))
    port, data_port = free_port(), free_port()
    return ProbeSettings(
        hosts, tool=Tool.PERFTEST, port=port, first_data_port=data_port, timeout_seconds=60.0, traffic_class=106
    )


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the two programs, first in the path."""
    for name in ("ib_write_lat", "ib_read_lat"):
        program = tmp_path / name
        program.write_text(f"#!{sys.executable}\n" + Path(fake_perftest.__file__).read_text())
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


@pytest.fixture
def nodes(settings: ProbeSettings) -> Iterator[TwoNodes]:
    made = TwoNodes(settings)
    yield made
    made.server.stop()


def test_write_and_read_are_measured_apart_and_counted_for_the_nic(nodes: TwoNodes, tools: Path) -> None:
    probe = nodes.here.probe(LINK)
    assert probe.fault == "", probe
    assert set(probe.latency_seconds) == QUANTITIES
    told = {quantity: one.value for quantity, one in probe.latency_seconds.items() if isinstance(one, Known)}
    assert told[Operation.WRITE, 0.5] == pytest.approx(2.05e-6)
    assert told[Operation.READ, 0.99] == pytest.approx(2.43e-6)
    registry = CollectorRegistry()
    registry.register(NodeProbeCollector("c1", nodes.here, lambda: 4))
    page = generate_latest(registry).decode()
    for operation, path in (("write", "half"), ("read", "whole")):
        labels = f'cluster="c1",device="mlx5_0",le="4e-06",node="here",operation="{operation}",path="{path}"'
        assert f"trimtab_rdma_nic_latency_seconds_bucket{{{labels}}} 1.0" in page
    assert "trimtab_rdma_probe_pace_ratio" in page


def test_a_nic_with_itself_is_measured_without_asking_anybody_and_is_in_no_histogram(
    nodes: TwoNodes, tools: Path
) -> None:
    nodes.server.stop()
    assert nodes.here.probe(Link(HERE.key, HERE.key)).fault == ""
    assert nodes.here.histograms == {}


def test_at_one_nic_there_is_one_probe_at_a_time(nodes: TwoNodes, tools: Path, settings: ProbeSettings) -> None:
    body = {"source": HERE.key, "destination": THERE.key, "operation": "write", "quantiles": [0.5, 0.99]}
    assert ask_peer("127.0.0.1", settings.port, SERVE, TOKEN, body).status == 200  # and nobody comes to it
    probe = nodes.here.probe(LINK)
    assert probe.fault == ProbeFault.BUSY
    assert nodes.here.memory.links == {}, "that it was busy says nothing of the link"
    assert nodes.here.faults == {("mlx5_0", "busy"): 1}


def test_a_program_that_is_not_there_and_a_peer_that_is_not_are_told_apart(nodes: TwoNodes, tmp_path: Path) -> None:
    missing = nodes.here.probe(LINK)
    assert missing.fault == ProbeFault.NO_COMMAND
    assert missing.latency_seconds[Operation.READ, 0.5] == Unknown("there: ib_write_lat is not installed here")
    nodes.server.stop()
    probe = nodes.here.probe(LINK)
    assert probe.fault == ProbeFault.UNREACHABLE
    assert set(probe.latency_seconds) == QUANTITIES
    assert all(isinstance(one, Unknown) for one in probe.latency_seconds.values())


def test_another_token_or_a_nic_of_somebody_else_is_refused(nodes: TwoNodes, settings: ProbeSettings) -> None:
    stranger = NodeProbes("here", settings, "another", time.time, ProbeMemory())
    assert stranger.probe(LINK).fault == ProbeFault.REFUSED
    assert NodeProbes("here", settings, "", time.time, ProbeMemory()).authorized("Bearer ") is False
    assert nodes.there.serve({"source": HERE.key, "destination": HERE.key}).status == 403
    assert nodes.here.probe(Link(THERE.key, HERE.key)).fault == ProbeFault.REFUSED


def test_what_is_not_output_of_perftest_is_no_latency(nodes: TwoNodes, tools: Path) -> None:
    (tools / "ib_write_lat").write_text("#!/bin/sh\necho Unable to find the Infiniband/RoCE device\nexit 1\n")
    probe = nodes.here.probe(LINK)
    assert probe.fault == ProbeFault.NO_RESULT
    wanted = "perftest gave no median: Unable to find the Infiniband/RoCE device"
    assert probe.latency_seconds[Operation.WRITE, 0.5] == Unknown(wanted)


def test_a_probe_under_way_ends_when_the_collector_stops(nodes: TwoNodes, tools: Path) -> None:
    (tools / "ib_write_lat").write_text("#!/bin/sh\nexec sleep 60\n")
    threading.Timer(0.5, nodes.here.close).start()
    began = time.monotonic()
    assert nodes.here.probe(LINK).fault == ProbeFault.STOPPED
    assert time.monotonic() - began < 30


def test_gathering_asks_each_node_and_names_those_that_do_not_answer(nodes: TwoNodes, settings: ProbeSettings) -> None:
    found = gather(settings, "")
    assert (found.states, found.failures) == ((), {})
    nodes.server.stop()
    wait_until(lambda: set(gather(settings, "").failures) == {"here", "there"}, "both to be silent")

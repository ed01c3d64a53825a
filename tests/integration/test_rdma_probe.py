"""A real ucx_perftest across two network namespaces: what is usual, a longer way, a noisy neighbour, a server gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collector.assemble.fabric import LEAST_PROBES, FabricMemory
from collector.model.fabric import Edge, EdgeProbe, ProbePlan, ProbeTarget
from collector.model.reading import Known, Unknown
from collector.sources.rdma_probe import Probed, ProbeFault, RdmaProber
from controller.demo.processes import wait_until
from tests.testbed import Testbed
from tests.testbed.network import ADDRESSES, LinkTerms
from tests.testbed.parts import UCX
from tests.testbed.ucx import LEFT, QUIET, RIGHT, UCX_ENVIRONMENT, Ucx

pytestmark = pytest.mark.network
EDGE = Edge("left", "right")


@pytest.fixture
def pair(fabric: Testbed) -> Iterator[Ucx]:
    yield fabric.ucx
    fabric.ucx.silence()
    fabric.ucx.shape(QUIET)


def target(pair: Ucx, **more: object) -> ProbeTarget:
    fields: dict[str, object] = {
        "edge": EDGE,
        "address": ADDRESSES[RIGHT],
        "port": 13337,
        "client": pair.enter(LEFT),
        "server": pair.enter(RIGHT),
        "environment": UCX_ENVIRONMENT,
    }
    return ProbeTarget(**(fields | more))  # type: ignore[arg-type]  # a test's shorthand


def prober(timeout_seconds: float = 120.0, iterations: int = 100) -> RdmaProber:
    return RdmaProber(ProbePlan((), timeout_seconds=timeout_seconds, iterations=iterations))


def p50(probed: Probed) -> float:
    reading = probed.latency_seconds[0.5]
    assert isinstance(reading, Known), reading
    return reading.value


def servers_left() -> list[str]:
    """Command lines of probes that still run on this machine for our port."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if UCX.binaries[0] in words[0] and "13337" in words:
            found.append(" ".join(words))
    return found


def test_a_noisy_neighbour_is_seen_against_what_is_usual_and_goes_as_it_came(pair: Ucx) -> None:
    ask, memory = prober(), FabricMemory(stale_after_seconds=600.0)

    def probe(count: int) -> None:
        nonlocal memory
        for _ in range(count):
            memory = memory.advance(EDGE, EdgeProbe(time.time(), ask.probe(target(pair)).latency_seconds))

    def ratio() -> float:
        lasting, usual = memory.lasting_seconds(EDGE, 0.5, time.time()), memory.baseline_seconds(EDGE, 0.5)
        assert isinstance(lasting, Known), lasting
        assert isinstance(usual, Known), usual
        return lasting.value / usual.value

    def probe_until(seen: Callable[[], bool], what: str) -> None:
        """Twice, and some times more where the machine itself was busy just then."""
        probe(2)
        for _ in range(10):
            if seen():
                return
            probe(1)
        raise AssertionError(f"{what}: {ratio():.1f} times the usual")

    probe(LEAST_PROBES)
    probe_until(lambda: ratio() < 3, "a quiet link")
    pair.make_noise()
    probe_until(lambda: ratio() > 3, "a neighbour fills the link")
    assert pair.noise.is_running(), pair.noise.log_tail()
    pair.silence()
    probe_until(lambda: ratio() < 3, "it was the neighbour")


def test_a_longer_way_takes_the_longer_time(pair: Ucx) -> None:
    pair.shape(LinkTerms(delay_seconds=0.010, bits_per_second=QUIET.bits_per_second))
    probed = prober().probe(target(pair))
    assert probed.failed is None
    assert 0.010 < p50(probed) < 0.5
    tail = probed.latency_seconds[0.99]
    assert isinstance(tail, Known)
    assert tail.value > 0.010


def test_a_server_that_ends_during_the_run_is_no_latency_and_leaves_nothing_behind(pair: Ucx) -> None:
    slow = LinkTerms(delay_seconds=0.05, bits_per_second=QUIET.bits_per_second)
    pair.shape(slow)
    short_lived = (*pair.enter(RIGHT), "timeout", "5")
    probed = prober(iterations=100_000).probe(target(pair, server=short_lived))
    assert probed.failed is not None
    assert probed.failed.fault is ProbeFault.NO_SERVER
    assert probed.latency_seconds == {q: Unknown("the server ended") for q in (0.5, 0.99)}
    wait_until(lambda: servers_left() == [], "the probes to be gone", 60.0)


def test_a_destination_that_can_not_serve_says_why(pair: Ucx) -> None:
    probed = prober().probe(target(pair, server=("sh", "-c", "echo no way to gpu-2 >&2; exit 255")))
    assert probed.latency_seconds[0.99] == Unknown("the server ended at once: no way to gpu-2")


def test_a_device_that_is_not_there_says_why(pair: Ucx) -> None:
    probed = prober().probe(target(pair, environment={**UCX_ENVIRONMENT, "UCX_NET_DEVICES": "mlx5_7"}))
    assert probed.failed is not None
    assert probed.failed.fault in (ProbeFault.NO_RESULT, ProbeFault.NO_SERVER)
    assert isinstance(probed.latency_seconds[0.5], Unknown)


def test_a_command_that_does_not_exist_says_so(pair: Ucx) -> None:
    probed = prober().probe(target(pair, client=("no-such-program",)))
    assert probed.failed is not None
    assert probed.failed.fault is ProbeFault.NO_COMMAND
    assert probed.latency_seconds[0.5] == Unknown("no-such-program: No such file or directory")


def test_a_probe_ends_at_its_time_and_when_the_collector_stops(pair: Ucx) -> None:
    pair.shape(LinkTerms(delay_seconds=0.2, bits_per_second=QUIET.bits_per_second))
    late = prober(timeout_seconds=1.5).probe(target(pair))
    assert late.latency_seconds[0.5] == Unknown("no result within 1.5 s")
    stopped = prober()
    threading.Timer(0.5, stopped.close).start()
    began = time.monotonic()
    probed = stopped.probe(target(pair))
    assert probed.failed is not None
    assert probed.failed.fault is ProbeFault.STOPPED
    assert time.monotonic() - began < 20, "by itself it would take 40 s"
    wait_until(lambda: servers_left() == [], "the probes to be gone", 60.0)

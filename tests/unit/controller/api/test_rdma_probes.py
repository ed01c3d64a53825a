"""The file of edges to probe: read whole or refused with every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.model.fabric import Edge, ProbePlan, ProbeTarget
from controller.api.errors import InputError
from controller.api.rdma_probes import parse_probe_plan

WHOLE = """
interval: 30s
timeout: 5s
iterations: 1000
progress: poll
environment: {UCX_TLS: "rc,self"}
edges:
- source: gpu-1
  destination: gpu-2
  address: 10.0.0.2
  port: 13400
  client: [ssh, gpu-1]
  server: [ssh, gpu-2]
"""


def test_a_whole_file_is_read() -> None:
    target = ProbeTarget(
        Edge("gpu-1", "gpu-2"), "10.0.0.2", 13400, ("ssh", "gpu-1"), ("ssh", "gpu-2"), {"UCX_TLS": "rc,self"}
    )
    assert parse_probe_plan(WHOLE, "probes.yaml") == ProbePlan((target,), 30.0, 5.0, 1000, "poll")


def test_what_is_left_out_has_a_default() -> None:
    plan = parse_probe_plan("edges: [{source: a, destination: b, address: b.example}]", "probes.yaml")
    assert plan == ProbePlan((ProbeTarget(Edge("a", "b"), "b.example", 13337),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "probes.yaml: got 0 documents, expected one mapping with the key edges"),
        ("- a", "probes.yaml: got 1 documents, expected one mapping with the key edges"),
        ("edges: [", "probes.yaml: line"),
        ("edges: []", "probes.yaml: edges: got [], expected at least one entry"),
        ("interval: 5", "interval: got 5, expected a duration with its unit"),
        ("edges: [{source: a, destination: b, address: -x}]", "edges[0].address: got -x, expected an IP address"),
        ("edges: [{source: a, destination: b, address: b, port: 0}]", "edges[0].port: got 0, expected a number of at"),
        ("edges: [{source: a, destination: a, address: b}]", "edges[0].destination: got a, expected another node"),
        ("edges: [{source: a, destination: b, address: b, shell: x}]", "edges[0].shell: got x, expected a known key"),
        (
            "edges: [{source: a, destination: b, address: b}, {source: a, destination: b, address: b}]",
            "edges[1]: got {source: a, destination: b, address: b}, expected each pair once; this one stands at",
        ),
        (
            "environment: {PATH: /x}\nedges: [{source: a, destination: b, address: b}]",
            "environment: got {PATH: /x}, expected variables of UCX, such as UCX_TLS, and not PATH",
        ),
        (
            "environment: {UCX_TLS: $(x)}\nedges: [{source: a, destination: b, address: b}]",
            "environment: got {UCX_TLS: $(x)}, expected for UCX_TLS a value of letters, digits and",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_probe_plan(text, "probes.yaml")
    assert message in str(caught.value)


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse_probe_plan("timeout: soon\nedges: [{source: a, destination: b}]", "probes.yaml")
    assert [mistake.place for mistake in caught.value.mistakes] == [
        "probes.yaml: timeout",
        "probes.yaml: edges[0].address",
    ]


def test_the_example_is_read() -> None:
    example = Path(__file__).resolve().parents[4] / "deploy" / "examples" / "rdma" / "probes.yaml"
    plan = parse_probe_plan(example.read_text(encoding="utf-8"), example.name)
    assert [str(target.edge) for target in plan.targets] == ["gpu-1 to gpu-2"]

"""The file about NICs to probe: what it means, and every mistake in it at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.model.probing import Nic, Tool, Where
from controller.api.errors import InputError
from controller.api.probe_settings import parse_probe_settings

EXAMPLE = Path(__file__).resolve().parents[4] / "deploy" / "examples" / "rdma" / "fabric.yaml"
NODE = "nodes:\n- {name: a, address: 10.0.0.1, nics: [{device: mlx5_0, address: 10.1.0.1, rail: 0}]}\n"


def mistakes(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_probe_settings(text, "fabric.yaml")
    return [str(one) for one in caught.value.mistakes]


def test_the_example_is_read() -> None:
    settings = parse_probe_settings(EXAMPLE.read_text(encoding="utf-8"), "fabric.yaml")
    assert (settings.where, settings.tool, settings.degree) == (Where.DRAINED, Tool.PERFTEST, 6)
    assert settings.nic("gpu-3/mlx5_1") == Nic("gpu-3", "mlx5_1", "203.0.113.3", 1, "leaf-b1")
    assert (settings.traffic_class, settings.gid_index) == (106, 3)
    nics = settings.hosts[0].nics
    assert [settings.data_port(nic) for nic in nics] == [18515, 18516]


def test_what_is_left_out_has_a_default_that_disturbs_nobody() -> None:
    settings = parse_probe_settings(NODE, "fabric.yaml")
    assert (settings.where, settings.period_seconds, settings.changing_ratio) == (Where.DRAINED, 600.0, 0.1)
    assert settings.traffic_class is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("linksPerNic: 5\n" + NODE, "linksPerNic"),
        ("tool: ping\n" + NODE, "tool"),
        ("where: everywhere\n" + NODE, "where"),
        ("environment: {PATH: /tmp}\n" + NODE, "environment"),
        ("trafficClass: 256\n" + NODE, "trafficClass"),
        (NODE.replace("mlx5_0", "-x"), "device"),
        (NODE.replace("10.1.0.1", "--help"), "address"),
        (NODE + NODE.removeprefix("nodes:\n"), "nodes[1].name"),
        (NODE + NODE.removeprefix("nodes:\n").replace("name: a", "name: b"), "nodes[1]"),
        ("nodes: [{name: a, address: 10.0.0.1}]\n", "nodes[0]"),
        ("nodes: [{name: a, address: 10.0.0.1, addresses: [10.1.0.1]}]\n", "nodes[0].addresses"),
        ("rails: [mlx5_0]\nnodes: [{name: a, address: 10.0.0.1, addresses: [10.1.0.1, 10.1.0.2]}]\n", "addresses"),
        ("nodes: []\n", "nodes"),
        ("- nodes\n", "fabric.yaml"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, place: str) -> None:
    assert any(place in one for one in mistakes(text)), mistakes(text)


def test_all_mistakes_are_told_at_once() -> None:
    assert len(mistakes("linksPerNic: 5\ntool: ping\n" + NODE)) == 2


def test_where_all_nodes_are_alike_their_nics_are_addresses_in_the_order_of_rails() -> None:
    text = (
        "rails: [mlx5_0, mlx5_3]\n"
        "nodes:\n"
        "- {name: a, address: 10.0.0.1, group: pod1, addresses: [10.1.0.1, 10.2.0.1]}\n"
        "- {name: b, address: 10.0.0.2, addresses: [10.1.0.2]}\n"
    )
    assert parse_probe_settings(text, "fabric.yaml").nics == (
        Nic("a", "mlx5_0", "10.1.0.1", 0, "pod1-0"),
        Nic("a", "mlx5_3", "10.2.0.1", 1, "pod1-1"),
        Nic("b", "mlx5_0", "10.1.0.2", 0),
    )

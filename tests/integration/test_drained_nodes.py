"""Which nodes are drained, asked of a real API server with the rights that the chart gives; and why it is not known."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from collector.sources.drained_nodes import DrainedUnknown, drained_nodes
from controller.knobs.rights import node_rules
from tests.testbed import Testbed


@pytest.mark.kubernetes
def test_nodes_that_take_no_new_pods_are_named_with_the_right_to_list_nodes_alone(
    control_plane: Testbed, tmp_path: Path
) -> None:
    kubernetes = control_plane.kubernetes
    for name, cordoned in (("probe-drained", True), ("probe-in-use", False)):
        manifest = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        kubernetes.api.apply({**manifest, "spec": {"unschedulable": cordoned}}, "testbed")
    where = urlsplit(kubernetes.url)
    environment = {"KUBERNETES_SERVICE_HOST": str(where.hostname), "KUBERNETES_SERVICE_PORT": str(where.port)}
    (tmp_path / "ca.crt").write_bytes(Path(kubernetes.authority).read_bytes())
    try:
        (tmp_path / "token").write_text(kubernetes.user("probe-node", node_rules()).token)
        found = drained_nodes(tmp_path, environment)
        assert {"probe-drained"} == found & {"probe-drained", "probe-in-use"}
        (tmp_path / "token").write_text(kubernetes.user("probe-nobody").token)
        with pytest.raises(DrainedUnknown, match="answered 403"):
            drained_nodes(tmp_path, environment)
    finally:
        for name in ("probe-drained", "probe-in-use"):
            kubernetes.api.delete("v1", "Node", name)


def test_outside_of_a_pod_it_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(DrainedUnknown, match="no service account"):
        drained_nodes(tmp_path, {})

"""The fake exporter gives devices to pods as a kubelet would: enough of them, and never another pod's."""

from __future__ import annotations

from typing import Any

from tests.testbed.cluster import GPU, H100, PRODUCT_LABEL, node
from tests.testbed.fake_gpu_exporter import BUSY_RATIO, LOST, XID, Assignment

NODE = node("gpu-0", {PRODUCT_LABEL: H100})


def pod(name: str, gpus: int, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    container = {"name": "train", "resources": {"limits": {GPU: str(gpus)}}}
    metadata = {"name": name, "namespace": "vision", "uid": name, "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"nodeName": "gpu-0", "containers": [container]}}


def holders(assignment: Assignment, *pods: dict[str, Any]) -> list[str | None]:
    return [device.holder.pod if device.holder else None for device in assignment.devices([NODE], pods)]


def test_a_pod_keeps_its_devices_when_another_ends() -> None:
    assignment = Assignment()
    first, second, third = pod("first", 3), pod("second", 2), pod("third", 4)
    assert holders(assignment, first, second) == ["first"] * 3 + ["second"] * 2 + [None] * 3
    assert holders(assignment, second) == [None] * 3 + ["second"] * 2 + [None] * 3
    assert holders(assignment, second, third) == ["third"] * 3 + ["second"] * 2 + ["third", None, None]


def test_annotations_say_how_busy_sick_or_lost_a_device_is() -> None:
    sick = {**NODE, "metadata": {**NODE["metadata"], "annotations": {XID: "1:79", LOST: "6,7"}}}
    devices = Assignment().devices([sick], [pod("idle", 2, {BUSY_RATIO: "0"})])
    assert [device.index for device in devices] == [0, 1, 2, 3, 4, 5]
    assert [device.xid for device in devices] == [0, 79, 0, 0, 0, 0]
    assert devices[0].holder is not None
    assert devices[0].busy_ratio == 0.0
    assert devices[0].model == "NVIDIA H100 80GB HBM3"


def test_nodes_without_gpus_and_pods_without_gpus_show_nothing() -> None:
    assert Assignment().devices([node("cpu-0", {}, gpus=0)], [pod("web", 0)]) == []

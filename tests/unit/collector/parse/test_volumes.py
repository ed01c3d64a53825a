"""PersistentVolumes: which image of RBD stands behind a bound one."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model.objects import RbdVolume
from collector.parse.json_fields import ParseProblem
from collector.parse.volumes import rbd_volume

UUID = "5a6bc7d8-1111-2222-3333-444455556666"
HANDLE = f"0001-0024-b9127830-b0cc-4e34-aa47-9d1a2e9949a8-0000000000000002-{UUID}"


def volume(spec: dict[str, Any], phase: str = "Bound") -> dict[str, Any]:
    claim = {"kind": "PersistentVolumeClaim", "namespace": "vision-train", "name": "data"}
    return {"metadata": {"name": "pvc-1"}, "spec": {"claimRef": claim, **spec}, "status": {"phase": phase}}


def csi(driver: str = "rook-ceph.rbd.csi.ceph.com", handle: str = HANDLE, **attributes: str) -> dict[str, Any]:
    return {"csi": {"driver": driver, "volumeHandle": handle, "volumeAttributes": {"pool": "rbd", **attributes}}}


@pytest.mark.parametrize(
    ("spec", "image"),
    [
        (csi(imageName=f"csi-vol-{UUID}"), ("rbd", "", f"csi-vol-{UUID}")),
        (csi(driver="rbd.csi.ceph.com", imageName="csi-vol-x", radosNamespace="team"), ("rbd", "team", "csi-vol-x")),
        (csi(), ("rbd", "", f"csi-vol-{UUID}")),
        (csi(handle=f"old-{UUID}", staticVolume="true"), ("rbd", "", f"old-{UUID}")),
        (csi(handle="by-hand"), ("rbd", "", "by-hand")),
        ({"rbd": {"pool": "fast", "image": "in-tree", "monitors": ["a"]}}, ("fast", "", "in-tree")),
        ({"rbd": {"image": "in-tree"}}, ("rbd", "", "in-tree")),
    ],
)
def test_the_image_behind_a_bound_volume(spec: dict[str, Any], image: tuple[str, str, str]) -> None:
    assert rbd_volume(volume(spec)) == RbdVolume("pvc-1", "vision-train", "data", image)


@pytest.mark.parametrize("phase", ["Available", "Released", "Failed"])
def test_a_volume_that_nobody_uses_any_more_belongs_to_nobody(phase: str) -> None:
    assert rbd_volume(volume(csi(), phase)) is None


@pytest.mark.parametrize("spec", [{"nfs": {"server": "a", "path": "/"}}, csi(driver="cephfs.csi.ceph.com"), {}])
def test_other_storage_is_left_out(spec: dict[str, Any]) -> None:
    assert rbd_volume(volume(spec)) is None


def test_a_volume_without_its_pool_is_a_problem_with_its_place() -> None:
    broken = csi()
    del broken["csi"]["volumeAttributes"]["pool"]
    with pytest.raises(ParseProblem, match=r"spec\.csi\.volumeAttributes\.pool"):
        rbd_volume(volume(broken))

"""PersistentVolumes: which image of RBD stands behind a bound one."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model.objects import CephClient, FsVolume, RbdVolume
from collector.parse.json_fields import ParseProblem
from collector.parse.volumes import ceph_volume

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
    assert ceph_volume(volume(spec)) == RbdVolume("pvc-1", "vision-train", "data", image, CephClient.KRBD)


@pytest.mark.parametrize("phase", ["Available", "Released", "Failed"])
def test_a_volume_that_nobody_uses_any_more_belongs_to_nobody(phase: str) -> None:
    assert ceph_volume(volume(csi(), phase)) is None


@pytest.mark.parametrize("spec", [{"nfs": {"server": "a", "path": "/"}}, csi(driver="disk.csi.example"), {}])
def test_other_storage_is_left_out(spec: dict[str, Any]) -> None:
    assert ceph_volume(volume(spec)) is None


def test_whether_the_kernel_or_librbd_does_the_io_is_read_since_limits_of_images_act_in_librbd_alone() -> None:
    clients = [ceph_volume(volume(csi(mounter=mounter))) for mounter in ("rbd", "rbd-nbd", "new-one")]
    assert [one.client for one in clients if one] == [CephClient.KRBD, CephClient.LIBRBD, CephClient.UNKNOWN]


@pytest.mark.parametrize(
    ("attributes", "subvolume"),
    [
        ({"subvolumeName": f"csi-vol-{UUID}", "subvolumePath": "/volumes/csi/x/y"}, f"csi-vol-{UUID}"),
        ({"subvolumePath": "/volumes/csi/x/y"}, "/volumes/csi/x/y"),
        ({"staticVolume": "true", "rootPath": "/by-hand"}, "/by-hand"),
    ],
)
def test_the_subvolume_of_cephfs_behind_a_bound_volume(attributes: dict[str, str], subvolume: str) -> None:
    found = ceph_volume(volume(csi(driver="rook-ceph.cephfs.csi.ceph.com", fsName="shared", **attributes)))
    assert found == FsVolume("pvc-1", "vision-train", "data", "shared", subvolume)
    kernel = ceph_volume(volume(csi(driver="cephfs.csi.ceph.com", mounter="kernel", **attributes)))
    assert kernel is not None
    assert kernel.client is CephClient.KERNEL


def test_a_volume_without_its_pool_is_a_problem_with_its_place() -> None:
    broken = csi()
    del broken["csi"]["volumeAttributes"]["pool"]
    with pytest.raises(ParseProblem, match=r"spec\.csi\.volumeAttributes\.pool"):
        ceph_volume(volume(broken))

"""Volumes as Ceph's CSI driver would have made and bound them: there is no driver and no binder in the testbed."""

from __future__ import annotations

from tests.testbed.api import KubeApi

CSI_DRIVER = "rook-ceph.rbd.csi.ceph.com"


def bind_image(api: KubeApi, namespace: str, image: str, pool: str = "rbd") -> None:
    """A PersistentVolume `pv-<image>` on an RBD image, bound to a claim of the namespace."""
    name = f"pv-{image}"
    head = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}}
    attributes = {"clusterID": "rook-ceph", "imageName": image, "pool": pool}
    spec = {
        "capacity": {"storage": "64Mi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": "data"},
        "csi": {"driver": CSI_DRIVER, "volumeHandle": f"handle-of-{image}", "volumeAttributes": attributes},
    }
    api.create({**head, "spec": spec})
    api.patch({**head, "status": {"phase": "Bound"}}, "status")


def remove_volume(api: KubeApi, image: str) -> None:
    """Takes it away, past the protection that a controller would lift."""
    head = {"apiVersion": "v1", "kind": "PersistentVolume"}
    api.patch({**head, "metadata": {"name": f"pv-{image}", "finalizers": None}})
    api.delete("v1", "PersistentVolume", f"pv-{image}")

"""JSON of PersistentVolumes → the RBD image or CephFS subvolume behind each and the namespace that uses it. Pure.

A bound volume names its claim, so claims need not be read. Volumes of other storage are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from collector.model.objects import CephClient, CephVolume, FsVolume, RbdVolume
from collector.parse.json_fields import JsonObject, optional_word, parts, section, text, text_map

_DRIVER: Final = "rbd.csi.ceph.com"
"""The driver's name, or its end: Rook puts the operator's namespace before it."""
_FS_DRIVER: Final = "cephfs.csi.ceph.com"
_RBD_CLIENTS: Final = {"": CephClient.KRBD, "rbd": CephClient.KRBD, "rbd-nbd": CephClient.LIBRBD}
_FS_CLIENTS: Final = {"kernel": CephClient.KERNEL, "fuse": CephClient.FUSE}
"""What `mounter` says. Without it the driver takes the kernel's where a node has one, which no volume tells."""
_UUID_AT_END: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_IMAGE_PREFIX: Final = "csi-vol-"
"""What the driver puts before the uuid unless its StorageClass says otherwise."""
_DEFAULT_POOL: Final = "rbd"


def ceph_volume(raw: JsonObject) -> CephVolume | None:
    """The image or subvolume behind a bound PersistentVolume; None for any other. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    if optional_word(status, "phase", "status") != "Bound":
        return None
    csi = section(spec, "csi", "spec")
    driver = optional_word(csi, "driver", "spec.csi") or ""
    attributes = text_map(csi, "volumeAttributes", "spec.csi")
    mounter = attributes.get("mounter", "")
    if driver.endswith(_FS_DRIVER):
        where = attributes.get("fsName", ""), _subvolume(attributes)
        return FsVolume(*_names(metadata, spec), *where, _FS_CLIENTS.get(mounter, CephClient.UNKNOWN))
    if driver.endswith(_DRIVER):
        client = _RBD_CLIENTS.get(mounter, CephClient.UNKNOWN)
        return RbdVolume(*_names(metadata, spec), _csi_image(csi, attributes), client)
    image = _in_tree_image(section(spec, "rbd", "spec"))
    return None if image is None else RbdVolume(*_names(metadata, spec), image, CephClient.KRBD)


def _names(metadata: JsonObject, spec: JsonObject) -> tuple[str, str, str]:
    """Of the volume, of the claim's namespace, of the claim."""
    claim = section(spec, "claimRef", "spec")
    return (
        text(metadata, "name", "metadata"),
        text(claim, "namespace", "spec.claimRef"),
        text(claim, "name", "spec.claimRef"),
    )


def _subvolume(attributes: Mapping[str, str]) -> str:
    """A volume that was made by hand names a path only."""
    return attributes.get("subvolumeName") or attributes.get("subvolumePath") or attributes.get("rootPath", "")


def _csi_image(csi: JsonObject, attributes: Mapping[str, str]) -> tuple[str, str, str]:
    handle = text(csi, "volumeHandle", "spec.csi")
    made = _UUID_AT_END.search(handle) if attributes.get("staticVolume") != "true" else None
    named = attributes.get("imageName") or (f"{_IMAGE_PREFIX}{made[0]}" if made else handle)
    return text(attributes, "pool", "spec.csi.volumeAttributes"), attributes.get("radosNamespace", ""), named


def _in_tree_image(rbd: JsonObject) -> tuple[str, str, str] | None:
    """As Kubernetes up to 1.30 wrote them."""
    if not rbd:
        return None
    return optional_word(rbd, "pool", "spec.rbd") or _DEFAULT_POOL, "", text(rbd, "image", "spec.rbd")

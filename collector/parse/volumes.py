"""JSON of PersistentVolumes → the RBD image behind each and the namespace that uses it. Pure.

A bound volume names its claim, so claims need not be read. Volumes that are no RBD images are left out.
"""

from __future__ import annotations

import re
from typing import Final

from collector.model.objects import RbdVolume
from collector.parse.json_fields import JsonObject, optional_word, parts, section, text, text_map

_DRIVER: Final = "rbd.csi.ceph.com"
"""The driver's name, or its end: Rook puts the operator's namespace before it."""
_UUID_AT_END: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_IMAGE_PREFIX: Final = "csi-vol-"
"""What the driver puts before the uuid unless its StorageClass says otherwise."""
_DEFAULT_POOL: Final = "rbd"


def rbd_volume(raw: JsonObject) -> RbdVolume | None:
    """The image of a PersistentVolume that is bound to a claim; None for any other. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    if optional_word(status, "phase", "status") != "Bound":
        return None
    image = _csi_image(section(spec, "csi", "spec")) or _in_tree_image(section(spec, "rbd", "spec"))
    if image is None:
        return None
    claim = section(spec, "claimRef", "spec")
    return RbdVolume(
        name=text(metadata, "name", "metadata"),
        claim_namespace=text(claim, "namespace", "spec.claimRef"),
        claim=text(claim, "name", "spec.claimRef"),
        image=image,
    )


def _csi_image(csi: JsonObject) -> tuple[str, str, str] | None:
    if not (optional_word(csi, "driver", "spec.csi") or "").endswith(_DRIVER):
        return None
    where = "spec.csi.volumeAttributes"
    attributes = text_map(csi, "volumeAttributes", "spec.csi")
    handle = text(csi, "volumeHandle", "spec.csi")
    made = _UUID_AT_END.search(handle) if attributes.get("staticVolume") != "true" else None
    named = attributes.get("imageName") or (f"{_IMAGE_PREFIX}{made[0]}" if made else handle)
    return text(attributes, "pool", where), attributes.get("radosNamespace", ""), named


def _in_tree_image(rbd: JsonObject) -> tuple[str, str, str] | None:
    """As Kubernetes up to 1.30 wrote them."""
    if not rbd:
        return None
    return optional_word(rbd, "pool", "spec.rbd") or _DEFAULT_POOL, "", text(rbd, "image", "spec.rbd")

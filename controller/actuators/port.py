"""What every actuator can do. An actuator knows nothing of policies: it is given a path and a whole manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

OUTDATED = "OUTDATED"
"""Code of the ApplyError of a manifest that names a version which the object has no more."""


class Actuator(Protocol):
    """Writes one own object."""

    def preview(self, path: str, manifest: Mapping[str, Any]) -> None:
        """Ask the other side whether it would take the manifest. Raises ApplyError when not."""

    def apply(self, path: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Write the manifest; the object as it stands afterwards. Raises ApplyError.

        A manifest that names a `resourceVersion` is written over that version only (OUTDATED).
        """

    def shown(self, path: str) -> dict[str, Any]:
        """The object as it stands now. Raises ApplyError."""


class NoWrites:
    """The actuator of plans and shadows: nothing is written; what would be written is given back."""

    def preview(self, path: str, manifest: Mapping[str, Any]) -> None:
        """Nothing to ask."""

    def apply(self, path: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Give the manifest back as if it were the object: would-be levels, for plans."""
        return dict(manifest)

    def shown(self, path: str) -> dict[str, Any]:
        """Nothing to look at: no apply of this actuator is ever too late."""
        return {}

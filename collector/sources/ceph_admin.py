"""Asks Ceph as an administrator, by python3-rados of the distribution. Off unless a configuration file is named.

Changes nothing. Each question has a time-out, since an OSD that hangs answers none; nobody else waits meanwhile.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from collector.parse.ceph_admin import raised_flags, write_limit
from collector.parse.ceph_names import RbdImage

_DEBIAN: Final = "/usr/lib/python3/dist-packages"
_TIMEOUTS: Final = {"rados_mon_op_timeout": "5", "rados_osd_op_timeout": "3", "client_mount_timeout": "5"}
_CONNECT_SECONDS: Final = 5
_MISSING: Final = (
    "python3-rados is not installed for this Python ({problem}); it is a package of the distribution (Debian: "
    "python3-rados and python3-rbd), and no image of ours has it. Leave --ceph-admin out to do without"
)


class AdminMissing(Exception):
    """Ceph can not be asked as an administrator; the message says why, for a person."""


def load_bindings(name: str = "rados", place: str = _DEBIAN) -> ModuleType:
    """The module, also that of the distribution from within a virtual environment. Raises AdminMissing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        sys.path.append(place)  # behind all others: it must not replace what is installed here
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise AdminMissing(_MISSING.format(problem=error.msg)) from error
        finally:
            sys.path.remove(place)


class CephAdmin:
    """One connection, made with the first question. Used in one thread."""

    def __init__(self, configuration: Path, user: str) -> None:
        """Raises AdminMissing where the bindings or the file are."""
        self._rados, self._configuration, self._user = load_bindings(), configuration, user
        self._cluster: Any = None
        if not configuration.is_file():
            raise AdminMissing(f"{configuration} is no file: expected the ceph.conf of a client")

    def flags(self) -> frozenset[str]:
        """Flags that are set in the map of OSDs. Raises AdminMissing."""
        code, answer, complaint = self._asked("mon_command", json.dumps({"prefix": "osd dump", "format": "json"}))
        if code != 0:
            raise AdminMissing(f"the monitors refused to show the map of OSDs: {complaint or _told(code)}")
        return raised_flags(_decoded(answer))

    def operations_in_flight(self, osd: str) -> object | None:
        """What the OSD has in flight, decoded; None when it did not answer in time. Raises AdminMissing."""
        question = json.dumps({"prefix": "dump_ops_in_flight", "format": "json"})
        code, answer, complaint = self._asked("osd_command", int(osd.removeprefix("osd.")), question)
        if code in (-1, -13):
            raise AdminMissing(f"{osd} refused {self._user}: it needs osd 'allow *' ({complaint or _told(code)})")
        return _decoded(answer) if code == 0 else None

    def write_limits(self, images: Iterable[RbdImage]) -> Mapping[RbdImage, float]:
        """Operations a second that librbd lets through, of those images that have such a limit. Raises AdminMissing."""
        rbd = load_bindings("rbd")
        found: dict[RbdImage, float] = {}
        for image in images:
            try:
                with self._connected().open_ioctx(image.pool) as pool:
                    pool.set_namespace(image.namespace)
                    with rbd.Image(pool, image.name, read_only=True) as opened:
                        limit = write_limit(opened.config_list())
            except (rbd.Error, self._rados.Error):
                continue  # deleted meanwhile, or its pool is gone
            if limit is not None:
                found[image] = limit
        return found

    def close(self) -> None:
        """Ends the connection."""
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            cluster.shutdown()

    def _asked(self, method: str, *words: object) -> tuple[int, bytes, str]:
        try:
            code, answer, complaint = getattr(self._connected(), method)(*words, b"")
        except self._rados.Error as error:
            self.close()
            raise AdminMissing(f"Ceph does not answer an administrator: {_plain(error)}") from error
        return int(code), bytes(answer), str(complaint)

    def _connected(self) -> Any:
        if self._cluster is None:
            cluster = self._rados.Rados(
                conffile=str(self._configuration), name=self._user, conf={**_TIMEOUTS, "admin_socket": ""}
            )
            try:
                cluster.connect(timeout=_CONNECT_SECONDS)
            except self._rados.Error as error:
                cluster.shutdown()
                raise AdminMissing(f"Ceph can not be reached as {self._user}: {_plain(error)}") from error
            self._cluster = cluster
        return self._cluster


def _plain(error: Exception) -> str:
    """The words of an error of the bindings, without their number."""
    return str(error).rpartition("] ")[2]


def _told(code: int) -> str:
    return "no reason given" if code in (-1, -13) else "it did not answer in time"


def _decoded(answer: bytes) -> object:
    try:
        return json.loads(answer)
    except ValueError:
        return None

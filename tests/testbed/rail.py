"""One rail of several hosts (see switch.py), in each of which programs can be run and asked over HTTP.

What this starts ends with it: the namespaces have no names and live as long as the process that carries the frames.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from controller.demo.processes import Service
from tests.testbed.parts import IPROUTE, UCX
from tests.testbed.place import Place
from tests.testbed.switch import SwitchTerms, address_of
from tests.testbed.ucx import enter_words, need_namespaces

T = TypeVar("T")
_CLONE_NEWNET = 0x40000000
_CHECKOUT = Path(__file__).resolve().parents[2]


class Rail:
    """Hosts by name on one switch."""

    def __init__(self, place: Place, names: Sequence[str]) -> None:
        self._place, self.names = place, tuple(names)
        self._terms, self._hosts = place.folder / "terms.json", place.folder / "hosts.json"
        self.switch = place.service("switch", self._argv, lambda: bool(self._paths()), {"PYTHONPATH": str(_CHECKOUT)})

    def start(self) -> None:
        """Makes hosts and switch. Raises PartMissing where namespaces or TAP devices can not be made."""
        for part in (UCX, IPROUTE):
            part.binary(part.binaries[0])
        need_namespaces()
        self._place.folder.mkdir(parents=True, exist_ok=True)
        self.shape(SwitchTerms())
        self.switch.start()

    def stop(self) -> None:
        """Ends the switch; the namespaces go with it."""
        self.switch.stop()

    def shape(self, terms: SwitchTerms) -> None:
        """Changes the ways while they are used; in force within a tenth of a second."""
        terms.write(self._terms)

    def address(self, name: str) -> str:
        """Where the others reach that host."""
        return address_of(self.names.index(name))

    def service(self, host: str, name: str, argv: Sequence[str], ready: Callable[[], bool]) -> Service:
        """A program that is to run on that host."""
        environment = {"PYTHONPATH": str(_CHECKOUT)}
        return self._place.service(name, lambda: [*enter_words(self._paths()[host]), *argv], ready, environment)

    def run(self, host: str, argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """A program that ends by itself, on that host."""
        words = [*enter_words(self._paths()[host]), *argv]
        environment = {**os.environ, "PYTHONPATH": str(_CHECKOUT)}
        return subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=300)

    def on(self, host: str, action: Callable[[], T]) -> T:
        """What `action` gives in a thread that stands in the network of that host."""
        found: list[T] = []

        def run() -> None:
            descriptor = os.open(self._paths()[host], os.O_RDONLY)
            try:
                if ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), f"{host} can not be entered")
                found.append(action())
            finally:
                os.close(descriptor)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return found[0]

    def _paths(self) -> Mapping[str, str]:
        identity = self.switch.identity
        if identity is None or not self._hosts.exists():
            return {}
        paths: dict[str, str] = json.loads(self._hosts.read_text())
        # The file may be left from an earlier switch.
        return paths if all(path.startswith(f"/proc/{identity.pid}/") for path in paths.values()) else {}

    def _argv(self) -> list[str]:
        files = [f"--terms={self._terms}", f"--hosts={self._hosts}"]
        return [sys.executable, "-m", "tests.testbed.switch", *files, *self.names]

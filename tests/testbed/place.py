"""Where one part lives: its folder, its ports, and whether its processes end with this one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from controller.demo.processes import Service, free_port


@dataclass(frozen=True)
class Place:
    """The folder of one part. Its ports are chosen once and written down, so that a restart comes back on the same."""

    folder: Path
    tethered: bool
    _ports: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def port(self, name: str) -> int:
        """The part's port of that name."""
        book = self.folder / "ports.json"
        if not self._ports and book.exists():
            self._ports.update(json.loads(book.read_text()))
        if name not in self._ports:
            taken = set(self._ports.values())
            self._ports[name] = next(port for port in iter(free_port, None) if port not in taken)
            self.folder.mkdir(parents=True, exist_ok=True)
            book.write_text(json.dumps(self._ports))
        return self._ports[name]

    def address(self, name: str) -> str:
        """127.0.0.1:port."""
        return f"127.0.0.1:{self.port(name)}"

    def service(
        self,
        name: str,
        argv: Callable[[], Sequence[str]],
        ready: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
    ) -> Service:
        """A program of this part, with its log and pid file in the folder."""
        return Service(name, argv, self.folder, ready, tethered=self.tethered, environment=environment or {})

    def write(self, name: str, text: str) -> Path:
        """Writes a file of the part and returns its path."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        path.write_text(text)
        return path

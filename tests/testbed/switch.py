"""Several hosts on one switch, as one process: their network namespaces and the switch end with it.

Each host is a namespace without a name with a TAP device on 10.99.2.0/24. Frames go where their receiver was last seen,
else to all; the terms of the way between two hosts may change while it runs. Runs as a program of its own, as root;
tests use it through `rail.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.testbed.network import Hosts, LinkTerms, Way, frames_of, write_frame

DEVICE = "link0"
_LOOK_AT_TERMS_SECONDS = 0.05
_ADDRESS_BYTES = 6


def address_of(number: int) -> str:
    """The address of the host with that number, from 0."""
    return f"10.99.2.{number + 1}"


@dataclass(frozen=True)
class SwitchTerms:
    """Terms of every way, of those that begin or end at a host, and of those between a pair; the last counts."""

    usual: LinkTerms = field(default_factory=LinkTerms)
    of_host: Mapping[str, LinkTerms] = field(default_factory=dict)
    of_pair: Mapping[str, LinkTerms] = field(default_factory=dict)
    """ "a b", in the order of the alphabet."""

    def between(self, a: str, b: str) -> LinkTerms:
        """The terms in force, either way."""
        pair = " ".join(sorted((a, b)))
        return self.of_pair.get(pair) or self.of_host.get(a) or self.of_host.get(b) or self.usual

    @classmethod
    def read(cls, file: Path) -> SwitchTerms:
        """The terms in a file; raises OSError, ValueError, TypeError or KeyError."""
        told = json.loads(file.read_text())
        hosts, pairs = ({name: LinkTerms(**one) for name, one in told[key].items()} for key in ("of_host", "of_pair"))
        return cls(LinkTerms(**told["usual"]), hosts, pairs)

    def write(self, file: Path) -> None:
        """Replaces the file in one step: the reader never sees half of it."""
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)))
        draft.replace(file)


class Switch:
    """Learns where each receiver is, and carries frames."""

    def __init__(self, names: Sequence[str], devices: Sequence[int]) -> None:
        self._names, self._devices = names, devices
        self._places: dict[bytes, int] = {}
        self._ways = {(a, b): Way(devices[a], devices[b]) for a in range(len(names)) for b in range(len(names))}

    def accept(self, source: int, frame: bytes, terms: SwitchTerms, now: float) -> None:
        """A frame that came in from the host with that number."""
        receiver, sender = frame[:_ADDRESS_BYTES], frame[_ADDRESS_BYTES : 2 * _ADDRESS_BYTES]
        self._places[sender] = source
        known = self._places.get(receiver)
        targets = [n for n in range(len(self._names)) if n != source] if known is None else [known]
        for target in targets:
            in_force = terms.between(self._names[source], self._names[target])
            self._ways[source, target].accept(frame, in_force, now)

    def deliver(self, now: float) -> float:
        """Hands over what has arrived. How long nothing more will."""
        waits = [_LOOK_AT_TERMS_SECONDS]
        for way in self._ways.values():
            for frame in way.arrived(now):
                write_frame(way.destination, frame)
            if way.next_arrival_at is not None:
                waits.append(way.next_arrival_at - now)
        return max(0.0, min(waits))

    def carry(self, file: Path) -> None:
        """Until the process is ended."""
        terms, looked_at = SwitchTerms.read(file), 0.0
        numbers = {device: number for number, device in enumerate(self._devices)}
        while True:
            patience = self.deliver(time.monotonic())
            ready, _, _ = select.select(self._devices, [], [], patience)
            if time.monotonic() - looked_at > _LOOK_AT_TERMS_SECONDS:
                terms, looked_at = SwitchTerms.read(file), time.monotonic()
            for device in ready:
                for frame in frames_of(device):
                    self.accept(numbers[device], frame, terms, time.monotonic())


def main() -> None:
    """Makes the hosts, says in a file how to enter them, and carries their frames."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--terms", type=Path, required=True, help="JSON file with the terms")
    parser.add_argument("--hosts", type=Path, required=True, help="JSON file to write: name → path of the namespace")
    parser.add_argument("names", nargs="+", help="names of the hosts")
    options = parser.parse_args()
    hosts = Hosts()
    made = [hosts.make(address_of(number)) for number in range(len(options.names))]
    paths = {
        name: f"/proc/{os.getpid()}/fd/{namespace}" for name, (namespace, _) in zip(options.names, made, strict=True)
    }
    draft = options.hosts.with_suffix(".new")
    draft.write_text(json.dumps(paths))
    draft.replace(options.hosts)
    Switch(options.names, [device for _, device in made]).carry(options.terms)


if __name__ == "__main__":
    main()

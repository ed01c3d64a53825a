"""A UCX probe pair: two hosts on one slow link (see network.py), and a noisy neighbour that fills it.

What this starts ends with it: the namespaces have no names and live as long as the process that carries the frames.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from controller.demo.processes import Service
from tests.testbed.network import ADDRESSES, DEVICE, LinkTerms
from tests.testbed.parts import IPERF, IPROUTE, UCX, PartMissing
from tests.testbed.place import Place

LEFT, RIGHT = ADDRESSES
UCX_ENVIRONMENT = {
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": DEVICE,
    "UCX_WARN_UNUSED_ENV_VARS": "n",
    "UCX_LOG_LEVEL": "error",
}
QUIET = LinkTerms(bits_per_second=20e6, buffer_seconds=0.05)
"""Slow enough that one TCP stream fills it without taking the machine's time."""
LONGEST_NOISE_SECONDS = 1200
# UCX looks for devices in /sys, which shows those of the namespace that mounted it.
_WITH_ITS_OWN_SYSFS = 'mount -t sysfs sysfs /sys && exec "$@"'
_TUN = Path("/dev/net/tun")
_CHECKOUT = Path(__file__).resolve().parents[2]


class Ucx:
    """Two hosts, LEFT and RIGHT. Programs get into one by putting `enter(host)` before their command."""

    name = "ucx"

    def __init__(self, place: Place) -> None:
        self._place = place
        self._terms = place.folder / "terms.json"
        self._hosts = place.folder / "hosts.json"
        self.link = place.service("link", self._link_argv, lambda: bool(self._paths()), {"PYTHONPATH": str(_CHECKOUT)})
        self._receiver = place.service("noise-receiver", self._receiver_argv, self._receiver_listens)
        self.noise = place.service("noise", self._noise_argv, lambda: True)

    @property
    def services(self) -> Sequence[Service]:
        """The link and, while there is noise, both of its ends."""
        return (self.link, self._receiver, self.noise)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows: how to get into each host."""
        return {host: shlex.join(self.enter(host)) for host in self._paths()}

    def start(self) -> None:
        """Makes hosts and link, quiet. Raises PartMissing where namespaces or TAP devices can not be made."""
        for part in (UCX, IPROUTE, IPERF):
            part.binary(part.binaries[0])
        need_namespaces()
        if not self.link.is_running():
            self._place.folder.mkdir(parents=True, exist_ok=True)
            self.shape(QUIET)
        self.link.start()

    def stop(self) -> None:
        """Ends noise and link; the namespaces go with it."""
        self.silence()
        self.link.stop()

    def shape(self, terms: LinkTerms) -> None:
        """Changes the link while it runs; in force within a tenth of a second."""
        terms.write(self._terms)

    def make_noise(self) -> None:
        """A neighbour sends from LEFT to RIGHT as fast as the link lets it, for at most five minutes."""
        self._receiver.start()
        self.noise.start()

    def silence(self) -> None:
        """The neighbour stops."""
        self.noise.stop()
        self._receiver.stop()

    def enter(self, host: str) -> tuple[str, ...]:
        """The words before a command that is to run in LEFT or RIGHT."""
        return enter_words(self._paths()[host])

    def _paths(self) -> Mapping[str, str]:
        """Host → its namespace; empty while the link does not run."""
        identity = self.link.identity
        if identity is None or not self._hosts.exists():
            return {}
        paths: dict[str, str] = json.loads(self._hosts.read_text())
        # The file may be left from an earlier link.
        return paths if all(path.startswith(f"/proc/{identity.pid}/") for path in paths.values()) else {}

    def _receiver_listens(self) -> bool:
        asked = subprocess.run(
            [*self.enter(RIGHT), "ss", "--no-header", "--listening", "--tcp", "sport", "=", ":5201"],
            capture_output=True,
            check=False,
        )
        return bool(asked.stdout.strip())

    def _link_argv(self) -> list[str]:
        files = [f"--terms={self._terms}", f"--hosts={self._hosts}"]
        return [sys.executable, "-m", "tests.testbed.network", *files]

    def _receiver_argv(self) -> list[str]:
        return [*self.enter(RIGHT), "iperf3", "--server", f"--bind={ADDRESSES[RIGHT]}"]

    def _noise_argv(self) -> list[str]:
        return [*self.enter(LEFT), "iperf3", f"--client={ADDRESSES[RIGHT]}", f"--time={LONGEST_NOISE_SECONDS}"]


def enter_words(namespace: str) -> tuple[str, ...]:
    """The words before a command that is to run in the network namespace at that path."""
    return ("nsenter", f"--net={namespace}", "unshare", "--mount", "sh", "-c", _WITH_ITS_OWN_SYSFS, "sh")


def need_namespaces() -> None:
    """Raises PartMissing when this machine or user can not make them."""
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise PartMissing(f"ucx: network namespaces can not be made here, run as root: {tried.stderr.strip()}")
    if not _TUN.exists():
        raise PartMissing(f"ucx: this kernel or container has no {_TUN}")

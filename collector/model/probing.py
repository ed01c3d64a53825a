"""Probes between NICs: who is there, which pairs are asked and when, and what one probe said. Values only.

Write and send report half a round trip, read a whole one: they are never compared with each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from collector.model.reading import Reading

QUANTILES: Final = (0.5, 0.99)


class Operation(StrEnum):
    """What a probe does."""

    WRITE = "write"
    READ = "read"
    SEND = "send"

    @property
    def path(self) -> str:
        """What its latency is: "half" a round trip, or the "whole" of it."""
        return "whole" if self is Operation.READ else "half"


class Tool(StrEnum):
    """The program that measures."""

    PERFTEST = "perftest"
    UCX = "ucx"

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What it can measure the latency of. UCX has no read there and back."""
        return (Operation.WRITE, Operation.READ) if self is Tool.PERFTEST else (Operation.SEND,)


class Where(StrEnum):
    """Which links are probed by themselves. Every link may be asked for by a person, whatever stands here."""

    DEMAND = "demand"
    DRAINED = "drained"
    """Those with a drained node at an end."""
    ALL = "all"


@dataclass(frozen=True, slots=True, order=True)
class Nic:
    """One port of a network card that RDMA goes through."""

    node: str
    device: str
    """As the driver calls it, such as mlx5_0."""
    address: str
    """As the other NICs of its rail reach it."""
    rail: int
    """NICs of one rail talk to each other; those of two never need to."""
    leaf: str = ""
    """The switch that it hangs on; empty: not told."""

    @property
    def key(self) -> str:
        """Its name over the whole cluster, such as gpu-1/mlx5_0."""
        return f"{self.node}/{self.device}"


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A pair of NICs by their keys: the source asks. A NIC with itself tells what its host alone takes."""

    source: str
    destination: str

    @property
    def is_loop(self) -> bool:
        """Whether no network lies between."""
        return self.source == self.destination

    def __str__(self) -> str:
        return f"{self.source} to {self.destination}"


@dataclass(frozen=True, slots=True)
class ProbeHost:
    """A node that takes part: where its probe server is asked, and its NICs in the order of their ports."""

    node: str
    address: str
    nics: tuple[Nic, ...]


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """The same on every node: from it alone each knows whom to ask and when."""

    hosts: tuple[ProbeHost, ...]
    where: Where = Where.DRAINED
    tool: Tool = Tool.PERFTEST
    port: int = 9110
    """Where a node's collector listens."""
    first_data_port: int = 18515
    """Of the first NIC of a node; each further one has the next."""
    degree: int = 6
    changing_ratio: float = 0.1
    """So many links for each fixed one are of this period alone."""
    period_seconds: float = 600.0
    timeout_seconds: float = 20.0
    """For one run of the tool."""
    iterations: int = 1000
    progress: str = "sleep"
    """How UCX waits: "sleep" is steady on busy hosts; "poll" is finer and takes a core of each."""
    full_load: float = 1.0
    """Programs that want a core, by cores, at which a host probes as little as it ever does."""
    traffic_class: int | None = None
    gid_index: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Further variables for UCX."""

    @property
    def nics(self) -> tuple[Nic, ...]:
        """All of them."""
        return tuple(nic for host in self.hosts for nic in host.nics)

    def host(self, node: str) -> ProbeHost | None:
        """The entry of a node."""
        return next((host for host in self.hosts if host.node == node), None)

    def nic(self, key: str) -> Nic | None:
        """The NIC with that key."""
        host = self.host(key.partition("/")[0])
        return next((nic for nic in host.nics if nic.key == key), None) if host is not None else None

    def data_port(self, nic: Nic) -> int:
        """Where the tool's server listens at that NIC."""
        host = self.host(nic.node)
        return self.first_data_port + (host.nics.index(nic) if host is not None else 0)


@dataclass(frozen=True, slots=True)
class Turn:
    """When a link is asked within a period."""

    offset_seconds: float
    link: Link


Quantity = tuple[Operation, float]
"""(operation, quantile)"""


@dataclass(frozen=True, slots=True)
class LinkProbe:
    """What one probe of a link said."""

    link: Link
    at: float
    """Epoch seconds at its end."""
    latency_seconds: Mapping[Quantity, Reading[float]]
    fault: str = ""
    """Why there is no latency, in one word of a small set; empty: there is."""


@dataclass(frozen=True, slots=True)
class LinkQuantity:
    """One operation and quantile of one link, now and as it usually is; all in seconds."""

    latest: Reading[float]
    lasting: Reading[float]
    """The better of the last two successes: one slow probe on a busy host is no slow network."""
    usual: Reading[float]
    spread: Reading[float]
    """Median distance of its past probes from the usual."""
    probes: int
    """How many make the usual."""


@dataclass(frozen=True, slots=True)
class LinkState:
    """What is known of one link."""

    link: Link
    at: float
    """Epoch seconds of the last probe."""
    fault: str
    """Why the last probe brought nothing; empty: it did."""
    quantities: Mapping[Quantity, LinkQuantity]

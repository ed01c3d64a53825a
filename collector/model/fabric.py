"""RDMA between nodes: which pairs are probed and how, and what one probe said. Values only.

All latencies are half a round trip, in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.model.reading import Reading

QUANTILES: Final = (0.5, 0.99)
"""What a probe measures."""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A pair of nodes, by their names in Kubernetes: the source asks, the destination answers."""

    source: str
    destination: str

    def __str__(self) -> str:
        return f"{self.source} to {self.destination}"


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """How one edge is probed."""

    edge: Edge
    address: str
    """Of the destination, as the source reaches it."""
    port: int
    client: tuple[str, ...] = ()
    """The words before a command that is to run at the source, such as `ssh node-1`."""
    server: tuple[str, ...] = ()
    """The same for the destination."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """For UCX at both ends: UCX_TLS, UCX_NET_DEVICES, …"""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """All edges, and how often and for how long they are asked."""

    targets: tuple[ProbeTarget, ...]
    interval_seconds: float = 60.0
    """From the end of a round over all edges to the next."""
    timeout_seconds: float = 20.0
    """For one run; a probe has one per quantile."""
    iterations: int = 500
    progress: str = "sleep"
    """How both ends wait (`-E`): "sleep" is steady on busy machines; "poll" is finer and takes a core of each."""

    @property
    def stale_after_seconds(self) -> float:
        """Older than this, a probe says nothing about now: two rounds were missed, or a round takes too long."""
        return 3 * self.interval_seconds + len(QUANTILES) * self.timeout_seconds


@dataclass(frozen=True, slots=True)
class EdgeProbe:
    """What one probe of an edge said."""

    at: float
    """Epoch seconds at its end."""
    latency_seconds: Mapping[float, Reading[float]]
    """Quantile → latency; each of QUANTILES is there."""

"""What node_exporter's infiniband collector would serve for the adapters of the nodes. Pure: a fake of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from controller.demo.exposition import TextFamily, text_of

BYTES_PER_GPU_SECOND: Final = 3.0e9
"""What each GPU of a gang over several nodes exchanges with the others at full speed."""
_RATE_BYTES_PER_SECOND: Final = 50e9  # 400 Gb/s
_PACKET_BYTES: Final = 4096.0


@dataclass(slots=True)
class RdmaModel:
    """One adapter per node; what it sends it also receives, as all-reduce does."""

    nodes: tuple[str, ...]
    bytes_of: dict[str, float] = field(default_factory=dict)
    """Node → bytes sent since the start."""

    def advance(self, seconds: float, talking_gpus: Mapping[str, float]) -> None:
        """Let time pass. `talking_gpus`: node → GPUs whose gang spans nodes, those of slowed gangs in part."""
        for node, gpus in talking_gpus.items():
            sent = min(gpus * BYTES_PER_GPU_SECOND, _RATE_BYTES_PER_SECOND) * seconds
            self.bytes_of[node] = self.bytes_of.get(node, 0.0) + sent


def rdma_text(model: RdmaModel) -> str:
    """The families of all nodes on one page; the real one has a page per node and learns its name from the scrape."""
    return text_of(_families(model))


def _families(model: RdmaModel) -> Iterator[TextFamily]:
    ports = [
        ({"device": "mlx5_0", "port": "1", "instance": node}, model.bytes_of.get(node, 0.0)) for node in model.nodes
    ]

    def family(name: str, kind: str, meaning: str, factor: float, constant: float = 0.0) -> TextFamily:
        rows = tuple((labels, sent * factor + constant) for labels, sent in ports)
        return TextFamily(f"node_infiniband_{name}", kind, meaning, rows)

    for word in ("received", "transmitted"):
        yield family(f"port_data_{word}_bytes_total", "counter", f"Number of data octets {word} on all links", 1.0)
        packets = f"port_packets_{word}_total"
        yield family(packets, "counter", f"Number of packets {word} on all VLs", 1 / _PACKET_BYTES)
        yield family(f"port_discards_{word}_total", "counter", f"Number of packets {word} that were discarded", 0.0)
    waits = "Number of ticks during which the port had data to transmit but no data was sent"
    yield family("port_transmit_wait_total", "counter", waits, 0.0)
    yield family("link_downed_total", "counter", "Number of times the link failed to recover", 0.0)
    yield family("symbol_error_total", "counter", "Number of minor link errors detected", 0.0)
    yield family("state_id", "gauge", "State of the InfiniBand port (4: active)", 0.0, 4.0)
    yield family("rate_bytes_per_second", "gauge", "Maximum signal transfer rate", 0.0, _RATE_BYTES_PER_SECOND)

"""Pages of a small Ceph manager, written by hand: counters as a test says them, in the manager's own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from collector.model.reading import Known, Reading
from collector.parse.ceph import CephScrape, ceph_scrape
from collector.parse.ceph_names import CEPH_NAMES
from collector.parse.exposition import parse_exposition

T = TypeVar("T")


def known(reading: Reading[T]) -> T:
    """The value of a reading that must be known."""
    assert isinstance(reading, Known), reading
    return reading.value


@dataclass(frozen=True)
class Osd:
    """One OSD. Latencies as the manager counts them: summed seconds; those of commits in milliseconds."""

    writes: int = 0
    write_seconds: float = 0.0
    reads: int = 0
    read_seconds: float = 0.0
    in_progress: int = 0
    slow: int = 0
    commit_ms: float = 0.0

    def lines(self, name: str) -> list[str]:
        values = {
            "ceph_osd_op_w_latency_count": self.writes,
            "ceph_osd_op_w_latency_sum": self.write_seconds,
            "ceph_osd_op_w_in_bytes": self.writes * 4096,
            "ceph_osd_op_r_latency_count": self.reads,
            "ceph_osd_op_r_latency_sum": self.read_seconds,
            "ceph_osd_op_r_out_bytes": self.reads * 4096,
            "ceph_osd_op_rw_latency_count": 0,
            "ceph_osd_op_wip": self.in_progress,
            "ceph_osd_commit_latency_ms": self.commit_ms,
            "ceph_osd_up": 1,
        }
        label = f'ceph_daemon="{name}"'
        return [
            *(f"{metric}{{{label}}} {float(value)}" for metric, value in values.items()),
            f'ceph_daemon_health_metrics{{type="SLOW_OPS",{label}}} {float(self.slow)}',
            f'ceph_daemon_health_metrics{{type="PENDING_CREATING_PGS",{label}}} 7.0',
        ]


@dataclass(frozen=True)
class Image:
    """One image of pool rbd. Latencies are summed nanoseconds."""

    writes: int = 0
    write_nanoseconds: float = 0.0
    reads: int = 0
    read_nanoseconds: float = 0.0

    def lines(self, name: str) -> list[str]:
        values = {
            "write_latency_count": self.writes,
            "write_latency_sum": self.write_nanoseconds,
            "write_bytes": self.writes * 4096,
            "read_latency_count": self.reads,
            "read_latency_sum": self.read_nanoseconds,
            "read_bytes": self.reads * 4096,
        }
        label = f'pool="rbd",namespace="",image="{name}"'
        return [f"ceph_rbd_{metric}{{{label}}} {float(value)}" for metric, value in values.items()]


@dataclass(frozen=True)
class Page:
    """What the manager collected in its round of that number."""

    round: int = 0
    osds: Mapping[str, Osd] = field(default_factory=dict)
    images: Mapping[str, Image] = field(default_factory=dict)
    health: int = 0
    more: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        lines = [
            f"ceph_health_status {float(self.health)}",
            f"ceph_healthcheck_slow_ops {float(sum(osd.slow for osd in self.osds.values()))}",
            f'ceph_prometheus_collect_duration_seconds_count{{method="get_health"}} {float(self.round)}',
            *self.more,
        ]
        for name, osd in self.osds.items():
            lines += osd.lines(name)
        for name, image in self.images.items():
            lines += image.lines(name)
        return "\n".join(lines) + "\n"

    def scrape(self, at: float) -> CephScrape:
        """The page as it was read at a moment."""
        return ceph_scrape([parse_exposition(self.text, CEPH_NAMES)], at)

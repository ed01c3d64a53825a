"""Reads the GPUs out of a Prometheus that scrapes their exporters, and keeps what each device did. Raises nothing.

Counts as a source only once it told of a GPU: a site may have none, and may scrape them elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from collector.assemble.gpu import GpuMemory
from collector.assemble.gpu_ledger import Devices
from collector.exporter.health import DeviceSeen, Health
from collector.model.reading import Known, Reading
from collector.sources.errors import SourceError
from collector.sources.gpu_series import read_latest
from collector.sources.node_traffic import read_traffic
from collector.sources.prometheus import Prometheus

SOURCE: Final = "gpu-series"


class GpuSeries:
    """The GPUs and the RDMA traffic of one cluster, in `prometheus`. `read` in one thread, the rest in any."""

    def __init__(
        self,
        prometheus: Prometheus,
        cluster: str,
        health: Health,
        clock: Callable[[], float],
        window_seconds: float = 600.0,
    ) -> None:
        self._prometheus, self._cluster, self._health, self._clock = prometheus, cluster, health, clock
        self._memory = GpuMemory(window_seconds)
        self._traffic: tuple[float, Mapping[str, Reading[float]]] = (0.0, {})

    def read(self, *, gpus: bool) -> Mapping[str, str]:
        """One look; of the GPUs only where nobody else reads them. Returns the sentence of what failed."""
        now = self._clock()
        try:
            self._traffic = (now, read_traffic(self._prometheus, self._cluster))
            window = self._memory.window_seconds
            found = read_latest(self._prometheus, self._cluster, window) if gpus else ()
        except SourceError as error:
            self._health.error(SOURCE, "", "unreadable")
            return {"": f"Prometheus at {self._prometheus.url} did not answer: {error.message}"}
        self._memory = self._memory.advance(found, now)
        if found:
            facts = [fact for one in found for fact in (one.activity_ratio, one.utilization_ratio, one.power_watts)]
            known = sum(isinstance(fact, Known) for fact in facts)
            missing = {"not said": len(facts) - known} if known < len(facts) else {}
            self._health.seen(SOURCE, "", DeviceSeen(now, known, missing))
            self._health.counted(SOURCE, len(found))
            self._health.success(SOURCE, now)
        return {}

    def devices(self, now: float) -> Devices:
        """Every device that was read lately, with the highest activity of the window."""
        memory = self._memory
        return Devices(memory.readings(now), memory.window_seconds, memory.latest(now), self.traffic(now))

    def traffic(self, now: float) -> Mapping[str, Reading[float]]:
        """Node → bytes a second on its adapters; nothing when it is old."""
        read_at, found = self._traffic
        return found if now - read_at <= self._memory.longest_gap_seconds else {}

"""Probes the edges of the plan in turn, and keeps what each said. An edge that fails costs the others nothing but time.

Probes are no source that decisions need: they have an age of their own, and do not count as blindness when they fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from collector.assemble.fabric import FabricMemory
from collector.exporter.health import DeviceSeen, Health
from collector.model.fabric import QUANTILES, EdgeProbe, ProbePlan, ProbeTarget
from collector.model.reading import Known
from collector.sources.rdma_probe import Probed

SOURCE: Final = "rdma"


class Prober(Protocol):
    """What is needed of a `collector.sources.rdma_probe.RdmaProber`."""

    @property
    def closed(self) -> bool:
        """Whether it takes no more probes."""
        ...

    def probe(self, target: ProbeTarget) -> Probed:
        """The latency of the edge at each quantile."""
        ...


class RdmaProbes:
    """The edges of a plan. `read` in one thread, `memory` in any."""

    def __init__(self, plan: ProbePlan, prober: Prober, health: Health, clock: Callable[[], float]) -> None:
        self._plan, self._prober, self._health, self._clock = plan, prober, health, clock
        self._memory = FabricMemory(plan.stale_after_seconds)

    @property
    def memory(self) -> FabricMemory:
        """What is known of all edges."""
        return self._memory

    def read(self) -> Mapping[str, str]:
        """One round over all edges. Returns the sentence of each that failed."""
        failures: dict[str, str] = {}
        for target in self._plan.targets:
            probed = self._prober.probe(target)
            if self._prober.closed:
                break  # a probe that was cut off says nothing about its edge
            self._memory = self._memory.advance(target.edge, EdgeProbe(self._clock(), probed.latency_seconds))
            known = sum(isinstance(latency, Known) for latency in probed.latency_seconds.values())
            if known:
                missing = {probed.failed.fault.value: len(QUANTILES) - known} if probed.failed is not None else {}
                self._health.seen(SOURCE, str(target.edge), DeviceSeen(self._clock(), known, missing))
            else:
                self._health.unseen(SOURCE, str(target.edge))
            if probed.failed is not None:
                failures[str(target.edge)] = f"{target.edge}: {probed.failed.sentence}"
                self._health.error(SOURCE, str(target.edge), probed.failed.fault)
        return failures

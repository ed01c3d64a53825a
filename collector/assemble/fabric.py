"""What RDMA probes said over time: the usual latency of each edge, and which tenants now suffer a slow one. Pure.

No number is right for every fabric, so an edge is measured against itself. Slow probes do not make the baseline, or a
long fault would become what is usual; only when nothing else came for as long as the memory reaches, it begins anew.
A memory that began during a fault takes the fault for usual until it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from types import MappingProxyType
from typing import Final, Protocol

from collector.model.fabric import QUANTILES, Edge, EdgeProbe
from collector.model.reading import Known, Reading, Unknown, fresh, mapped
from collector.model.snapshot import Snapshot, Work, WorkPhase
from collector.model.tenancy import Objective, ObjectiveKind

USUAL_BELOW_FACTOR: Final = 3.0
"""A probe that takes more than this many times the baseline says nothing about what is usual."""
LEAST_PROBES: Final = 5
REMEMBERED_PROBES: Final = 1440
"""A day, at one a minute."""


@dataclass(frozen=True, slots=True)
class Usual:
    """The latencies of one edge at one quantile that count as usual, in seconds, newest last."""

    values: tuple[float, ...] = ()
    slow_in_a_row: int = 0
    most: int = REMEMBERED_PROBES
    """How many are remembered."""

    @property
    def baseline(self) -> Reading[float]:
        """Their median; Unknown while there are too few."""
        if len(self.values) < LEAST_PROBES:
            return Unknown(f"{len(self.values)} of the {LEAST_PROBES} probes that make a baseline")
        return Known(median(self.values))

    @property
    def spread(self) -> Reading[float]:
        """The median of their distances from the baseline."""
        baseline = self.baseline
        return mapped(baseline, lambda middle: median(abs(value - middle) for value in self.values))

    def advance(self, latency_seconds: float) -> Usual:
        """With one more probe."""
        baseline = self.baseline
        if isinstance(baseline, Known) and latency_seconds > USUAL_BELOW_FACTOR * baseline.value:
            count = self.slow_in_a_row + 1
            return (
                replace(self, slow_in_a_row=count) if count < self.most else Usual((latency_seconds,), most=self.most)
            )
        return Usual((*self.values, latency_seconds)[-self.most :], most=self.most)


@dataclass(frozen=True, slots=True)
class EdgeMemory:
    """One edge: its last probe, the last success before it, when one last succeeded, what is usual at each quantile."""

    last: EdgeProbe
    before: EdgeProbe | None
    succeeded_at: float | None
    usual: Mapping[float, Usual]


def _succeeded(probe: EdgeProbe) -> bool:
    return all(isinstance(latency, Known) for latency in probe.latency_seconds.values())


def _success_before(old: EdgeMemory | None) -> EdgeProbe | None:
    if old is None:
        return None
    return old.last if _succeeded(old.last) else old.before


@dataclass(frozen=True, slots=True)
class FabricMemory:
    """All probed edges. Readings older than `stale_after_seconds` say nothing about now."""

    stale_after_seconds: float
    edges: Mapping[Edge, EdgeMemory] = field(default_factory=dict)

    def advance(self, edge: Edge, probe: EdgeProbe) -> FabricMemory:
        """The memory after one more probe of that edge."""
        old = self.edges.get(edge)
        usual = dict(old.usual) if old else {quantile: Usual() for quantile in QUANTILES}
        for quantile, latency in probe.latency_seconds.items():
            if isinstance(latency, Known):
                usual[quantile] = usual[quantile].advance(latency.value)
        succeeded = _succeeded(probe)
        memory = EdgeMemory(
            last=probe,
            before=_success_before(old),
            succeeded_at=probe.at if succeeded else old.succeeded_at if old else None,
            usual=MappingProxyType(usual),
        )
        return replace(self, edges=MappingProxyType({**self.edges, edge: memory}))

    def latency_seconds(self, edge: Edge, quantile: float, now: float) -> Reading[float]:
        """What the last probe of the edge said."""
        memory = self.edges.get(edge)
        return Unknown("not probed yet") if memory is None else self._of(memory.last, quantile, now)

    def lasting_seconds(self, edge: Edge, quantile: float, now: float) -> Reading[float]:
        """The better of the last probe and the success before it: one slow probe on a busy host is no slow network.

        A failure between the two does not count: a network that is slow enough loses probes as well, and with nothing
        to compare the next slow one would be blamed on nobody.
        """
        memory = self.edges.get(edge)
        if memory is None:
            return Unknown("not probed yet")
        last = self._of(memory.last, quantile, now)
        if isinstance(last, Unknown):
            return last
        if memory.before is None:
            return Unknown("not probed twice yet")
        before = self._of(memory.before, quantile, now)
        if isinstance(before, Unknown):
            return Unknown("the success before the last probe is too old to compare")
        return Known(min(last.value, before.value), last.age_seconds)

    def baseline_seconds(self, edge: Edge, quantile: float) -> Reading[float]:
        """The usual latency of the edge."""
        memory = self.edges.get(edge)
        return Unknown("not probed yet") if memory is None else memory.usual.get(quantile, Usual()).baseline

    def is_new(self, edge: Edge, quantile: float, *, needs_baseline: bool) -> bool:
        """Whether the edge was probed too seldom to be judged."""
        memory = self.edges.get(edge)
        if memory is None or memory.before is None:
            return True
        return needs_baseline and isinstance(self.baseline_seconds(edge, quantile), Unknown)

    def _of(self, probe: EdgeProbe, quantile: float, now: float) -> Reading[float]:
        reading = probe.latency_seconds.get(quantile, Unknown(f"probes do not measure quantile {quantile:g}"))
        if isinstance(reading, Unknown):
            return reading
        return fresh(Known(reading.value, max(0.0, now - probe.at)), self.stale_after_seconds, "the last probe")


class FabricView(Protocol):
    """What verdicts need: a FabricMemory, or links between NICs as edges."""

    @property
    def edges(self) -> Iterable[Edge]:
        """All edges that are probed."""
        ...

    def lasting_seconds(self, edge: Edge, quantile: float, now: float) -> Reading[float]:
        """The better of the last two successful probes."""
        ...

    def baseline_seconds(self, edge: Edge, quantile: float) -> Reading[float]:
        """The usual latency of the edge."""
        ...

    def is_new(self, edge: Edge, quantile: float, *, needs_baseline: bool) -> bool:
        """Whether the edge was probed too seldom to be judged."""
        ...


@dataclass(frozen=True, slots=True)
class EdgeVerdict:
    """One edge that a tenant's running gangs use, against one objective of the tenant."""

    tenant: str
    objective: str
    edge: Edge
    ratio: Reading[float]
    """Lasting latency by the limit: above 1 the objective is missed."""
    is_new: bool = False
    """Whether the edge was probed too seldom to be judged: then nothing rules the network out."""


def edge_verdicts(memory: FabricView, snapshot: Snapshot, now: float) -> tuple[EdgeVerdict, ...]:
    """One verdict for each tenant with an objective about RDMA, each such objective, and each probed edge it uses."""
    return tuple(_verdicts(memory, snapshot, now))


def edges_used(works: Iterable[Work], edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The edges with an end on a node of a gang that runs on several: what stays on one node crosses no fabric."""
    nodes: set[str] = set()
    for work in works:
        if work.phase in (WorkPhase.RUNNING, WorkPhase.STARTING) and len(work.nodes) > 1:
            nodes.update(work.nodes)
    return tuple(sorted(edge for edge in edges if edge.source in nodes or edge.destination in nodes))


def agreed_slow(slow: int, used: int) -> bool:
    """Whether so many slow edges of those that a tenant uses are the network: one of several may be a busy host."""
    return slow >= min(2, used) > 0


def can_not_be_judged(new: int, judged: int) -> bool:
    """Whether too few of the edges that a tenant uses have a past to say that the network is as usual."""
    return new > 0 and judged < min(2, new + judged)


def new_edges_sentence(objective: str, new: int) -> str:
    """For a person: why the network is not ruled out; without its full stop."""
    return (
        f"RDMA can not be judged yet by its objective {objective}: {new} of the edges that its running gangs use "
        f"were probed fewer than {LEAST_PROBES} times"
    )


def slow_edges_sentence(objective: str, ratios: Mapping[Edge, float]) -> str:
    """For a person: which edge is slowest, and by how much; without its full stop. Needs at least one."""
    edge, ratio = max(sorted(ratios.items()), key=lambda item: item[1])
    others = f" ({len(ratios) - 1} more are slow)" if len(ratios) > 1 else ""
    return (
        f"RDMA from {edge} takes {ratio:.1f} times as long as its objective {objective} allows, "
        f"and its running gangs use it{others}"
    )


def _verdicts(memory: FabricView, snapshot: Snapshot, now: float) -> Iterator[EdgeVerdict]:
    for tenant in snapshot.site.tenants:
        for objective in tenant.objectives:
            if objective.kind is not ObjectiveKind.RDMA_LATENCY:
                continue
            works = (
                work for work in snapshot.works if work.tenant == tenant.name and objective.pool in (None, work.pool)
            )
            for edge in edges_used(works, memory.edges):
                is_new = memory.is_new(
                    edge, objective.quantile or 0.0, needs_baseline=objective.within_baseline_factor is not None
                )
                yield EdgeVerdict(tenant.name, objective.name, edge, _ratio(memory, objective, edge, now), is_new)


def _ratio(memory: FabricView, objective: Objective, edge: Edge, now: float) -> Reading[float]:
    if objective.quantile is None:
        return Unknown("the objective names no quantile")
    latency = memory.lasting_seconds(edge, objective.quantile, now)
    limit = _limit_seconds(memory, objective, edge, objective.quantile)
    if isinstance(latency, Unknown):
        return latency
    return limit if isinstance(limit, Unknown) else Known(latency.value / limit.value, latency.age_seconds)


def _limit_seconds(memory: FabricView, objective: Objective, edge: Edge, quantile: float) -> Reading[float]:
    if objective.within_seconds is not None:
        return Known(objective.within_seconds)
    factor, baseline = objective.within_baseline_factor, memory.baseline_seconds(edge, quantile)
    if factor is None:
        return Unknown("the objective sets no limit")
    return baseline if isinstance(baseline, Unknown) else Known(factor * baseline.value)

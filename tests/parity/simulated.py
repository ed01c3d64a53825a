"""The simulator's side: a scenario played with the names and moments that the real Kueue had, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant, Timings
from controller.simulate.gang import GangPhase
from tests.parity.real import Seen
from tests.parity.scenarios import Arrival, Scenario

_HOLDS = (GangPhase.ADMITTED, GangPhase.RUNNING)
_FOREVER = 1e9


@dataclass(frozen=True)
class Difference:
    """A step after which the two do not agree. Names are without the scenario's."""

    scenario: str
    step: int
    what: str
    real_admitted: frozenset[str]
    simulated_admitted: frozenset[str]
    real_evictions: dict[str, int]
    simulated_evictions: dict[str, int]


class SimulatedKueue(Cluster):
    """A cluster in which quota alone decides; its uids are those that the API server gave."""

    def __init__(self, scenario: Scenario, start: float, uids: dict[str, str]) -> None:
        tenants = tuple(SimulatedTenant(node.name, 0) for node in scenario.queues)
        timings = Timings(start_seconds=0.0, requeue_seconds=0.01, look_again_seconds=0.5)
        super().__init__(
            ClusterSpec(scenario.name, 1, tenants, gpus_per_node=10**6, timings=timings, tree=scenario.nodes), start
        )
        self._arriving, self._uids = "", uids

    def arrive(self, step: Arrival) -> None:
        """Hand it in."""
        self._arriving = step.name
        self.submit(JobSpec(step.name, step.queue, step.pods, step.gpus_per_pod, _FOREVER, step.priority))

    def _uid(self, kind: str, number: int) -> str:
        return self._uids[self._arriving]

    def admitted(self) -> frozenset[str]:
        """Who holds quota."""
        return frozenset(gang.spec.name for gang in self.of_phase(*_HOLDS))

    def agree_on_moments(self, reserved: dict[str, float]) -> None:
        """Take over when each was admitted: a second that the real one needed more changes the order of victims."""
        for gang in self.of_phase(*_HOLDS):
            gang.admitted_at = reserved[gang.spec.name]


def first_difference(scenario: Scenario, seen: Sequence[Seen]) -> Difference | None:
    """Where the simulator first does something else than was seen; None: nowhere."""
    site = SimulatedKueue(scenario, seen[0].began, dict(seen[-1].uids))
    evictions: dict[str, int] = {}
    for number, (step, real) in enumerate(zip(scenario.steps, seen, strict=True)):
        site.advance(max(site.now, real.began))
        if isinstance(step, Arrival):
            site.arrive(step)
        else:
            queue = next(one.queue for one in scenario.steps if isinstance(one, Arrival) and one.name == step.name)
            site.withdraw(queue, step.name)
        site.advance(real.began + 0.9)
        evictions |= {gang.spec.name: gang.evictions for gang in site.gangs.values() if gang.evictions}
        if site.admitted() != frozenset(real.reserved) or evictions != real.evictions:
            stem = f"{scenario.name}-"
            return Difference(
                scenario.name,
                number,
                repr(step),
                frozenset(name.removeprefix(stem) for name in real.reserved),
                frozenset(name.removeprefix(stem) for name in site.admitted()),
                {name.removeprefix(stem): times for name, times in real.evictions.items()},
                {name.removeprefix(stem): times for name, times in evictions.items()},
            )
        site.agree_on_moments(real.reserved)
    return None

"""Recipe `wrong-cause`: a queue grows because work is slow, and no quota is moved for it: the cause is told instead.

One tenant's work is slowed by Ceph, by RDMA, by a sick GPU, or hangs; its queue grows while another borrows, so that
every tuner would give it more. Beside it, or not, a tenant is really starved: that one must get its change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.model.tenancy import Objective, ObjectiveKind, SizeClass, Tier
from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell
from controller.evaluate.score import SHIPPED
from controller.evaluate.sensors import SensorModel
from controller.evaluate.steered import Agreed, Steered, site_of
from controller.policy.finding import Cause, Finding
from controller.simulate.chance import Chance
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant
from controller.simulate.faults import Fault, HungGang, NetworkNoise, SickGpu, StorageFault
from controller.simulate.gang import Gang, GangPhase

SLOW, STARVED, GREEDY = "slow", "starved", "greedy"
_HOUR, _TICK = 3600.0, SHIPPED.cadence.tick_seconds
_WARM_SECONDS, _FAULT_SECONDS = 1.5 * _HOUR, 1.5 * _HOUR
_SPEED: Final = 0.15
TIERS: Final = (
    Tier("critical", 100, {SizeClass.SINGLE_NODE: 300.0, SizeClass.SMALL_GANG: 900.0}),
    Tier("standard", 50, {SizeClass.SINGLE_NODE: 900.0, SizeClass.SMALL_GANG: 3600.0}),
)
_DATA = Objective("data", ObjectiveKind.STORAGE_LATENCY, 0.99, 28 * 86400.0, within_seconds=0.05, storage="rbd")
_FABRIC = Objective("fabric", ObjectiveKind.RDMA_LATENCY, 0.99, 28 * 86400.0, quantile=0.99, within_baseline_factor=3.0)
_OF_WORK: Final = frozenset({Cause.CEPH, Cause.RDMA, Cause.GPU_HEALTH, Cause.WORKLOAD})


@dataclass(frozen=True, slots=True)
class Trial:
    """One kind of fault: its cause, what is broken (given the gang that runs), and for how long it must have lasted."""

    cause: Cause
    fault: Callable[[Gang, Cluster], Fault]
    lasts_seconds: float = 0.0
    """By definition: before, it is not what it is called."""


def _sick_gpu(gang: Gang, cluster: Cluster) -> Fault:
    pod = gang.pod_key(min(gang.bound))
    node = cluster.nodes.node_of(pod) or ""
    return SickGpu(node, cluster.nodes.slots[node].index(pod), _SPEED)


TRIALS: Final[Mapping[str, Trial]] = {
    "ceph": Trial(Cause.CEPH, lambda gang, cluster: StorageFault(SLOW, _SPEED)),
    "rdma": Trial(Cause.RDMA, lambda gang, cluster: NetworkNoise(_SPEED), 60.0),
    "gpu": Trial(Cause.GPU_HEALTH, _sick_gpu),
    "hung": Trial(Cause.WORKLOAD, lambda gang, cluster: HungGang(SLOW, gang.spec.name), 600.0),
}


@dataclass(slots=True)
class Seen:
    """What came of one run."""

    changes_for_slow: int = 0
    changes_for_starved: int = 0
    periods_to_cause: float = math.inf
    wrong: list[str] = field(default_factory=list)
    """Sentences of findings with a cause that is not theirs."""


def scene(seed: int, *, starving: bool, crowded: bool = False) -> tuple[Steered, SensorModel]:
    """`slow` runs a gang of two nodes after the other, just within its own; `greedy` borrows all that is lent.

    `starving`: `starved` waits behind it. `crowded`: `slow` hands in more than it can run, with nothing broken.
    """
    tenants = (SimulatedTenant(SLOW, 16), SimulatedTenant(STARVED, 8), SimulatedTenant(GREEDY, 16))
    spec = ClusterSpec("wrong-cause", 10, tenants, shared=40)
    cluster, chance = Cluster(spec, 0.0, seed), Chance(seed).apart("wrong-cause", int(starving))
    agreed = {
        SLOW: Agreed("critical", 48, (_DATA, _FABRIC)),
        STARVED: Agreed("standard", 24, (_DATA,)),
        GREEDY: Agreed("standard"),
    }
    site = site_of(spec, TIERS, agreed)
    for number in range(9):
        cluster.submit(JobSpec(f"sweep-{number}", GREEDY, 1, 8, 1e7, checkpoint_seconds=_HOUR))
    cluster.submit(JobSpec("steady", STARVED, 1, 8, 1e7, priority=10))
    if starving:
        cluster.submit(JobSpec("late", STARVED, 1, 8, 1e7, priority=10), at=_WARM_SECONDS + chance.between(0.0, 600.0))
    gap = 600.0 if crowded else 1800.0
    for number in range(int((_WARM_SECONDS + _FAULT_SECONDS) / gap)):
        at = gap * number + chance.between(0.0, 240.0)
        cluster.submit(JobSpec(f"train-{number}", SLOW, 2, 8, chance.between(1000.0, 1300.0), 10, _HOUR), at=at)
    sensors = SensorModel(cluster, site, chance)
    return Steered(cluster, site, sensors), sensors


def observed(trial: Trial | None, seed: int, *, starving: bool) -> Seen:
    """Run the scene, break something while a gang of `slow` runs, and watch what is found until the end."""
    run, sensors = scene(seed, starving=starving, crowded=trial is None)
    cluster, seen, broken_at = run.cluster, Seen(), math.inf
    while cluster.now < _WARM_SECONDS + _FAULT_SECONDS:
        gang = next((one for one in cluster.of_phase(GangPhase.RUNNING) if one.spec.tenant == SLOW), None)
        if trial is not None and gang is not None and cluster.now >= _WARM_SECONDS and broken_at == math.inf:
            sensors.begin(trial.fault(gang, cluster))
            broken_at = cluster.now
        note(run.tick().findings, trial, cluster.now - broken_at, seen)
        cluster.advance(cluster.now + _TICK)
    changes = run.ledger.changes
    seen.changes_for_slow = sum(one.tenant == SLOW for one in changes)
    seen.changes_for_starved = sum(one.tenant == STARVED for one in changes)
    return seen


def note(findings: Iterable[Finding], trial: Trial | None, since_seconds: float, seen: Seen) -> None:
    """Take down what one tick found. `since_seconds`: how long something has been broken; below 0 before."""
    for finding in findings:
        told = trial is not None and finding.tenant == SLOW and finding.cause is trial.cause and since_seconds >= 0
        if told and trial is not None and seen.periods_to_cause == math.inf:
            seen.periods_to_cause = max(0.0, since_seconds - trial.lasts_seconds) / _TICK
        later = finding.tenant == SLOW and seen.periods_to_cause < math.inf
        if not told and (finding.cause in _OF_WORK or (later and finding.cause is Cause.SCHEDULING)):
            seen.wrong.append(finding.sentence)


def measure(seed: int) -> dict[str, float]:
    """The results of one seed: each fault alone, and together with a tenant that is really starved."""
    runs = [(observed(trial, seed, starving=both), both) for trial in TRIALS.values() for both in (False, True)]
    return {
        "scheduling_changes": float(sum(seen.changes_for_slow for seen, _ in runs)),
        "starved_without_change": float(sum(both and not seen.changes_for_starved for seen, both in runs)),
        "max_periods_to_cause": max(math.ceil(seen.periods_to_cause) for seen, _ in runs)
        if all(math.isfinite(seen.periods_to_cause) for seen, _ in runs)
        else math.inf,
        "wrong_causes": float(sum(len(seen.wrong) for seen, _ in runs)),
    }


def _load(folder: TraceFolder) -> Run:
    del folder  # made up, no trace

    def run(seeds: int, tell: Tell) -> Outcome:
        per_seed, control = list[SeedResult](), 0
        for seed in range(seeds):
            tell(seed / seeds, f"four faults, alone and together, seed {seed}")
            per_seed.append(SeedResult(seed, measure(seed)))
            control += observed(None, seed, starving=False).changes_for_slow
        # The worst of all seeds, not the median: one wrong change is one too many.
        worst = {name: max(one.results[name] for one in per_seed) for name in per_seed[0].results}
        return Outcome(worst, tuple(per_seed), {"changes_for_the_same_queue_without_a_fault": float(control)})

    return run


WRONG_CAUSE: Final = Recipe(
    "wrong-cause",
    "Work slowed by Ceph, RDMA, a sick GPU or a hang, alone and beside real starvation: who gets quota, what is named.",
    "every tuner known would give more to the tenant whose queue grows",
    (
        Goal("scheduling_changes", Sense.EXACTLY, 0.0),
        Goal("starved_without_change", Sense.EXACTLY, 0.0),
        Goal("max_periods_to_cause", Sense.AT_MOST, 2.0),
        Goal("wrong_causes", Sense.EXACTLY, 0.0),
    ),
    _load,
)

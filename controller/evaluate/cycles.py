"""Recipe `cycles`: preemption cycles of two and of three parties are seen by their third repetition, and end.

A sound engine has almost none, so the cluster of this recipe has a flaw, as engines had (shares that round, a preemptor
that is not served before its victim comes back): in a ring of tenants each may evict the next one's work. It keeps what
all engines keep: only work of tenants that use more than they are entitled to is evicted. In one more scenario it does
not even keep that. What is faster than the tick can not be seen by its third repetition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from collector.model.tenancy import SizeClass, Tier
from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell
from controller.evaluate.score import SHIPPED
from controller.evaluate.steered import Agreed, Steered, site_of
from controller.policy.finding import Trouble
from controller.simulate.chance import Chance
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant, Timings
from controller.simulate.gang import Gang, GangPhase
from controller.simulate.generator import Demand, submissions

_HOUR: Final = 3600.0
_LONG: Final = 1e7
_HELD: Final = (GangPhase.ADMITTED, GangPhase.RUNNING)
TIERS: Final = (
    Tier("critical", 100, {SizeClass.SINGLE_NODE: 300.0, SizeClass.SMALL_GANG: 900.0}),
    Tier("standard", 50, {SizeClass.SINGLE_NODE: 900.0, SizeClass.SMALL_GANG: 3600.0}),
)


@dataclass(frozen=True, slots=True)
class Loss:
    """A gang lost its place."""

    at: float
    by: str
    victim: str


class FlawedCluster(Cluster):
    """Kueue with one flaw: tenants of `ring` evict the next one's work in turn. `losses` holds all evictions.

    `heedless`: also work of tenants that use no more than they are entitled to.
    """

    def __init__(self, spec: ClusterSpec, seed: int, ring: Sequence[str] = (), heedless: bool = False) -> None:
        self.losses: list[Loss] = []
        self._heedless = heedless
        self._next = dict(zip(ring, (*ring[1:], *ring[:1]), strict=True))
        super().__init__(spec, 0.0, seed)

    def _evict(self, gang: Gang, preemptor: Gang) -> None:
        super()._evict(gang, preemptor)
        self.losses.append(Loss(self.now, preemptor.spec.tenant, gang.spec.tenant))

    def _settle(self) -> None:
        super()._settle()
        while (step := self._flaw()) is not None:
            preemptor, victim = step
            self._promised[preemptor.spec.tenant] = preemptor.uid
            self._evict(victim, preemptor)
            super()._settle()

    def _flaw(self) -> tuple[Gang, Gang] | None:
        """Who evicts whom by the flaw now. A gang that was just evicted waits for a while, so this ends."""
        for gang in self.of_phase(GangPhase.PENDING):
            target = self._next.get(gang.spec.tenant)
            if target is None or gang.eligible_at > self.now or not self._borrows(target):
                continue
            victims = [one for one in self.of_phase(*_HELD) if one.spec.tenant == target and _fought(one)]
            if victims:
                return gang, victims[0]
        return None

    def _borrows(self, tenant: str) -> bool:
        return self._heedless or self.tree.is_borrowing(f"tenant-{tenant}")


def _fought(gang: Gang) -> bool:
    return gang.spec.name.startswith("fought")


@dataclass(frozen=True, slots=True)
class Scene:
    """A cluster in which a cycle begins at `begins`, the tenants in it, and those who have no part in it."""

    run: Steered
    cluster: FlawedCluster
    parties: tuple[str, ...]
    strangers: tuple[str, ...]
    begins: float


def ring_scene(parties: int, seed: int) -> Scene:
    """A ring of so many tenants who fight over room for all but one of them, or for one; two more mind their own."""
    chance = Chance(seed).apart("cycles", parties)
    ring = tuple("abc"[:parties])
    gpus, floor = chance.pick(((8, 1.0), (4, 1.0), (16, 1.0))), chance.pick(((0, 1.0), (8, 1.0)))
    rooms = 1 + int(chance.uniform() * (parties - 1))
    others = (SimulatedTenant("lends", 16, 0), SimulatedTenant("borrows", 8, 8))
    tenants = (*(SimulatedTenant(name, floor) for name in ring), *others)
    total = parties * floor + 32 + rooms * gpus + 8
    spec = ClusterSpec(
        "cycles",
        -(-total // 8),
        tenants,
        shared=rooms * gpus + 8,
        timings=Timings(start_seconds=10.0, requeue_seconds=chance.between(30.0, 150.0)),
    )
    cluster = FlawedCluster(spec, seed, ring)
    for name in ring if floor else ():
        cluster.submit(JobSpec("own", name, 1, floor, _LONG, checkpoint_seconds=_HOUR))
    for name, count in (("lends", 2), ("borrows", 3)):
        for number in range(count):
            cluster.submit(JobSpec(f"steady-{number}", name, 1, 8, _LONG, checkpoint_seconds=_HOUR))
    begins = chance.between(600.0, 1200.0)
    for number, name in enumerate(ring):
        pods, per_pod = (gpus // 8, 8) if gpus > 8 else (1, gpus)
        cluster.submit(JobSpec("fought", name, pods, per_pod, _LONG, 0, _HOUR), at=begins + 20.0 * number)
    tiers = {name: chance.pick((("critical", 1.0), ("standard", 2.0))) for name in ring}
    agreed = {one.name: Agreed(tiers.get(one.name, "standard")) for one in tenants}
    return Scene(Steered(cluster, site_of(spec, TIERS, agreed)), cluster, ring, ("lends", "borrows"), begins)


def incurable_scene(seed: int, requeue_seconds: float = 60.0) -> Scene:
    """One tenant evicts another that is within its floor, which then reclaims it, and so on.

    Nothing is lent but floors, which are not ours, so that no quota can end it: it must be seen, and left to people.
    """
    tenants = (SimulatedTenant("a", 4, 8), SimulatedTenant("b", 4, 0))
    timings = Timings(start_seconds=10.0, requeue_seconds=requeue_seconds)
    cluster = FlawedCluster(ClusterSpec("cycles", 2, tenants, shared=0, timings=timings), 0, ("a", "b"), heedless=True)
    begins = 600.0 + Chance(seed).apart("incurable").between(0.0, 60.0)
    cluster.submit(JobSpec("fought", "a", 2, 8, _LONG), at=begins)
    cluster.submit(JobSpec("fought", "b", 1, 4, _LONG), at=begins + 20.0)
    agreed = {one.name: Agreed("standard", burst=16) for one in tenants}
    return Scene(Steered(cluster, site_of(cluster.spec, TIERS, agreed)), cluster, ("a", "b"), (), begins)


@dataclass(slots=True)
class Watched:
    """What the loop made of a scene."""

    detected_after: int | None = None
    """Evictions among the parties until the first finding."""
    stopped: bool = False
    touched: set[str] = field(default_factory=set)
    """Tenants outside of the cycle whose own object was moved, or whose work was evicted."""


def watch(scene: Scene, hours: float = 3.0) -> Watched:
    """Run a scene to its end."""
    found, cluster, tick = Watched(), scene.cluster, SHIPPED.cadence.tick_seconds
    before = {name: scene.run.level(name) for name in scene.strangers}
    while cluster.now < hours * _HOUR:
        outcome = scene.run.tick()
        thrashing = {finding.tenant for finding in outcome.findings if finding.kind is Trouble.THRASHING}
        if thrashing.intersection(scene.parties) and found.detected_after is None:
            found.detected_after = len(_among(scene))
        found.touched |= {name for name in scene.strangers if scene.run.level(name) != before[name]}
        cluster.advance(cluster.now + tick)
    found.touched |= {loss.victim for loss in cluster.losses if loss.victim in scene.strangers}
    found.stopped = not any(loss.at > (hours - 1.0) * _HOUR for loss in cluster.losses)
    return found


def _among(scene: Scene) -> list[Loss]:
    return [one for one in scene.cluster.losses if one.by in scene.parties and one.victim in scene.parties]


def healthy(seed: int, hours: float) -> tuple[int, int]:
    """Cycles that are seen on a crowded cluster that has none, where tenants lend and reclaim; and evictions there."""
    tenants = (SimulatedTenant("a", 16, 8), SimulatedTenant("b", 8, 8), SimulatedTenant("c", 8, 0))
    spec = ClusterSpec("crowded", 8, tenants, shared=16)
    cluster = FlawedCluster(spec, seed)
    demands = [
        Demand("a", 44.0),
        Demand("b", 36.0),
        Demand("c", 29.0, jobs_per_sweep=6.0, longest_seconds=3 * _HOUR),
    ]
    for one in submissions(demands, seed, hours * _HOUR):
        cluster.submit(one.job, one.at)
    run = Steered(cluster, site_of(spec, TIERS, {one.name: Agreed("standard", burst=32) for one in tenants}))
    seen: set[tuple[str, str, str]] = set()
    while cluster.now < hours * _HOUR:
        outcome = run.tick()
        seen |= {finding.key for finding in outcome.findings if finding.kind is Trouble.THRASHING}
        cluster.advance(cluster.now + SHIPPED.cadence.tick_seconds)
    return len(seen), len(cluster.losses)


def measure(seed: int) -> Mapping[str, float]:
    """The results of one seed: a ring of two, one of three, and a cycle that has no cure."""
    rings = [ring_scene(parties, seed) for parties in (2, 3)]
    incurable = incurable_scene(seed, Chance(seed).apart("pace").between(45.0, 150.0))
    found = [watch(scene) for scene in (*rings, incurable)]
    rounds = [
        -(-one.detected_after // length)
        for one, length in zip(found, (2, 3, 2), strict=True)
        if one.detected_after is not None
    ]
    return {
        "max_repetitions_to_detection": float(max(rounds, default=0)),
        "cycles_missed": float(sum(one.detected_after is None for one in found)),
        "unrelated_tenants_touched": float(sum(len(one.touched) for one in found)),
        "cycles_not_stopped": float(sum(not one.stopped for one in found[:-1])),
        "cycles_without_a_cure_not_stopped": float(not found[-1].stopped),
    }


def _load(folder: TraceFolder) -> Run:
    del folder  # made up, no trace

    def run(seeds: int, tell: Tell) -> Outcome:
        per_seed, crowded = list[SeedResult](), list[tuple[int, int]]()
        for seed in range(seeds):
            tell(seed / seeds, f"cycles, seed {seed}")
            per_seed.append(SeedResult(seed, measure(seed)))
            crowded.append(healthy(seed, 12.0))
        # The worst of all seeds, not the median: one cycle that is missed is one too many.
        worst = {name: max(one.results[name] for one in per_seed) for name in per_seed[0].results}
        details = {
            "cycles_seen_where_none_is": float(sum(seen for seen, _ in crowded)),
            "evictions_where_no_cycle_is": float(sum(evictions for _, evictions in crowded)),
        }
        details["cycles_without_a_cure_not_stopped"] = worst.pop("cycles_without_a_cure_not_stopped")
        return Outcome(worst, tuple(per_seed), details)

    return run


CYCLES: Final = Recipe(
    "cycles",
    "Preemption cycles of two and three parties: repetitions until they are seen, and whether they end.",
    "kueue#6861: work preempted more than 100 times; nobody detects it",
    (
        Goal("max_repetitions_to_detection", Sense.AT_MOST, 3.0),
        Goal("cycles_missed", Sense.EXACTLY, 0.0),
        Goal("unrelated_tenants_touched", Sense.EXACTLY, 0.0),
        Goal("cycles_not_stopped", Sense.EXACTLY, 0.0),
    ),
    _load,
)

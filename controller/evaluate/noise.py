"""Recipe `noise`: demand that trembles around what was agreed, or swings, moves next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from collector.model.tenancy import SizeClass, Tier
from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell, summed_up
from controller.evaluate.score import SHIPPED
from controller.evaluate.steered import Agreed, Steered, site_of
from controller.simulate.chance import Chance
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant, Timings

SERIES: Final = (50, 70, 60, 75, 65, 80, 70)
"""GPUs wanted, one value a tick: the printed series of a controller that flipped its caps at each of them."""
TICKS: Final = 10_000
WAVE_MINUTES: Final = (2, 10, 60, 240)
SWING: Final = 0.3
_AGREED, _UNIT, _HOUR = 65, 5, 3600.0
_TICK: Final = SHIPPED.cadence.tick_seconds
TIERS: Final = (
    Tier("critical", 100, {SizeClass.INTERACTIVE: 180.0, SizeClass.SINGLE_NODE: 300.0, SizeClass.SMALL_GANG: 900.0}),
    Tier("standard", 50, {SizeClass.SINGLE_NODE: 900.0, SizeClass.SMALL_GANG: 3600.0}),
)


def world() -> Steered:
    """`wave` has an agreed 65 of 100 GPUs and `filler`, with 15, always has work for all the rest."""
    tenants = (SimulatedTenant("wave", 45, 20), SimulatedTenant("filler", 15, 0))
    spec = ClusterSpec("noise", 10, tenants, shared=20, gpus_per_node=10, timings=Timings(start_seconds=5.0))
    agreed = {"wave": Agreed("critical", burst=100), "filler": Agreed("standard")}
    cluster = Cluster(spec, start=0.0)
    for number in range(spec.nodes * spec.gpus_per_node // _UNIT):
        cluster.submit(JobSpec(f"fill-{number}", "filler", 1, _UNIT, 1e9, checkpoint_seconds=_HOUR))
    return Steered(cluster, site_of(spec, TIERS, agreed))


@dataclass(slots=True)
class Demand:
    """Replicas of a service that come and go with the load: the youngest goes first. `lasting`: names come again."""

    run: Steered
    lasting: bool = False
    _names: list[str] | None = None
    _made: int = 0

    def follow(self, gpus: float) -> None:
        """So many GPUs are wanted from now on."""
        names = self._names = [] if self._names is None else self._names
        wanted = round(gpus / _UNIT)
        while len(names) > wanted:
            self.run.cluster.withdraw("wave", names.pop())
        while len(names) < wanted:
            self._made += 1
            name = f"replica-{len(names) if self.lasting else self._made}"
            names.append(name)
            self.run.cluster.submit(JobSpec(name, "wave", 1, _UNIT, 1e9, priority=10))


@dataclass(frozen=True, slots=True)
class Ride:
    """What one run showed."""

    changes: int
    """Moves and returns that were decided, each counted once."""
    turns: int
    """How often the level of `wave` changed its direction."""
    demand_turns: int
    hours: float


def ride(ticks: int, wanted: Callable[[int], float], *, lasting: bool = False) -> Ride:
    """Let the demand follow `wanted` (tick → GPUs) and count what the loop makes of it."""
    run = world()
    demand = Demand(run, lasting)
    levels, asked = [run.level("wave")], [wanted(0)]
    for tick in range(ticks):
        demand.follow(wanted(tick))
        run.tick()
        levels.append(run.level("wave"))
        asked.append(wanted(tick))
        run.cluster.advance(run.cluster.now + _TICK)
    made = len(run.ledger.changes)
    returned = sum(change.returning_since is not None for change in run.ledger.changes)
    return Ride(made + returned, turns(levels), turns(asked), ticks * _TICK / _HOUR)


def turns(values: Sequence[float]) -> int:
    """How often a series that went one way goes the other."""
    steps = [later - earlier for earlier, later in pairwise(values) if later != earlier]
    return sum((one > 0) != (other > 0) for one, other in pairwise(steps))


def _printed(tick: int) -> float:
    return SERIES[tick % len(SERIES)]


def square(minutes: float, begin: float = 0.0) -> Callable[[int], float]:
    """Demand that is high for half of each period and low for the other; `begin` (0 to 1) is where in it it starts."""

    def wanted(tick: int) -> float:
        phase = (tick * _TICK / 60.0 / minutes + begin) % 1.0
        return _AGREED * (1 + SWING if phase < 0.5 else 1 - SWING)

    return wanted


def trembling(ticks: int, tell: Tell) -> dict[str, float]:
    """Changes in so many ticks of the printed series: with ever new work, and with work that comes and goes."""
    found: dict[str, float] = {}
    for number, (name, lasting) in enumerate((("new_work", False), ("same_work", True))):
        tell(0.05 + 0.3 * number, f"{ticks} ticks of noise, {name.replace('_', ' ')}")
        found[f"changes_from_noise_{name}"] = float(ride(ticks, _printed, lasting=lasting).changes)
    return found


def waves(hours: float, begin: float, minutes: Sequence[int] = WAVE_MINUTES) -> dict[str, float]:
    """What square waves of each period make of the loop, and a demand that stays high: it may turn nothing."""
    found: dict[str, float] = {}
    rides = [ride(round(hours * _HOUR / _TICK), lambda tick: _AGREED * (1 + SWING))]
    for period in minutes:
        rides.append(ride(round(hours * _HOUR / _TICK), square(period, begin)))
        found[f"changes_per_hour_{period}_minutes"] = rides[-1].changes / rides[-1].hours
    found["changes_per_hour_square_wave"] = max(found.values())
    found["limit_cycles"] = float(sum(one.turns > one.demand_turns for one in rides))
    return found


def _load(folder: TraceFolder) -> Run:
    del folder  # made up, no trace

    def run(seeds: int, tell: Tell) -> Outcome:
        noise, per_seed = trembling(TICKS, tell), list[SeedResult]()
        for seed in range(seeds):
            tell(0.65 + 0.35 * seed / seeds, f"square waves, seed {seed}")
            results = waves(16.0, Chance(seed).apart("noise").uniform())
            per_seed.append(SeedResult(seed, {"changes_from_noise": sum(noise.values()), **results}))
        results = summed_up(per_seed, NOISE.goals)
        details = noise | {name: value for name, value in results.items() if name not in _METRICS}
        return Outcome({name: results[name] for name in _METRICS}, tuple(per_seed), details | {"ticks": float(TICKS)})

    return run


_METRICS: Final = ("changes_from_noise", "changes_per_hour_square_wave", "limit_cycles")

NOISE: Final = Recipe(
    "noise",
    "Changes that demand around what was agreed brings about: a printed series of noise, and square waves of 30 %.",
    "llm-d gpu-rebalance: caps flipped in every tick, and it was withdrawn",
    (
        Goal("changes_from_noise", Sense.EXACTLY, 0.0),
        Goal("changes_per_hour_square_wave", Sense.AT_MOST, 4.0),
        Goal("limit_cycles", Sense.EXACTLY, 0.0),
    ),
    _load,
)

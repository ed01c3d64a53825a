"""decide() for any cluster: the order of things means nothing, and no budget is ever overrun."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model.snapshot import Snapshot
from controller.api.policy import Budgets, Mode, Policy
from controller.policy.change import Change
from controller.policy.engine import decide
from controller.policy.ledger import Ledger
from tests.builders import HOUR, agreed
from tests.world import Steering, World

TENANTS = ("vision", "nlp", "ads")
ENFORCE = Policy(mode=Mode.ENFORCE)


@dataclass(frozen=True)
class Happening:
    """One tenant takes all of its own and more, another waits too long; some evictions follow; time passes."""

    starving: str
    borrowing: str
    late: tuple[int, ...]
    borrowed: int
    starts: bool
    seconds: float


happenings = st.builds(
    Happening,
    st.sampled_from(TENANTS),
    st.sampled_from(TENANTS),
    st.lists(st.sampled_from([2, 4, 8]), min_size=1, max_size=3).map(tuple),
    st.sampled_from([0, 4, 8, 16]),
    st.booleans(),
    st.sampled_from([30.0, 960.0, HOUR, 5 * HOUR]),
)


class Site:
    """A world in which such things happen."""

    def __init__(self, policy: Policy, shared: int = 24) -> None:
        tiers = ("critical", "standard", "standard")
        tenants = [agreed(name, 8, 8, tier=tier, burst=48) for name, tier in zip(TENANTS, tiers, strict=True)]
        self.world = World(*tenants, shared=shared, nodes=6 + shared // 8 + 1)
        self.steers = Steering(self.world, policy=policy)
        self._count = 0

    def happens(self, what: Happening) -> None:
        self._runs_up_to(what.starving, 8 + self.world.levels()[f"trimtab-{what.starving}"])
        if what.borrowing != what.starving:
            self._runs_up_to(what.borrowing, 8 + self.world.levels()[f"trimtab-{what.borrowing}"] + what.borrowed)
        late = [self.world.submits(what.starving, self._name(), gpus, ago=2 * HOUR) for gpus in what.late]
        self.world.passes(what.seconds)
        self.steers.ticks(2)
        if what.starts:
            for title in late:
                self.world.starts(title, "n0")

    def _runs_up_to(self, tenant: str, gpus: int) -> None:
        running = sum(g.gpus for g in self.world.gangs.values() if g.tenant == tenant and g.admitted_at is not None)
        for _ in range(running, gpus, 4):
            self.world.runs(tenant, self._name(), f"n{self._count % 8}", gpus=4, ago=60.0 * (self._count % 40))

    def _name(self) -> str:
        self._count += 1
        return f"w{self._count}"


def shuffled(snapshot: Snapshot, chance: random.Random) -> Snapshot:
    """The same facts in another order."""
    works, tenants = list(snapshot.works), list(snapshot.tenants)
    chance.shuffle(works)
    chance.shuffle(tenants)
    people = list(snapshot.site.tenants)
    chance.shuffle(people)
    pools = {name: replace(pool, nodes=tuple(reversed(pool.nodes))) for name, pool in snapshot.pools.items()}
    site = replace(snapshot.site, tenants=tuple(people), tiers=tuple(reversed(snapshot.site.tiers)))
    return replace(snapshot, works=tuple(works), tenants=tuple(tenants), site=site, pools=pools)


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(happenings, min_size=1, max_size=5), st.integers(0, 2**32))
def test_the_order_of_facts_means_nothing(events: list[Happening], seed: int) -> None:
    site, chance = Site(ENFORCE), random.Random(seed)
    for event in events:
        site.happens(event)
    snapshot, targets = site.steers.look()
    ledger = replace(site.steers.ledger, confirmations={(t, "h100", "starved"): 9 for t in TENANTS})
    other_targets = list(targets)
    chance.shuffle(other_targets)
    one = decide(snapshot, ENFORCE, Mode.ENFORCE, ledger, targets)
    other = decide(shuffled(snapshot, chance), ENFORCE, Mode.ENFORCE, ledger, other_targets)
    assert one == other


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(happenings, min_size=1, max_size=6), st.floats(0.0, 1.0))
def test_until_it_wakes_the_same_facts_change_nothing(events: list[Happening], share: float) -> None:
    site = Site(ENFORCE)
    for event in events:
        site.happens(event)
        snapshot, targets = site.steers.look()
        ledger = site.steers.ledger
        for number in range(12):
            look = replace(snapshot, taken_at=snapshot.taken_at + number)
            outcome = decide(look, ENFORCE, Mode.ENFORCE, ledger, targets)
            if outcome.ledger == ledger:
                break
            assert look.taken_at < outcome.wake_at <= look.taken_at + ENFORCE.cadence.tick_seconds
            ledger = outcome.ledger
        else:
            raise AssertionError("the same facts were answered in another way each time")
        end = min(outcome.wake_at, look.taken_at + 9 * HOUR)
        later = replace(snapshot, taken_at=look.taken_at + share * (end - look.taken_at) * 0.999)
        assert decide(later, ENFORCE, Mode.ENFORCE, ledger, targets).ledger == ledger


budgets = st.builds(
    Budgets, st.integers(0, 4), st.integers(0, 2), st.integers(0, 4), st.sampled_from([0.0, 1.0, 8.0, 100.0])
)


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(happenings, min_size=5, max_size=14), budgets, st.sampled_from([1.0, 24.0]))
def test_no_budget_is_ever_overrun(events: list[Happening], budgets: Budgets, time_scale: float) -> None:
    policy = replace(ENFORCE, budgets=budgets, day_seconds=86400.0 / time_scale)
    site = Site(policy)
    for event in events:
        site.happens(event)
    changes = site.steers.ledger.changes
    for change in changes:
        day, hour = policy.day_seconds, policy.day_seconds / 24
        at = change.created_at
        today = [other for other in changes if at - day < other.created_at <= at]
        takes = [other for other in today if other.takes]
        assert len(takes) <= budgets.changes_per_day
        assert len({other.tenant for other in takes if at - other.created_at < hour}) <= budgets.tenants_per_hour
        assert sum(len(other.forecast.evicted) for other in today) <= budgets.added_evictions_per_day
        assert sum(other.forecast.lost_gpu_hours for other in today) <= budgets.added_lost_gpu_hours_per_day


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(happenings, min_size=3, max_size=10))
def test_every_change_keeps_to_its_bounds(events: list[Happening]) -> None:
    site = Site(ENFORCE)
    seen: set[str] = set()
    for event in events:
        site.happens(event)
        made = [change for change in site.steers.ledger.changes if change.id not in seen]
        seen |= {change.id for change in made}
        assert len({change.created_at for change in made}) == len(made), "one change per pool and tick"
        assert len({change.tenant for change in made}) == len(made), "and the next one only when the first is judged"
        for change in made:
            assert_bounds(site, change)


def assert_bounds(site: Site, change: Change) -> None:
    pool_gpus = sum(node.allocatable[res] for node in site.world.picture().nodes.values() for res in node.allocatable)
    assert 0 < change.amount <= max(8, pool_gpus // 4)
    assert 8 + site.world.levels()[change.destination] <= 48, "never above the burst"
    assert change.forecast.ready
    assert change.tenant not in {title.title.split("/")[0] for title in change.forecast.evicted}


def test_a_ledger_that_forgets_what_ended_long_ago_still_counts_what_budgets_count() -> None:
    site = Site(replace(ENFORCE, budgets=Budgets(200, 3, 200, 1e9)))
    site.happens(Happening("vision", "nlp", (4,), 8, False, 30.0))
    (made,) = site.steers.ledger.changes
    ended = [replace(made.ended(made.created_at), id=f"c{number:03}") for number in range(150)]
    old = [replace(one, id=f"old-{one.id}", created_at=one.created_at - 90000) for one in ended]
    snapshot, targets = site.steers.look()
    outcome = decide(snapshot, ENFORCE, Mode.ENFORCE, Ledger((*old, *ended, made)), targets)
    assert outcome.used.changes_today == 151
    assert sum(change.id.startswith("old-") for change in outcome.ledger.changes) == 60

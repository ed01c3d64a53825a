"""A picture run forward: when what waits would start, and who gives way."""

from __future__ import annotations

import pytest

from collector.assemble.capacity import SHARED_LEAF
from collector.model.reading import Known, Unknown
from collector.model.snapshot import PoolState, Snapshot, TenantPool, Work, WorkPhase
from collector.model.tenancy import Engine, Entitlement, Pool, Site, SizeClass
from controller.simulate.ahead import Ahead, future
from controller.simulate.chance import Chance
from controller.simulate.learned_runs import LearnedRuns

NOW = 1_000_000.0
POOL = Pool("h100", "nvidia.com/gpu", {}, Engine.KUEUE, flavor="h100")
LEARNED = LearnedRuns.of([(tenant, 8, 1000.0) for tenant in ("vision", "ads") for _ in range(6)])
LEVELS = {"trimtab-vision": 0, "trimtab-ads": 0, SHARED_LEAF: 8}


def work(tenant: str, name: str, ran: float | None = None, gpus: int = 8) -> Work:
    phase = WorkPhase.WAITING if ran is None else WorkPhase.RUNNING
    begun = None if ran is None else NOW - ran
    return Work(
        name, name, "Job", tenant, name, tenant, "", POOL.name, "queue", 0, 1, gpus, gpus, SizeClass.SINGLE_NODE,
        phase, NOW - 5000.0, 60.0, admitted_at=begun, ready_at=begun,
    )  # fmt: skip


def snapshot(*works: Work) -> Snapshot:
    states = tuple(TenantPool(name, "", POOL.name, Entitlement(POOL.name, 8), Known(0)) for name in ("vision", "ads"))
    return Snapshot(NOW, Site("here", (POOL,), (), ()), {POOL.name: PoolState(POOL, ())}, states, works)


RUNS = (work("vision", "own", 400.0), work("ads", "own-ads", 150.0), work("ads", "lent", 100.0))
FULL = snapshot(*RUNS, work("vision", "next"))


def test_what_waits_starts_when_something_ends() -> None:
    found = future(FULL, POOL.name, (LEVELS, LEVELS), LEARNED)
    assert found.starts["next"] == Known(Ahead(600.0, 600.0, 600.0))
    assert found.evicted == {}


def test_quota_that_moves_lets_it_reclaim_at_once_and_names_who_gives_way() -> None:
    moved = {**LEVELS, "trimtab-vision": 8, SHARED_LEAF: 0}
    found = future(FULL, POOL.name, (LEVELS, moved), LEARNED)
    assert found.starts["next"] == Known(Ahead(0.0, 0.0, 0.0))
    assert found.evicted == {"lent": 1.0}


def test_nothing_is_said_of_tenants_without_a_history() -> None:
    own = LearnedRuns.of([("ads", 8, 1000.0)] * 6)
    found = future(FULL, POOL.name, (LEVELS, LEVELS), own).starts["next"]
    assert found == Unknown("too few jobs of vision have ended in the history")
    found = future(FULL, POOL.name, (LEVELS, LEVELS), LearnedRuns.of([])).starts["next"]
    assert found == Unknown("too few jobs have ended in the history")


def test_what_never_fits_and_what_contradicts_the_quotas_is_not_known() -> None:
    large = snapshot(work("vision", "huge", gpus=64))
    assert future(large, POOL.name, (LEVELS, LEVELS), LEARNED).starts["huge"] == Unknown(
        "it never starts with these quotas"
    )
    nothing = dict.fromkeys(LEVELS, 0)
    found = future(FULL, POOL.name, (nothing, nothing), LEARNED).starts["next"]
    assert found == Unknown("what runs does not fit the quotas that were read")


def test_run_times_are_those_of_the_nearest_kind_that_ran_longer() -> None:
    runs = [("a", 8, float(seconds)) for seconds in (10, 20, 30, 40, 50)] + [("a", 1, 5.0)] * 5 + [("b", 1, 99.0)] * 5
    learned, chance = LearnedRuns.of(runs), Chance(0)
    assert all(learned.draw("a", 8, chance, 35.0) in (5.0, 15.0) for _ in range(20))
    assert all(learned.draw("a", 16, chance) in (5.0, 10.0, 20.0, 30.0, 40.0, 50.0) for _ in range(20))
    assert learned.draw("a", 8, chance, 60.0) == 39.0  # none of its own ran so long
    assert learned.draw("a", 8, chance, 200.0) == 200.0  # nobody's
    assert (learned.knows("a"), learned.knows("c")) == (True, False)
    with pytest.raises(ValueError, match="no job ever ended"):
        LearnedRuns.of([]).draw("a", 8, chance)

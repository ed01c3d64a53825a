"""Findings: what is wrong, with its cause and its evidence, worst first."""

from __future__ import annotations

from dataclasses import replace

from collector.model.gangs import Scheduler
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Evidence, OtherCause, OtherKind, WaitingName
from collector.model.tenancy import Objective, ObjectiveKind
from controller.api.policy import Mode, Policy
from controller.policy.engine import decide
from controller.policy.finding import Cause, Confidence, Finding, Trouble
from controller.policy.findings import find, queue_order
from controller.policy.forecast import Victims
from controller.policy.guards import Circumstances, first_refusal
from controller.policy.ledger import BudgetUse, Ledger
from tests.builders import HOUR, MINUTE, agreed, work_of
from tests.world import Steering, World, starving_world


def found(world: World) -> tuple[Finding, ...]:
    return find(Steering(world).look()[0])


def test_a_finding_tells_who_lacks_how_much_since_when_and_who_holds_it() -> None:
    (finding,) = found(starving_world())
    assert (finding.tenant, finding.pool, finding.kind) == ("vision", "h100", WaitingName.STARVED)
    assert (finding.cause, finding.shortfall) == (Cause.SCHEDULING, 8)
    assert finding.key == ("vision", "h100", "starved")
    assert finding.sentence == (
        "vision lacks 8 GPUs of pool h100, starved; 1 overdue, the oldest for 1h. vision uses 16 of its 16 GPUs "
        "and asks for 8 more, while nlp borrows 16; 8 GPUs of float would start it."
    )


def test_work_within_its_limit_is_no_finding() -> None:
    world = starving_world()
    world.submits("vision", "late", ago=14 * MINUTE)
    assert found(world) == ()


def test_waits_beyond_the_burst_are_no_finding() -> None:
    world = starving_world()
    world.site = replace(world.site, tenants=(agreed("vision", 8, 8, burst=16), world.site.tenants[1]))
    assert found(world) == ()


SLOW_DISK = OtherCause(OtherKind.CEPH, "OSD 3 is slow")


def test_a_cause_that_no_quota_cures_is_the_cause_and_is_told() -> None:
    world = starving_world()
    world.evidence = Evidence(other_causes={"vision": (SLOW_DISK,), "ads": ()})
    (finding,) = found(world)
    assert (finding.kind, finding.cause) == (WaitingName.STARVED, Cause.CEPH)
    assert finding.sentence.endswith("But: OSD 3 is slow.")


def test_such_a_cause_is_found_also_where_nobody_lacks_gpus() -> None:
    world = starving_world()
    world.evidence = Evidence(other_causes={"nlp": (SLOW_DISK, OtherCause(OtherKind.RDMA, "a link flaps"))})
    starved, *troubles = found(world)
    assert (starved.tenant, starved.cause) == ("vision", Cause.SCHEDULING)
    assert [(trouble.tenant, trouble.kind, trouble.cause) for trouble in troubles] == [
        ("nlp", Trouble.NETWORK_SLOW, Cause.RDMA),
        ("nlp", Trouble.STORAGE_SLOW, Cause.CEPH),
    ]
    assert troubles[1].sentence == "nlp: storage is slow. OSD 3 is slow."


def test_a_straggler_is_told_and_holds_nothing_back() -> None:
    world = starving_world()
    slow = OtherCause(OtherKind.WORKLOAD, "1 gang waits for one rank")
    world.evidence = Evidence(slowed={"vision": (slow,)})
    findings = found(world)
    assert [(one.tenant, one.kind, one.cause) for one in findings] == [
        ("vision", WaitingName.STARVED, Cause.SCHEDULING),
        ("vision", Trouble.STRAGGLING, Cause.WORKLOAD),
    ]
    assert findings[1].sentence == "vision: single GPUs hold its work back. 1 gang waits for one rank."


def test_what_can_not_be_ruled_out_is_told_and_changes_no_cause() -> None:
    world = starving_world()
    world.evidence = Evidence(not_ruled_out={OtherKind.RDMA: "no probe answered"})
    (finding,) = found(world)
    assert finding.cause is Cause.SCHEDULING
    assert finding.sentence.endswith("rdma is not ruled out: no probe answered.")


def many() -> World:
    """Three starved tenants: ads is best served, maps lacks more than vision."""
    tiers = {"vision": "standard", "maps": "standard", "ads": "critical"}
    tenants = [agreed(name, 8, burst=48, tier=tier) for name, tier in tiers.items()]
    world = World(*tenants, agreed("nlp", 8), shared=24, nodes=8)
    for number, name in enumerate(tiers):
        world.runs(name, "old", f"n{number}", ago=2 * HOUR)
        world.submits(name, "late", ago=2 * HOUR)
    world.submits("maps", "later", ago=HOUR)
    for number in range(4):
        world.runs("nlp", f"job{number}", f"n{number + 3}", ago=HOUR)
    return world


def test_the_higher_tier_comes_first_and_then_the_larger_shortfall() -> None:
    assert [(finding.tenant, finding.shortfall) for finding in found(many())] == [
        ("ads", 8),
        ("maps", 16),
        ("vision", 8),
    ]


def test_one_tenant_may_have_findings_of_several_kinds() -> None:
    world = starving_world()
    world.starts("vision/late")
    world.submits("vision", "later", ago=HOUR)
    kinds = {finding.kind for finding in found(world)}
    assert kinds == {WaitingName.STARVED, WaitingName.BLOCKED}


def test_a_queue_is_served_by_priority_then_age_then_uid() -> None:
    world = starving_world()
    world.submits("vision", "urgent", priority=9, ago=MINUTE)
    world.submits("vision", "older", ago=2 * HOUR)
    snapshot = Steering(world).look()[0]
    works = [work_of(snapshot, f"vision/{name}") for name in ("late", "older", "urgent")]
    assert [work.name for work in queue_order(works)] == ["urgent", "older", "late"]
    twin = replace(works[0], uid="0")
    assert queue_order([works[0], twin]) == queue_order([twin, works[0]]) == (twin, works[0])


def test_a_move_that_could_free_too_few_is_not_feasible() -> None:
    steers = Steering(starving_world())
    snapshot, targets = steers.look()
    policy = replace(steers.policy, cadence=replace(steers.policy.cadence, confirm_ticks=1))
    outcome = decide(snapshot, policy, Mode.ENFORCE, Ledger(), targets)
    proposal = outcome.decisions[0].proposal
    assert proposal is not None
    used = BudgetUse(0, frozenset(), 0, 0.0)
    at = Circumstances(snapshot, Policy(mode=Mode.ENFORCE), Mode.ENFORCE, Ledger(), used, snapshot.taken_at)
    sure = replace(at, ledger=Ledger(confirmations={proposal.finding.key: 2}))
    assert first_refusal(proposal, sure) is None
    refusal = first_refusal(replace(proposal, victims=Victims(proposal.victims.works, 12)), sure)
    assert refusal is not None
    assert (refusal.code, refusal.sentence) == (
        "INFEASIBLE",
        "4 GPUs too few could be freed: relatives do not borrow so much.",
    )


def missing(attained: Reading[float], target: float = 0.99) -> World:
    """vision was promised that its work starts in time, and this is how much did."""
    world = starving_world()
    start = Objective("start", ObjectiveKind.QUEUE_WAIT, target, 28 * 24 * HOUR)
    vision = replace(world.site.tenants[0], objectives=(start,))
    world.site = replace(world.site, tenants=(vision, world.site.tenants[1]))
    world.evidence = Evidence(attainment={("vision", "h100"): attained})
    return world


def test_an_objective_that_is_missed_is_told_when_nothing_is_overdue_any_more() -> None:
    world = missing(Known(0.9712))
    assert [finding.kind for finding in found(world)] == [WaitingName.STARVED], "while it lasts, that is told"
    world.ends("vision/late")
    (finding,) = found(world)
    assert (finding.kind, finding.cause, finding.confidence) == (Trouble.BURNING, Cause.UNKNOWN, Confidence.UNSURE)
    assert finding.sentence == (
        "vision misses its objective start in pool h100: 97.12% of what it was entitled to was served in time within "
        "28d, 99.00% is promised. Nothing of it is overdue now."
    )


def test_an_objective_that_is_kept_or_can_not_be_judged_is_no_finding() -> None:
    for attained in (Known(0.99), Unknown("blind for more than a twentieth of its window")):
        world = missing(attained)
        world.ends("vision/late")
        assert found(world) == ()


def test_what_goes_on_comes_before_what_is_over() -> None:
    world = missing(Known(0.5))
    world.ends("vision/late")
    world.evidence = replace(world.evidence, other_causes={"nlp": (SLOW_DISK,)})
    assert [finding.tenant for finding in found(world)] == ["nlp", "vision"]


def test_no_quota_of_ours_moves_for_work_in_queues_of_another_scheduler() -> None:
    snapshot = Steering(starving_world()).look()[0]
    foreign = replace(snapshot, works=tuple(replace(work, scheduler=Scheduler.VOLCANO) for work in snapshot.works))
    assert [(finding.kind, finding.cause) for finding in find(snapshot)] == [(WaitingName.STARVED, Cause.SCHEDULING)]
    assert [(finding.kind, finding.cause) for finding in find(foreign)] == [
        (WaitingName.STARVED, Cause.OTHER_SCHEDULER)
    ]

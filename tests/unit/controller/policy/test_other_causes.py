"""Wrong causes: what is known not to be scheduling is named, and no quota is proposed for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.reading import Known
from collector.model.snapshot import Evidence, OtherCause, OtherKind, Snapshot
from collector.model.tenancy import Objective, ObjectiveKind
from controller.api.policy import Cadence, Mode, Policy
from controller.policy.engine import Outcome, decide
from controller.policy.finding import Cause, Confidence, Trouble
from controller.policy.findings import find
from controller.policy.ledger import Ledger
from controller.policy.targets import Target
from tests.builders import agreed, look, site_of
from tests.pictures import PictureMaker

POLICY = Policy(mode=Mode.ENFORCE, cadence=Cadence(confirm_ticks=1))
TARGETS = (
    Target("trimtab-shared", "h100", None, 16, Known(16)),
    Target("trimtab-vision", "h100", "vision", 0, Known(0)),
)
SITE = site_of(agreed("vision", 8, burst=24), agreed("nlp", 8))
SLOW = OtherCause(OtherKind.CEPH, "Ceph: osd.1 commits in 900 ms, others in 10 ms; volumes of vision wait 880 ms")


def starving() -> Snapshot:
    """Vision holds its guarantee and waits for 8 more GPUs, which nlp borrows."""
    maker = PictureMaker("h100")
    for number in range(4):
        maker.node(f"n{number}")
    maker.tenant("vision", floor=8)
    maker.tenant("nlp", floor=8)
    maker.cohort("trimtab-shared", "site", 16)
    maker.running("nlp", "pretrain-0", ("n0",))
    maker.running("nlp", "pretrain-1", ("n1",))
    maker.running("nlp", "pretrain-2", ("n2",))
    maker.running("vision", "segment", ("n3",))
    maker.work("vision", "train", age=9000.0)
    return look(maker, SITE)


def content() -> Snapshot:
    """Nobody waits."""
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.tenant("vision", floor=8)
    maker.tenant("nlp", floor=8)
    maker.running("vision", "segment", ("n0",))
    return look(maker, SITE)


def knowing(snapshot: Snapshot, *causes: OtherCause, tenant: str = "vision") -> Snapshot:
    return replace(snapshot, evidence=Evidence(other_causes={tenant: causes}))


def decided(snapshot: Snapshot) -> Outcome:
    return decide(snapshot, POLICY, Mode.ENFORCE, Ledger(), TARGETS)


def test_without_another_cause_the_same_demand_moves_quota() -> None:
    (change,) = decided(starving()).ledger.changes
    assert (change.source, change.destination) == ("trimtab-shared", "trimtab-vision")


def test_a_tenant_whose_storage_is_slow_gets_no_quota_and_is_told_why() -> None:
    outcome = decided(knowing(starving(), SLOW))
    assert outcome.ledger.changes == ()
    (finding,) = outcome.findings
    assert finding.cause is Cause.CEPH
    assert outcome.sentence.endswith(f"But: {SLOW.sentence}. No change: The cause is ceph: no quota would cure it.")


def test_the_slow_storage_of_one_tenant_is_no_reason_to_leave_another_waiting() -> None:
    assert len(decided(knowing(starving(), SLOW, tenant="nlp")).ledger.changes) == 1


def test_slow_storage_is_found_although_nothing_waits_and_no_knob_is_moved() -> None:
    outcome = decided(knowing(content(), SLOW))
    (finding,) = outcome.findings
    assert (finding.tenant, finding.pool, finding.kind, finding.shortfall) == ("vision", "", Trouble.STORAGE_SLOW, 0)
    assert outcome.ledger.changes == ()
    assert outcome.sentence == (
        f"vision: storage is slow. {SLOW.sentence}. No change: The cause is ceph: no quota would cure it."
    )


def test_what_is_told_beside_a_shortfall_is_not_told_again() -> None:
    assert [finding.tenant for finding in find(knowing(starving(), SLOW))] == ["vision"]


@pytest.mark.parametrize("kind", OtherKind)
def test_every_kind_of_other_cause_is_a_cause_and_a_trouble(kind: OtherKind) -> None:
    (finding,) = find(knowing(content(), OtherCause(kind, "It is so")))
    assert finding.cause.value == kind.value
    assert isinstance(finding.kind, Trouble)


UNSEEN = Evidence(not_ruled_out={OtherKind.CEPH: "it was last read 5m ago"})


def test_a_cause_that_can_not_be_judged_is_said_and_holds_up_nobody_who_has_no_objective_about_it() -> None:
    snapshot = replace(starving(), evidence=UNSEEN)
    (finding,) = find(snapshot)
    assert finding.cause is Cause.SCHEDULING
    assert finding.sentence.endswith("ceph is not ruled out: it was last read 5m ago.")
    assert len(decided(snapshot).ledger.changes) == 1


def test_a_tenant_with_an_objective_about_storage_is_held_while_storage_can_not_be_judged() -> None:
    data = Objective("data", ObjectiveKind.STORAGE_LATENCY, 0.99, 86400.0, quantile=0.99, within_seconds=0.05)
    vision = replace(agreed("vision", 8, burst=24), objectives=(data,))
    site = replace(SITE, tenants=(vision, agreed("nlp", 8)))
    outcome = decided(replace(starving(), site=site, evidence=UNSEEN))
    assert outcome.ledger.changes == ()
    assert [one.refusal.code for one in outcome.decisions if one.refusal] == ["CAUSE_UNKNOWN"]


MAYBE = OtherCause(OtherKind.WORKLOAD, "vision/train may hang")


def test_what_is_only_suspected_holds_and_is_told() -> None:
    outcome = decided(replace(starving(), evidence=Evidence(suspected={"vision": (MAYBE,)})))
    (finding,) = outcome.findings
    assert (finding.cause, finding.confidence) == (Cause.UNKNOWN, Confidence.UNSURE)
    assert outcome.ledger.changes == ()
    assert outcome.sentence.endswith(
        "Perhaps: vision/train may hang. No change: Held: nothing is moved while the cause is not known."
    )


def test_the_suspicion_about_one_tenant_holds_no_other() -> None:
    assert len(decided(replace(starving(), evidence=Evidence(suspected={"nlp": (MAYBE,)}))).ledger.changes) == 1


def test_a_known_cause_goes_before_a_suspected_one() -> None:
    evidence = Evidence(other_causes={"vision": (SLOW,)}, suspected={"vision": (MAYBE,)})
    (finding,) = find(replace(starving(), evidence=evidence))
    assert (finding.cause, finding.confidence) == (Cause.CEPH, Confidence.KNOWN)
    assert f"{SLOW.sentence}." in finding.evidence


def test_how_sure_a_cause_is_stands_beside_it() -> None:
    assert [one.confidence for one in find(starving())] == [Confidence.KNOWN]
    assert [one.confidence for one in find(replace(starving(), evidence=UNSEEN))] == [Confidence.LIKELY]


def test_late_work_of_which_nothing_tells_why_is_unexplained_and_held() -> None:
    snapshot = starving()
    unnamed = tuple(replace(work, waiting=None, why="Can not be named.") for work in snapshot.works)
    outcome = decided(replace(snapshot, works=unnamed))
    (finding,) = outcome.findings
    assert (finding.kind, finding.cause, finding.confidence) == (
        Trouble.UNEXPLAINED,
        Cause.UNKNOWN,
        Confidence.UNSURE,
    )
    assert outcome.ledger.changes == ()


@pytest.mark.parametrize("kind", [OtherKind.GPU_HEALTH, OtherKind.WORKLOAD])
def test_while_gpus_can_not_be_judged_who_holds_some_is_held(kind: OtherKind) -> None:
    unseen = Evidence(not_ruled_out={kind: "it was last read 5m ago"})
    outcome = decided(replace(starving(), evidence=unseen))
    assert [one.refusal.code for one in outcome.decisions if one.refusal] == ["CAUSE_UNKNOWN"]
    nothing_held = tuple(replace(one, reserved=0) for one in starving().tenants)
    (finding,) = find(replace(starving(), tenants=nothing_held, evidence=unseen))
    assert finding.cause is Cause.SCHEDULING

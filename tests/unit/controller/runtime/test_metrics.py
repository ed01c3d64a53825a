"""What the controller says of a tenant in its metrics: what was found, what came of it, which GPUs changes moved."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import CollectorRegistry

from controller.policy.change import Stage
from controller.runtime.doorbell import Doorbell
from controller.runtime.metrics import ControllerCollector
from controller.runtime.observe import Observation
from controller.runtime.status import StatusBoard
from controller.runtime.tick import TickReport
from tests.world import Steering, starving_world

CHANGE = "trimtab_tenant_change_gpus"
FINDING = "trimtab_tenant_finding"


def _registry(steering: Steering, *, seen: bool = True, **changed: object) -> CollectorRegistry:
    """The metrics after one more tick; `changed`: fields of its youngest change."""
    outcome, (snapshot, targets) = steering.tick(), steering.look()
    ledger = steering.ledger
    if changed:
        ledger = ledger.with_change(replace(steering.change, **changed))  # type: ignore[arg-type]  # fields of a test
    observation = Observation(snapshot, targets, (), steering.world.picture()) if seen else None
    board = StatusBoard("test")
    board.take(TickReport(snapshot.taken_at, steering.policy.mode, "", outcome, observation, ledger))
    registry = CollectorRegistry()
    registry.register(ControllerCollector(board, Doorbell("")))
    return registry


def _gpus(registry: CollectorRegistry, tenant: str, direction: str, stage: str) -> float | None:
    labels = {"cluster": "test", "tenant": tenant, "pool": "h100", "direction": direction, "stage": stage}
    return registry.get_sample_value(CHANGE, labels)


def _findings(registry: CollectorRegistry) -> list[dict[str, str]]:
    return [s.labels for family in registry.collect() if family.name == FINDING for s in family.samples]


def test_what_the_controller_says_of_itself_names_its_cluster_as_all_else_does() -> None:
    families = list(_registry(Steering(starving_world())).collect())
    assert {family.name for family in families if family.samples} >= {"trimtab_controller_blind", CHANGE, FINDING}
    assert {sample.labels["cluster"] for family in families for sample in family.samples} == {"test"}


def test_gpus_from_the_shared_part_are_given_and_taken_from_nobody() -> None:
    steering = Steering(starving_world())
    steering.ticks(3)
    registry = _registry(steering)
    assert _gpus(registry, "vision", "given", "on-trial") == 8
    assert _gpus(registry, "nlp", "taken", "on-trial") == 0


def test_gpus_of_another_tenant_are_shown_as_taken_from_it() -> None:
    steering = Steering(starving_world())
    steering.ticks(3)
    registry = _registry(steering, source="trimtab-nlp", stage=Stage.RETURNING)
    assert _gpus(registry, "vision", "given", "returning") == 8
    assert _gpus(registry, "nlp", "taken", "returning") == 8
    assert _gpus(registry, "vision", "given", "on-trial") == 0


def test_without_a_change_there_are_zeros_and_without_a_picture_there_is_nothing() -> None:
    assert _gpus(_registry(Steering(starving_world())), "vision", "given", "kept") == 0
    unseen = _registry(Steering(starving_world()), seen=False)
    assert _gpus(unseen, "vision", "given", "kept") is None
    assert _findings(unseen) == []


def test_a_finding_names_its_cause_and_why_nothing_came_of_it_yet() -> None:
    steering = Steering(starving_world())
    (found,) = _findings(_registry(steering))
    assert (found["tenant"], found["finding"], found["cause"]) == ("vision", "starved", "scheduling")
    assert (found["outcome"], found["refusal"] != "") == ("refused", True)


def test_a_finding_that_led_to_a_change_says_so() -> None:
    steering = Steering(starving_world())
    steering.tick()
    steering.world.passes(30)
    (found,) = _findings(_registry(steering))
    assert (found["outcome"], found["refusal"]) == ("changed", "")

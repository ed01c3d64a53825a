"""What others write between our look and our write: theirs stays, and a mere change of status holds up nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from controller.knobs import own
from controller.knobs.marks import CHANGES_ANNOTATION
from controller.runtime.tick import Controller
from tests.unit.controller.runtime.stage import Stage

COHORTS = "/apis/kueue.x-k8s.io/v1beta2/cohorts"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def on_trial(stage: Stage) -> Controller:
    """A change is in force: eight lent GPUs went to vision. Somebody makes its object drift, so that it is due."""
    controller = stage.controller()
    for _ in range(2):
        controller.tick()
        stage.passes(30)
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (8, 16)
    resources = stage.api.objects[f"{COHORTS}/trimtab-vision"]["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    resources[0]["nominalQuota"] = "12"
    return controller


def before_our_write(stage: Stage, name: str, does: Callable[[], None], times: int = 1) -> None:
    """Somebody else does something each time that we are about to write that object, so many times."""
    left = [times]

    def crosses(method: str, path: str) -> None:
        if method == "PATCH" and path.endswith(name) and left[0]:
            left[0] -= 1
            does()

    stage.api.before = crosses


def writes_baseline(stage: Stage, name: str) -> None:
    """As `kubectl apply` of the baseline does, in our own name: no manager's field stands in the way."""
    leaf = next(leaf for leaf in stage.world.baseline.leaves if leaf.name == name)
    before, stage.api.before = stage.api.before, lambda method, path: None
    stage.api.request("PATCH", *own.baseline_manifest(leaf))
    stage.api.objects[f"{COHORTS}/{name}"]["metadata"].pop("annotations", None)
    stage.api.before = before


def has_new_status(stage: Stage, name: str) -> None:
    """The engine writes the object's status: another version of the same."""
    metadata = stage.api.objects[f"{COHORTS}/{name}"]["metadata"]
    metadata["resourceVersion"] += "1"


def test_the_baseline_that_a_person_writes_meanwhile_is_not_written_over(stage: Stage) -> None:
    controller = on_trial(stage)
    before_our_write(stage, "trimtab-vision", lambda: writes_baseline(stage, "trimtab-vision"))
    report = controller.tick()
    assert stage.leaf("trimtab-vision") == 8
    assert CHANGES_ANNOTATION not in stage.api.objects[f"{COHORTS}/trimtab-vision"]["metadata"].get("annotations", {})
    assert [problem.split(": ")[:2] for problem in report.problems] == [["trimtab-vision", "CROSSED"]]
    stage.passes(30)
    controller.tick()
    stage.passes(30)
    assert controller.tick().ledger.active == (), "the person has ended the change"
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)


def test_a_new_status_of_the_object_does_not_hold_up_the_write(stage: Stage) -> None:
    controller = on_trial(stage)
    before_our_write(stage, "trimtab-vision", lambda: has_new_status(stage, "trimtab-vision"), times=3)
    assert controller.tick().problems == ()
    assert stage.leaf("trimtab-vision") == 16


def test_an_object_that_never_holds_still_waits_for_the_next_tick(stage: Stage) -> None:
    controller = on_trial(stage)
    before_our_write(stage, "trimtab-vision", lambda: has_new_status(stage, "trimtab-vision"), times=1000)
    (problem,) = controller.tick().problems
    assert problem.startswith("trimtab-vision: OUTDATED: ")
    assert len([path for path in stage.api.writes if path.endswith("trimtab-vision")]) <= 3 + 5

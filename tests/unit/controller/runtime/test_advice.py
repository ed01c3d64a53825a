"""In mode Recommend the loop hands over each move; a person applies it, and it is judged and ended as any other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.actuators.server_side_apply import APPLY_CONTENT_TYPE
from controller.api.policy import Mode, Policy
from controller.knobs.own import read_baseline
from controller.policy.change import Stage as ChangeStage
from controller.policy.change import Verdict
from controller.policy.ledger import Ledger
from controller.runtime.advice import Advice, advice
from controller.runtime.status import status_document
from controller.runtime.tick import Controller
from tests.builders import HOUR, agreed
from tests.native_world import NativeWorld
from tests.unit.controller.runtime.stage import Stage
from tests.world import Steering

COHORTS = "/apis/kueue.x-k8s.io/v1beta2/cohorts"
APPLY = "kubectl apply --server-side --field-manager=trimtab -f -"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def advised(stage: Stage, mode: Mode) -> tuple[Controller, tuple[Advice, ...]]:
    """A controller after the two looks that confirm."""
    controller = stage.controller()
    controller.ceiling = mode
    controller.tick()
    stage.passes(30.0)
    return controller, controller.tick().advice


def manifests(command: str) -> list[dict[str, Any]]:
    """What a shell would hand to each kubectl, in order."""
    first, _, rest = command.partition("\n")
    assert first == f"{APPLY} <<'END1' && {APPLY} <<'END2'"
    return [yaml.safe_load(text) for text in re.split(r"^END\d\n", rest, flags=re.MULTILINE) if text]


def applied(stage: Stage, *wanted: dict[str, Any]) -> None:
    """As kubectl does it."""
    for manifest in wanted:
        path = f"{COHORTS}/{manifest['metadata']['name']}"
        stage.api.request("PATCH", path, manifest, content_type=APPLY_CONTENT_TYPE)


def test_each_field_is_told_with_the_command_that_takes_first(stage: Stage) -> None:
    _, (told,) = advised(stage, Mode.RECOMMEND)
    path = "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"
    assert [(one.kind, one.name, one.path, one.before, one.after) for one in told.fields] == [
        ("Cohort", "trimtab-shared", path, "16", "8"),
        ("Cohort", "trimtab-vision", path, "8", "16"),
    ]
    take, give = manifests(told.command)
    assert (take["metadata"]["name"], give["metadata"]["name"]) == ("trimtab-shared", "trimtab-vision")
    assert told.change.id in take["metadata"]["annotations"]["trimtab.io/changes"]
    assert len(read_baseline(yaml.safe_dump_all([take, give]), "advice").leaves) == 2
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8), "nothing was written"


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.ENFORCE])
def test_only_recommend_advises(stage: Stage, mode: Mode) -> None:
    _, told = advised(stage, mode)
    assert told == ()


def test_a_paused_controller_advises_nothing(stage: Stage) -> None:
    controller = stage.controller()
    controller.ceiling = Mode.RECOMMEND
    stage.documents.write_text(stage.documents.read_text().replace("mode: Enforce", "paused: true\n  mode: Enforce"))
    controller.tick()
    stage.passes(30.0)
    assert controller.tick().advice == ()


def test_what_a_person_applied_keeps_its_reason_is_judged_and_ends(stage: Stage) -> None:
    controller, (told,) = advised(stage, Mode.RECOMMEND)
    applied(stage, *manifests(told.command))
    stage.passes(30.0)
    report = controller.tick()
    (change,) = report.ledger.active
    assert (change.id, change.stage, change.reason) == (told.change.id, ChangeStage.ON_TRIAL, told.change.reason)
    assert (report.problems, report.advice) == ((), ())
    stage.passes(3 * 3600.0)
    controller.tick()
    stage.passes(3 * 3600.0)
    controller.tick()
    ended = controller.ledger.find(told.change.id)
    assert ended is not None
    assert ended.verdict in set(Verdict)
    assert not ended.active
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)


def test_a_look_between_a_person_s_take_and_give_disturbs_neither(stage: Stage) -> None:
    controller, (told,) = advised(stage, Mode.RECOMMEND)
    take, give = manifests(told.command)
    applied(stage, take)
    assert controller.tick().ledger.active == ()
    applied(stage, give)
    assert [change.stage for change in controller.tick().ledger.active] == [ChangeStage.ON_TRIAL]


def test_a_take_that_stays_alone_goes_back(stage: Stage) -> None:
    controller, (told,) = advised(stage, Mode.RECOMMEND)
    applied(stage, manifests(told.command)[0])
    for _ in range(3):
        controller.tick()
        stage.passes(30.0)
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)


def test_the_status_has_it_for_scripts(stage: Stage) -> None:
    controller, (told,) = advised(stage, Mode.RECOMMEND)
    (item,) = status_document(controller.tick())["advice"]
    assert {"change", "tenant", "pool", "reason", "fields", "command"} == item.keys()
    assert item["fields"][0]["name"] == told.fields[0].name


def test_a_cap_is_raised_with_one_command_that_names_its_namespace() -> None:
    world = NativeWorld(agreed("vision", 8, 0, burst=32), agreed("nlp", 16, 4, burst=32), nodes=5)
    world.runs("vision", "old", "n0", ago=2 * HOUR)
    world.is_refused("vision", "more", gpus=4, ago=HOUR)
    steers = Steering(world, Policy(mode=Mode.ENFORCE, strategies=("lend",)))
    _, targets = steers.look()
    decided = steers.ticks(2).ledger
    (told,) = advice(Ledger(), decided, world.baseline, world.site, targets)
    (one,) = told.fields
    assert (one.kind, one.namespace, one.name) == ("ResourceQuota", "vision", "trimtab-cap")
    assert (one.path, one.before, one.after) == ("spec.hard['requests.nvidia.com/gpu']", "0", "4")
    assert told.command.startswith(f"{APPLY} <<'END1'\napiVersion: v1\nkind: ResourceQuota\n")
    assert told.command.endswith("\nEND1\n")

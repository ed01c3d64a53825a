"""The command that mode Recommend hands over, in a real shell with the real kubectl against a real API server."""

from __future__ import annotations

import os
import subprocess

import pytest

from collector.model.objects import Picture
from collector.model.tenancy import Engine, Pool, Site
from collector.sources.kubernetes_api import KubernetesApi
from controller.knobs import own
from controller.knobs.own import Baseline
from controller.policy.ledger import Ledger
from controller.runtime.advice import Advice, advice
from controller.runtime.assembly import ListedOwnObjects
from tests.builders import a_change
from tests.integration.own_objects import KUEUE, nominal
from tests.testbed import Testbed
from tests.testbed.api import KubeApi
from tests.testbed.build import get
from tests.testbed.cluster import GPU
from tests.testbed.parts import GO_PARTS

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]

NOW = 1_750_000_000.0
SITE = Site("rt", (Pool("h100", GPU, {}, Engine.KUEUE, flavor="rt"),), (), ())
MOVE = a_change(
    id="20260101t000000z-rt-a-h100", tenant="rt-a", source="trimtab-rt-b", destination="trimtab-rt-a", amount=2
)


def told(api: KubernetesApi, baseline: Baseline) -> Advice:
    picture = Picture(NOW, cohorts={one.name: one for one in ListedOwnObjects(api).cohorts()})
    targets = own.targets(baseline, picture, SITE)
    (one,) = advice(Ledger(), Ledger((MOVE,)), baseline, SITE, targets)
    return one


def shell(control_plane: Testbed, command: str) -> subprocess.CompletedProcess[str]:
    """As a person pastes it."""
    program = get(GO_PARTS["kubernetes"]).binary("kubectl")
    environment = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "KUBECONFIG": str(control_plane.kubernetes.kubeconfig),
    }
    return subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_command_moves_the_gpus_and_leaves_the_mark_and_no_second_manager(
    control_plane: Testbed, api: KubernetesApi, admin: KubeApi, leaves: Baseline
) -> None:
    one = told(api, leaves)
    assert [(field.name, field.before, field.after) for field in one.fields] == [
        ("trimtab-rt-b", "8", "6"),
        ("trimtab-rt-a", "4", "6"),
    ]
    done = shell(control_plane, one.command)
    assert done.returncode == 0, done.stderr
    assert (nominal(admin, "trimtab-rt-b"), nominal(admin, "trimtab-rt-a")) == (6, 6)
    found = admin.get(KUEUE, "Cohort", "trimtab-rt-a")["metadata"]
    assert MOVE.id in found["annotations"]["trimtab.io/changes"]
    assert {item["manager"] for item in found["managedFields"] if "f:spec" in item["fieldsV1"]} == {"trimtab"}


def test_where_the_take_is_refused_nothing_is_given(
    control_plane: Testbed, api: KubernetesApi, admin: KubeApi, leaves: Baseline
) -> None:
    one = told(api, leaves)
    admin.apply(own.baseline_manifest(leaves.leaves[1])[1], "argocd", force=True)
    done = shell(control_plane, one.command)
    assert done.returncode != 0
    assert "argocd" in done.stderr
    assert (nominal(admin, "trimtab-rt-b"), nominal(admin, "trimtab-rt-a")) == (8, 4)

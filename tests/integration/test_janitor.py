"""`trimtab run janitor` on a real API server: it ends what has outlived its time, and tells when it can not."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from collector.sources.kubernetes_api import KubernetesApi
from controller.cli.main import run
from controller.cli.output import REFUSED
from controller.knobs.kueue import cohort_manifest
from controller.knobs.marks import annotations_for
from controller.knobs.own import Baseline
from controller.policy.change import Stage
from controller.policy.ledger import Ledger
from controller.runtime.assembly import Settings
from controller.runtime.ledger_store import LedgerStore
from tests.builders import a_change
from tests.integration.own_objects import KEY, nominal, with_gpus
from tests.testbed.api import KubeApi

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]


def in_force(api: KubernetesApi, admin: KubeApi, home: str, leaves: Baseline, **fields: Any) -> None:
    """Two GPUs moved from b to a, written and recorded as a controller leaves them behind."""
    kept: dict[str, Any] = {"taken": 2, "given": 2, "taken_written": 2, "given_written": 2, "stage": Stage.KEPT}
    kept |= {"created_at": 1.0, "expires_at": time.time() - 60.0}
    change = a_change(
        id="old", tenant="rt-a", source="trimtab-rt-b", destination="trimtab-rt-a", amount=2, **{**kept, **fields}
    )
    for leaf, gpus in zip(leaves.leaves, (4 + change.given, 8 - change.taken), strict=True):
        admin.apply(cohort_manifest(leaf, {KEY: gpus}, annotations_for(leaf.name, [change])), "trimtab")
    store = LedgerStore(api, home)
    store.load()
    store.save(Ledger((change,)))


def janitor(settings: Settings, kubeconfig: Path, *more: str) -> int:
    """One run; its exit code."""
    common = ["--kubeconfig", str(kubeconfig), "--namespace", settings.namespace]
    documents = ["--config", str(settings.config[0]), "--baseline", str(settings.baseline_file)]
    return run(["run", "janitor", *common, *documents, *more])


def test_what_has_outlived_its_time_goes_back(
    api: KubernetesApi, admin: KubeApi, kubeconfig: Path, settings: Settings, leaves: Baseline
) -> None:
    in_force(api, admin, settings.namespace, leaves)
    assert (nominal(admin, "trimtab-rt-a"), nominal(admin, "trimtab-rt-b")) == (6, 6)
    assert janitor(settings, kubeconfig) == 0
    assert (nominal(admin, "trimtab-rt-a"), nominal(admin, "trimtab-rt-b")) == (4, 8)
    (change,) = LedgerStore(api, settings.namespace).load().changes
    assert change.stage is Stage.ENDED
    assert janitor(settings, kubeconfig) == 0


def test_what_has_time_left_stays(
    api: KubernetesApi, admin: KubeApi, kubeconfig: Path, settings: Settings, leaves: Baseline
) -> None:
    in_force(api, admin, settings.namespace, leaves, expires_at=time.time() + 3600.0)
    assert janitor(settings, kubeconfig) == 0
    assert (nominal(admin, "trimtab-rt-a"), nominal(admin, "trimtab-rt-b")) == (6, 6)


def test_a_change_that_is_being_written_right_now_is_left_to_its_controller(
    api: KubernetesApi,
    admin: KubeApi,
    kubeconfig: Path,
    settings: Settings,
    leaves: Baseline,
    capsys: pytest.CaptureFixture[str],
) -> None:
    young = {"stage": Stage.INTENDED, "created_at": time.time(), "given": 0, "given_written": 0}
    in_force(api, admin, settings.namespace, leaves, **young)
    assert janitor(settings, kubeconfig) == 0
    assert "being written right now" in capsys.readouterr().out
    assert (nominal(admin, "trimtab-rt-a"), nominal(admin, "trimtab-rt-b")) == (4, 6)


def test_a_move_that_a_crash_left_half_done_is_undone(
    api: KubernetesApi, admin: KubeApi, kubeconfig: Path, settings: Settings, leaves: Baseline
) -> None:
    half = {"stage": Stage.INTENDED, "given": 0, "given_written": 0, "expires_at": time.time() + 3600.0}
    in_force(api, admin, settings.namespace, leaves, **half)
    assert janitor(settings, kubeconfig) == 0
    assert (nominal(admin, "trimtab-rt-a"), nominal(admin, "trimtab-rt-b")) == (4, 8)


def test_what_can_not_go_back_ends_it_with_refused_and_the_reason(
    api: KubernetesApi,
    admin: KubeApi,
    kubeconfig: Path,
    settings: Settings,
    leaves: Baseline,
    capsys: pytest.CaptureFixture[str],
) -> None:
    in_force(api, admin, settings.namespace, leaves)
    admin.apply(with_gpus(leaves.leaves[1], 6), "argocd", force=True)
    assert janitor(settings, kubeconfig, "-o", "json") == REFUSED
    told = json.loads(capsys.readouterr().out)
    assert "argocd" in told["problems"][0]
    assert nominal(admin, "trimtab-rt-b") == 6

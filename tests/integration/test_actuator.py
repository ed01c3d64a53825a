"""Server-side apply against a real API server with Kueue's webhooks, and what is asked for again and what not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from collector.sources.kubernetes_api import KubernetesApi, connect
from controller.actuators.server_side_apply import ServerSideApply
from controller.api.errors import ApplyError
from controller.knobs.kueue import Leaf
from controller.knobs.own import Baseline
from tests.integration.fake_api_server import Answer, document, fake_api_server, status
from tests.integration.own_objects import COHORTS, KEY, nominal, with_gpus
from tests.testbed.api import KubeApi

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]


def refusal(actuator: ServerSideApply, manifest: Mapping[str, Any], *, trial: bool = False) -> ApplyError:
    path = f"{COHORTS}/{manifest['metadata']['name']}"
    with pytest.raises(ApplyError) as refused:
        (actuator.preview if trial else actuator.apply)(path, manifest)
    return refused.value


def test_an_apply_moves_an_own_object_and_a_preview_does_not(
    api: KubernetesApi, admin: KubeApi, leaves: Baseline
) -> None:
    actuator, leaf = ServerSideApply(api), leaves.leaves[0]
    actuator.preview(f"{COHORTS}/{leaf.name}", with_gpus(leaf, 6))
    assert nominal(admin, leaf.name) == 4
    answer = actuator.apply(f"{COHORTS}/{leaf.name}", with_gpus(leaf, 6))
    assert nominal(admin, leaf.name) == 6
    assert answer["metadata"]["managedFields"][0]["manager"] == "trimtab"


def test_a_field_of_somebody_else_is_left_to_him_and_he_is_named(
    api: KubernetesApi, admin: KubeApi, leaves: Baseline
) -> None:
    leaf = leaves.leaves[0]
    admin.apply(with_gpus(leaf, 5), "argocd", force=True)
    refused = refusal(ServerSideApply(api), with_gpus(leaf, 6))
    assert (refused.code, "argocd" in refused.message) == ("CONFLICT", True)
    assert nominal(admin, leaf.name) == 5


def test_a_version_that_has_passed_is_told_apart_from_a_field_of_somebody_else(
    api: KubernetesApi, admin: KubeApi, leaves: Baseline
) -> None:
    actuator, leaf = ServerSideApply(api), leaves.leaves[0]
    path = f"{COHORTS}/{leaf.name}"
    seen = actuator.shown(path)["metadata"]["resourceVersion"]
    actuator.apply(path, with_gpus(leaf, 5))
    late = with_gpus(leaf, 6)
    late["metadata"]["resourceVersion"] = seen
    assert refusal(actuator, late).code == "OUTDATED"
    assert nominal(admin, leaf.name) == 5


def test_an_object_that_is_not_ours_is_forbidden(api: KubernetesApi) -> None:
    refused = refusal(ServerSideApply(api), with_gpus(Leaf("trimtab-rt-other", "rt-team-a", {KEY: 4}), 4))
    assert refused.code == "FORBIDDEN"
    assert "trimtab-rt-other" in refused.message


@pytest.mark.parametrize("trial", [True, False])
def test_what_kueue_or_the_schema_refuses_is_rejected_with_its_words(
    api: KubernetesApi, admin: KubeApi, leaves: Baseline, trial: bool
) -> None:
    leaf = leaves.leaves[0]
    by_webhook = with_gpus(leaf, 4)
    by_webhook["spec"]["resourceGroups"] = by_webhook["spec"]["resourceGroups"] * 2
    by_schema = with_gpus(leaf, 4)
    by_schema["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = "many"
    for manifest in (by_webhook, by_schema):
        refused = refusal(ServerSideApply(api), manifest, trial=trial)
        assert refused.code == "REJECTED", refused
        assert "resourceGroups" in refused.message
    assert nominal(admin, leaf.name) == 4


def test_a_kind_that_is_not_served_is_told(api: KubernetesApi) -> None:
    with pytest.raises(ApplyError) as refused:
        ServerSideApply(api).apply("/apis/kueue.x-k8s.io/v1/nothings/trimtab-rt-a", {"kind": "Nothing"})
    assert refused.value.code in ("NOT_SERVED", "FORBIDDEN")


@pytest.mark.parametrize(
    ("script", "code", "pauses"),
    [
        ([status(429, Retry_After="3"), document({"kind": "Cohort"})], None, [3.0]),
        ([status(429, Retry_After="3600"), document({"kind": "Cohort"})], None, [5.0]),
        ([status(429, Retry_After="-1"), document({"kind": "Cohort"})], None, None),
        ([status(429, Retry_After="nan"), status(429), document({"kind": "Cohort"})], None, None),
        ([Answer(cut_off=True, body=(b'{"kind"',)), document({"kind": "Cohort"})], None, None),
        ([status(503), status(500), document({"kind": "Cohort"})], None, None),
        ([status(429)], "THROTTLED", None),
        ([status(503)], "UNREACHABLE", None),
        ([status(504)], "TIMED_OUT", []),
        ([Answer(body=(b"<html>",))], "FAILED", []),
    ],
)
def test_busy_and_lost_answers_are_asked_for_again_within_a_budget(
    tmp_path: Path, script: list[Answer], code: str | None, pauses: list[float] | None
) -> None:
    waited: list[float] = []
    with fake_api_server() as fake:
        fake.scripts["/cohorts/trimtab-a"] = script
        actuator = ServerSideApply(connect(fake.kubeconfig(tmp_path)), waited.append)
        if code is None:
            assert actuator.apply("/cohorts/trimtab-a", {})["kind"] == "Cohort"
        else:
            with pytest.raises(ApplyError, match=f"trimtab-a: {code}: "):
                actuator.apply("/cohorts/trimtab-a", {})
        assert len(waited) == len(fake.asked) - 1 <= 2
        assert all(0 <= pause <= 5 for pause in waited)
        assert pauses is None or waited == pauses
        assert all(one.query["force"] == "false" and one.query["fieldManager"] == "trimtab" for one in fake.asked)

"""The native knob: caps read with the place of each mistake, written whole, seen as they stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from collector.model.objects import Picture, ResourceQuota
from collector.model.reading import Known, Unknown
from collector.model.tenancy import Entitlement, Members, Tenant
from collector.parse.kubernetes import resource_quota
from controller.api.errors import InputError, InvariantError
from controller.knobs import own
from controller.knobs.kueue import Leaf
from controller.knobs.marks import annotations_for, marks_of
from controller.knobs.native import Cap, cap_manifest, caps_for, manifest, manifest_path, read_cap, targets
from controller.knobs.own import Baseline, baseline_for, baseline_text, read_baseline
from controller.policy.change import IDLE, Stage
from controller.policy.targets import Target
from tests.builders import H100, a_change, agreed, site_of
from tests.native_world import NATIVE
from tests.pictures import GPU, NOW, PictureMaker

CAP = Cap("vision", GPU, 4, ("borrow",))
SITE = site_of(agreed("vision", 8, 4), agreed("nlp", 8), pools=(NATIVE,))
RISE = a_change(source=IDLE, destination="vision/trimtab-cap", stage=Stage.ON_TRIAL, taken=8, given=8)


def shown(hard: int, **more: Any) -> Picture:
    """A cluster of 16 GPUs with the cap as it stands."""
    maker = PictureMaker()
    maker.node("n0")
    maker.node("n1")
    maker.namespace("vision")
    maker.resource_quota("vision", 8, name="guarantee")
    maker.resource_quota("vision", hard, name="trimtab-cap", **more)
    return maker.picture(age_seconds=3.0)


def test_a_cap_is_read_back_from_its_own_manifest() -> None:
    assert read_cap(cap_manifest(CAP, 4, {}), "baseline.yaml: document 1") == CAP


def test_a_manifest_is_whole_and_is_read_back_by_the_parser_as_it_was_meant() -> None:
    (target,) = targets([CAP], shown(12), SITE)
    written = manifest(CAP, [target], [RISE])
    assert written["spec"] == {
        "hard": {f"requests.{GPU}": "12"},
        "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["borrow"]}]},
    }
    served = yaml.safe_load(yaml.safe_dump(written))
    served["metadata"]["resourceVersion"] = "7"
    read = resource_quota(served)
    assert (read.namespace, read.name, read.hard) == ("vision", "trimtab-cap", {GPU: 12})
    assert [mark.id for mark in marks_of(CAP.name, read.annotations)] == ["c1"]
    assert manifest_path(CAP) == "/api/v1/namespaces/vision/resourcequotas/trimtab-cap"


def test_without_a_change_a_manifest_is_the_baseline_without_marks() -> None:
    (target,) = targets([CAP], shown(12), SITE)
    assert manifest(CAP, [target], [RISE.ended(NOW)]) == cap_manifest(CAP, 4, {})
    assert manifest(CAP, [], []) == cap_manifest(CAP, 4, {}), "also of a namespace that is no tenant's"


WRONG: list[tuple[str, Any, str, str]] = [
    ("metadata", None, "metadata.name", "nothing, expected trimtab-cap"),
    ("metadata", ["trimtab-cap"], "metadata.name", "expected trimtab-cap"),
    ("metadata", {"name": "quota", "namespace": "vision"}, "metadata.name", "quota, expected trimtab-cap"),
    ("metadata", {"name": "trimtab-cap"}, "metadata.namespace", "the tenant's namespace"),
    ("metadata", {"name": "trimtab-cap", "namespace": "../../x"}, "metadata.namespace", "the tenant's namespace"),
    ("spec", None, "spec.hard", "nothing, expected one resource"),
    ("spec", "text", "spec.hard", "expected one resource"),
    ("hard", {}, "spec.hard", "expected one resource"),
    ("hard", {"pods": "4"}, "spec.hard", "expected one resource"),
    ("hard", {f"requests.{GPU}": "4", "pods": "4"}, "spec.hard", "expected one resource"),
    ("hard", {f"requests.{GPU}": "half"}, f"spec.hard[requests.{GPU}]", "half, expected a whole number of GPUs"),
    ("hard", {f"requests.{GPU}": "1e99999999"}, f"spec.hard[requests.{GPU}]", "a whole number of GPUs"),
    ("hard", {f"requests.{GPU}": "500m"}, f"spec.hard[requests.{GPU}]", "500m, expected a whole number of GPUs"),
    ("scopeSelector", None, "spec.scopeSelector", "PriorityClass In [the borrow class]"),
    ("scopeSelector", [], "spec.scopeSelector", "PriorityClass In [the borrow class]"),
    ("scopeSelector", {"matchExpressions": "all"}, "spec.scopeSelector", "PriorityClass In"),
    ("scopeSelector", {"matchExpressions": ["all"]}, "spec.scopeSelector", "PriorityClass In"),
]


@pytest.mark.parametrize(("field", "value", "place", "told"), WRONG)
def test_a_mistake_in_a_cap_names_its_place(field: str, value: object, place: str, told: str) -> None:
    document = cap_manifest(CAP, 4, {})
    (document["spec"] if field in ("hard", "scopeSelector") else document)[field] = value
    with pytest.raises(InputError) as caught:
        read_cap(document, "document 1")
    assert str(caught.value).startswith(f"document 1: {place}: got ")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["borrow"]},
        {"scopeName": "PriorityClass", "operator": "In", "values": []},
        {"scopeName": "PriorityClass", "operator": "In", "values": "borrow"},
        {"scopeName": "BestEffort", "operator": "In", "values": ["borrow"]},
        {"scopeName": "PriorityClass", "operator": "Exists"},
    ],
)
def test_a_cap_of_anything_but_classes_by_name_is_a_mistake(expression: dict[str, object]) -> None:
    document = cap_manifest(CAP, 4, {})
    document["spec"]["scopeSelector"]["matchExpressions"] = [expression]
    with pytest.raises(InputError, match=r"spec\.scopeSelector"):
        read_cap(document, "document 1")


def test_a_cap_is_the_target_of_its_namespaces_tenant_with_the_pool_as_its_limit() -> None:
    (target,) = targets([CAP], shown(12, annotations=annotations_for(CAP.name, [RISE])), SITE)
    assert target == Target("vision/trimtab-cap", "h100", "vision", 4, Known(12, 3.0), ("c1",), None, 16)


def test_another_manager_of_the_spec_is_named_but_not_the_one_that_counts_its_use() -> None:
    managers = frozenset({"trimtab", "kube-controller-manager", "helm"})
    (target,) = targets([CAP], shown(4, spec_managers=managers), SITE)
    assert target.foreign_manager == "helm"
    (target,) = targets([CAP], shown(4, spec_managers=managers - {"helm"}), SITE)
    assert target.foreign_manager is None


def test_a_cap_that_is_missing_limits_nothing_or_can_not_be_read_is_unknown() -> None:
    empty = shown(4)
    without = replace(empty, resource_quotas=empty.resource_quotas[:1])
    other = (ResourceQuota("vision", "trimtab-cap", {"amd.com/gpu": 4}, {}),)
    told = "ResourceQuota vision/trimtab-cap does not limit nvidia.com/gpu: apply the baseline"
    for picture in (without, replace(empty, resource_quotas=other)):
        assert [target.observed for target in targets([CAP], picture, SITE)] == [Unknown(told)]
    blind = replace(empty, unreadable={"resourcequotas": "forbidden"})
    assert [target.observed for target in targets([CAP], blind, SITE)] == [Unknown("forbidden")]


def test_a_cap_of_nobody_or_of_another_engine_is_no_target() -> None:
    assert targets([replace(CAP, namespace="lab")], shown(4), SITE) == ()
    assert targets([CAP], shown(4), replace(SITE, pools=(H100,))) == ()


def test_the_agreed_caps_stand_in_each_native_tenants_namespace() -> None:
    mixed = Tenant(
        "mixed",
        "standard",
        Members(frozenset({"b", "a"})),
        (Entitlement("h100", 8, 2), Entitlement("kueue", 8, 2)),
    )
    kueue = replace(H100, name="kueue")
    site = replace(SITE, tenants=(*SITE.tenants, mixed), pools=(NATIVE, kueue))
    assert [(cap.name, cap.gpus) for cap in caps_for(site)] == [
        ("a/trimtab-cap", 2),
        ("nlp/trimtab-cap", 0),
        ("vision/trimtab-cap", 4),
    ]


LEAF = Leaf("trimtab-vision", "tenant-vision", {("h100", GPU): 8})
BOTH = Baseline((LEAF,), (CAP, Cap("nlp", GPU, 0, ("borrow",))))


def test_a_baseline_of_both_engines_is_read_back_from_its_own_text() -> None:
    read = read_baseline(baseline_text(BOTH), "baseline.yaml")
    assert read == replace(BOTH, caps=tuple(reversed(BOTH.caps)))
    assert read.names == ("nlp/trimtab-cap", "trimtab-vision", "vision/trimtab-cap")
    assert read.find("vision/trimtab-cap") == CAP
    assert read.find("trimtab-nlp") is None


def test_a_cap_stands_once_in_a_baseline() -> None:
    twice = baseline_text(Baseline((), (CAP, CAP)))
    with pytest.raises(InputError, match="vision/trimtab-cap twice"):
        read_baseline(twice, "baseline.yaml")


def test_other_kinds_are_no_part_of_a_baseline() -> None:
    with pytest.raises(InputError, match=r"document 1: kind: got ConfigMap, expected Cohort or ResourceQuota"):
        read_baseline("kind: ConfigMap", "baseline.yaml")


def test_the_baseline_for_native_pools_needs_no_cohorts() -> None:
    assert baseline_for(SITE, Picture(NOW), {}) == Baseline((), caps_for(SITE))


def test_an_answer_takes_the_place_of_what_was_seen() -> None:
    answer = {**cap_manifest(CAP, 12, {}), "status": {}}
    answer["metadata"] = {**answer["metadata"], "resourceVersion": "8"}
    picture = own.with_answer(shown(4), answer)
    assert [target.observed for target in targets([CAP], picture, SITE)] == [Known(12, 3.0)]
    assert len(picture.resource_quotas) == 2


def test_an_answer_that_is_no_such_object_breaks_an_invariant() -> None:
    with pytest.raises(InvariantError, match="can not be read back"):
        own.with_answer(shown(4), {"kind": "ResourceQuota", "metadata": {}})
    with pytest.raises(InvariantError, match="no own object of the baseline"):
        own.manifest(BOTH, "trimtab-other", SITE, (), ())


def test_the_baseline_is_written_with_what_holds_too_much_first() -> None:
    maker = PictureMaker()
    maker.cohort("trimtab-vision", "tenant-vision", 0)
    maker.resource_quota("vision", 12, name="trimtab-cap")
    order = [item.name for item in own.lowered_first(BOTH, maker.picture())]
    assert order == ["vision/trimtab-cap", "nlp/trimtab-cap", "trimtab-vision"]

"""The Kueue knob: baselines read with the place of each mistake, own Cohorts written whole, levels as they stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from collector.model.objects import Cohort, FlavorQuota
from collector.model.reading import Known, Unknown
from collector.model.tenancy import Engine, Pool
from collector.parse.kueue import cohort as parse_cohort
from controller.api.errors import InputError
from controller.knobs.kueue import Leaf, cohort_manifest, manifest, manifest_path
from controller.knobs.marks import CHANGES_ANNOTATION, annotations_for
from controller.knobs.own import Baseline, baseline_for, baseline_text, read_baseline, targets
from controller.policy.change import Stage
from tests.builders import H100, a_change, agreed, site_of
from tests.pictures import GPU, NOW, PictureMaker

A100 = replace(H100, name="a100", flavor="a100")
VISION = Leaf("trimtab-vision", "tenant-vision", {("h100", GPU): 8, ("a100", GPU): 4})
SHARED = Leaf("trimtab-shared", "site", {("h100", GPU): 16})
BASELINE = Baseline((SHARED, VISION))
SITE = site_of(agreed("vision", 8, 8), agreed("nlp", 8), pools=(A100, H100))
MOVE = a_change(amount=4, stage=Stage.ON_TRIAL, taken=4, given=4)


def test_a_baseline_is_read_back_from_its_own_text() -> None:
    assert read_baseline(baseline_text(BASELINE), "baseline.yaml") == BASELINE


def test_a_baseline_says_whose_part_each_leaf_is() -> None:
    assert [(leaf.name, leaf.tenant) for leaf in BASELINE.leaves] == [
        ("trimtab-shared", None),
        ("trimtab-vision", "vision"),
    ]
    assert BASELINE.find("trimtab-vision") == VISION
    assert BASELINE.find("trimtab-nlp") is None


@pytest.mark.parametrize("text", ["", "---\n", "---\n---\n# nothing\n"])
def test_an_empty_baseline_means_no_kueue_knob(text: str) -> None:
    assert read_baseline(text, "baseline.yaml") == Baseline()


def test_quantities_may_be_written_in_any_form_and_are_read_as_one() -> None:
    text = baseline_text(BASELINE).replace("nominalQuota: '16'", "nominalQuota: 16000m")
    assert read_baseline(text, "baseline.yaml") == BASELINE


LEAF = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata:
  name: trimtab-vision
spec:
  parentName: tenant-vision
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 8}
"""


@pytest.mark.parametrize(
    ("old", "new", "place", "told"),
    [
        ("kind: Cohort", "kind: Queue", "document 1: kind", "Queue, expected Cohort"),
        ("name: trimtab-vision", "name: tenant-vision", "document 1: metadata.name", "begins with trimtab-"),
        ("  name: trimtab-vision", "- trimtab-vision", "document 1: metadata.name", "begins with trimtab-"),
        ("  name: trimtab-vision", "", "document 1: metadata.name", "nothing, expected the name"),
        (
            "  parentName: tenant-vision\n",
            "",
            "document 1: spec.parentName",
            "nothing, expected the name of the Cohort",
        ),
        (
            "parentName: tenant-vision",
            "parentName: 7",
            "document 1: spec.parentName",
            "7, expected the name of the Cohort",
        ),
        ("nominalQuota: 8", "nominalQuota: 1500m", "document 1: spec.resourceGroups", "'1500m' is not a whole"),
        ("nominalQuota: 8", "nominalQuota: -1", "document 1: spec.resourceGroups", "-1 is not a whole"),
        ("nominalQuota: 8", "nominalQuota: many", "document 1: spec.resourceGroups", "'many' is not a Kubernetes"),
        ("nominalQuota: 8", "nominalQuota: 1e99999999", "document 1: spec.resourceGroups", "is not a Kubernetes"),
        ("nominalQuota: 8", "nominalQuota: '1e300000'", "document 1: spec.resourceGroups", "is not a Kubernetes"),
        ("trimtab-vision", "trimtab-../../secrets/x", "document 1: metadata.name", "the name of an object"),
        ("tenant-vision", "../x", "document 1: spec.parentName", "the name of the Cohort"),
        ("nominalQuota: 8", "quota: 8", "document 1: spec.resourceGroups", "quota of nvidia.com/gpu of flavor h100"),
        ("Quota: 8", "Quota: 8, lendingLimit: 4", "document 1: spec.resourceGroups", "lendingLimit of nvidia.com/gpu"),
        ("- name: h100", "- title: h100", "document 1: spec.resourceGroups", "no name"),
        ("flavors:", "flavours:", "document 1: spec.resourceGroups", "no flavors"),
        ("resourceGroups:", "groups:", "document 1: spec.resourceGroups", "nothing, expected flavors"),
        ("- {name: nvidia.com/gpu, nominalQuota: 8}", "- gpu", "document 1: spec.resourceGroups", "expected flavors"),
    ],
)
def test_a_mistake_in_a_baseline_names_its_place(old: str, new: str, place: str, told: str) -> None:
    assert LEAF.count(old) == 1
    with pytest.raises(InputError) as caught:
        read_baseline(LEAF.replace(old, new), "baseline.yaml")
    assert str(caught.value).startswith(f"baseline.yaml: {place}: got ")
    assert told in str(caught.value)


@pytest.mark.parametrize("spec", ["spec: []", "spec: text", "spec:"])
def test_a_baseline_of_other_shapes_is_a_mistake_not_a_crash(spec: str) -> None:
    head = LEAF.split("spec:")[0]
    with pytest.raises(InputError, match=r"spec\.parentName"):
        read_baseline(head + spec, "baseline.yaml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "YAML documents"),
        ("- 7", "Cohort"),
        ("text", "Cohort"),
        ("kind: 2026-13-45", "Cohort"),
        ("[" * 2000, "YAML documents"),
        ("kind: Cohort\nkind: Cohort", "each key once"),
    ],
)
def test_text_that_is_no_manifest_is_a_mistake(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_baseline(text, "baseline.yaml")


def test_a_leaf_stands_once_in_a_baseline_and_a_flavor_once_in_a_leaf() -> None:
    with pytest.raises(InputError, match="trimtab-vision twice"):
        read_baseline(f"{LEAF}---\n{LEAF}", "baseline.yaml")
    line = "      - {name: nvidia.com/gpu, nominalQuota: 8}\n"
    with pytest.raises(InputError, match="of flavor h100 stands there twice"):
        read_baseline(LEAF + line, "baseline.yaml")


def test_the_second_document_is_named_as_the_second() -> None:
    with pytest.raises(InputError, match=r"baseline\.yaml: document 2: kind"):
        read_baseline(f"{LEAF}---\nkind: Other\n", "baseline.yaml")


def test_a_manifest_is_whole_canonical_and_marked() -> None:
    written = manifest(VISION, SITE, targets(BASELINE, picture().picture(), SITE), [MOVE])
    assert written["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    assert written["metadata"]["annotations"] == annotations_for("trimtab-vision", [MOVE])
    assert written["spec"] == {
        "parentName": "tenant-vision",
        "resourceGroups": [
            {
                "coveredResources": [GPU],
                "flavors": [
                    {"name": "a100", "resources": [{"name": GPU, "nominalQuota": "4"}]},
                    {"name": "h100", "resources": [{"name": GPU, "nominalQuota": "12"}]},
                ],
            }
        ],
    }


def test_without_a_change_a_manifest_is_the_baseline_without_marks() -> None:
    written = manifest(VISION, SITE, targets(BASELINE, picture().picture(), SITE), [MOVE.ended(NOW)])
    assert written == cohort_manifest(VISION, VISION.amounts, {})
    assert CHANGES_ANNOTATION not in str(written)


def test_what_no_pool_of_the_policy_names_is_written_as_the_baseline_has_it() -> None:
    leaf = replace(VISION, amounts={**VISION.amounts, ("h100", "rdma/hca"): 2, ("a100", "rdma/hca"): 1})
    baseline = Baseline((SHARED, leaf))
    written = manifest(leaf, SITE, targets(baseline, picture().picture(), SITE), [MOVE])
    (group,) = written["spec"]["resourceGroups"]
    assert group["coveredResources"] == [GPU, "rdma/hca"]
    assert [[entry["nominalQuota"] for entry in flavor["resources"]] for flavor in group["flavors"]] == [
        ["4", "1"],
        ["12", "2"],
    ]


def test_flavors_with_other_resources_stand_in_a_group_of_their_own() -> None:
    written = cohort_manifest(
        Leaf("trimtab-x", "p", {("h100", GPU): 1, ("910b", "huawei.com/npu"): 2}),
        {
            ("h100", GPU): 1,
            ("910b", "huawei.com/npu"): 2,
        },
        {},
    )
    covered = [group["coveredResources"] for group in written["spec"]["resourceGroups"]]
    assert covered == [["huawei.com/npu"], [GPU]]


def test_a_manifest_is_read_back_by_the_parser_as_it_was_meant() -> None:
    served = cohort_manifest(VISION, VISION.amounts, {})
    served["metadata"]["resourceVersion"] = "7"
    read = parse_cohort(yaml.safe_load(yaml.safe_dump(served)))
    assert {key: quota.nominal for key, quota in read.quotas.items()} == VISION.amounts
    assert (read.name, read.parent) == ("trimtab-vision", "tenant-vision")
    assert manifest_path(read.name) == "/apis/kueue.x-k8s.io/v1beta2/cohorts/trimtab-vision"


def picture(vision: int = 12, managers: frozenset[str] = frozenset({"trimtab"})) -> PictureMaker:
    """Own Cohorts as a cluster shows them."""
    maker = PictureMaker()
    marks = annotations_for("trimtab-vision", [MOVE])
    quotas = {("h100", GPU): FlavorQuota(vision), ("a100", GPU): FlavorQuota(4)}
    maker.put(
        "cohorts",
        "trimtab-vision",
        Cohort("trimtab-vision", "tenant-vision", quotas, annotations=marks, spec_managers=managers),
    )
    maker.put("cohorts", "trimtab-shared", Cohort("trimtab-shared", "site", {("h100", GPU): FlavorQuota(12)}))
    return maker


def test_each_pool_of_each_leaf_is_a_target_with_its_baseline_and_level() -> None:
    found = targets(BASELINE, picture().picture(age_seconds=3.0), SITE)
    assert [(target.name, target.pool, target.baseline, target.observed) for target in found] == [
        ("trimtab-shared", "h100", 16, Known(12, 3.0)),
        ("trimtab-vision", "a100", 4, Known(4, 3.0)),
        ("trimtab-vision", "h100", 8, Known(12, 3.0)),
    ]
    assert [(target.tenant, target.change_ids) for target in found] == [
        (None, ()),
        ("vision", ("c1",)),
        ("vision", ("c1",)),
    ]


def test_a_leaf_that_is_missing_or_lacks_the_flavor_is_unknown_not_empty() -> None:
    maker = picture()
    maker.put("cohorts", "trimtab-vision", Cohort("trimtab-vision", "tenant-vision", {("h100", GPU): FlavorQuota(8)}))
    cohorts = {name: one for name, one in maker.picture().cohorts.items() if name != "trimtab-shared"}
    shared, a100, h100 = targets(BASELINE, replace(maker.picture(), cohorts=cohorts), SITE)
    for target, flavor in ((shared, "h100"), (a100, "a100")):
        told = f"Cohort {target.name} does not hold nvidia.com/gpu of flavor {flavor}: apply the baseline"
        assert target.observed == Unknown(told)
    assert h100.observed == Known(8)


def test_cohorts_that_can_not_be_read_are_unknown_even_where_they_were_read_before() -> None:
    found = targets(BASELINE, picture().picture(unreadable={"cohorts": "forbidden"}), SITE)
    assert {target.observed for target in found} == {Unknown("forbidden")}


@pytest.mark.parametrize(
    ("managers", "foreign"),
    [
        ({"trimtab"}, None),
        ({"trimtab", "kueue", "kueue-admission"}, None),
        ({"trimtab", "kubectl-edit", "argocd"}, "argocd"),
        (set(), None),
    ],
)
def test_another_manager_of_the_spec_is_named(managers: set[str], foreign: str | None) -> None:
    found = targets(BASELINE, picture(managers=frozenset(managers)).picture(), SITE)
    assert {target.foreign_manager for target in found if target.name == "trimtab-vision"} == {foreign}


def test_pools_of_another_engine_have_no_kueue_target() -> None:
    native = Pool("h100", GPU, H100.node_selector, Engine.NATIVE)
    assert targets(BASELINE, picture().picture(), site_of(agreed("vision", 8), pools=(native,))) == ()


def cluster() -> PictureMaker:
    maker = PictureMaker()
    maker.tenant("vision", 8)
    maker.tenant("nlp", 8)
    return maker


def test_the_baseline_that_documents_agree_on_hangs_under_each_tenants_own_cohort() -> None:
    assert baseline_for(SITE, cluster().picture(), {"h100": 16}) == Baseline(
        (
            Leaf("trimtab-nlp", "tenant-nlp", {("h100", GPU): 0}),
            Leaf("trimtab-shared", "site", {("h100", GPU): 16}),
            Leaf("trimtab-vision", "tenant-vision", {("h100", GPU): 8}),
        )
    )


def test_a_tenant_without_a_queue_in_a_cohort_has_no_place_for_a_leaf() -> None:
    site = site_of(agreed("vision", 8), agreed("ads", 8))
    with pytest.raises(InputError, match="Tenant ads: got no ClusterQueue in a Cohort"):
        baseline_for(site, cluster().picture(), {})


@pytest.mark.parametrize("shared", [{"b200": 8}, {"h100": 8}])
def test_what_is_shared_needs_a_known_pool_and_one_common_cohort(shared: dict[str, int]) -> None:
    maker = cluster()
    maker.tenant("alone", 8, site="other")
    site = site_of(agreed("vision", 8), agreed("alone", 8))
    with pytest.raises(InputError, match="under one common Cohort"):
        baseline_for(site, maker.picture(), shared)

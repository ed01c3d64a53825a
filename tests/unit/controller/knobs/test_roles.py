"""Rights and roles: each program gets what it needs, by name, and in Observe nobody but the janitor may steer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.tenancy import Engine, Entitlement, Pool
from controller.api.policy import Mode
from controller.knobs.kueue import Leaf
from controller.knobs.native import Cap
from controller.knobs.own import Baseline
from controller.knobs.roles import Owned, owned_by, owned_in, role_manifests
from tests.builders import H100, agreed, site_of
from tests.pictures import GPU

L40 = Pool("l40", GPU, {}, Engine.NATIVE, borrow_class="borrow")
OWNED = Owned(("trimtab-shared", "trimtab-vision"), ("search",))
STEERING = {("ClusterRole", "trimtab-steering"), ("Role", "trimtab-cap")}


def subjects(mode: Mode, owned: Owned = OWNED) -> dict[tuple[str, str], list[str]]:
    """(kind, name) of each role → the programs that have it."""
    bindings = [one for one in role_manifests("home", owned, mode) if one["kind"].endswith("Binding")]
    return {
        (one["roleRef"]["kind"], one["roleRef"]["name"]): [
            subject["name"].removeprefix("trimtab-") for subject in one["subjects"]
        ]
        for one in bindings
    }


def test_in_observe_only_the_janitor_may_write_own_objects() -> None:
    assert {role: who for role, who in subjects(Mode.OBSERVE).items() if role in STEERING} == {
        role: ["janitor"] for role in STEERING
    }


@pytest.mark.parametrize("mode", [Mode.RECOMMEND, Mode.ENFORCE])
def test_above_observe_the_controller_may_write_them_too(mode: Mode) -> None:
    assert all(who == ["controller", "janitor"] for role, who in subjects(mode).items() if role in STEERING)


def test_the_collector_only_reads() -> None:
    for mode in Mode:
        assert [role for role, who in subjects(mode).items() if "collector" in who] == [
            ("ClusterRole", "trimtab-reader")
        ]


def test_without_own_objects_there_is_nothing_to_steer_with() -> None:
    assert not STEERING & subjects(Mode.ENFORCE, Owned()).keys()


def test_no_rule_is_wider_than_its_names() -> None:
    for manifest in role_manifests("home", OWNED, Mode.ENFORCE):
        for rule in manifest.get("rules", ()):
            assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
            assert "secrets" not in rule["resources"]
            assert "delete" not in rule["verbs"]
            assert "resourceNames" in rule or set(rule["verbs"]) <= {"get", "list", "watch"}


def test_own_objects_are_those_of_the_baseline() -> None:
    leaf, cap = Leaf("trimtab-vision", "tenant-vision", {("h100", GPU): 8}), Cap("search", GPU, 4, ("borrow",))
    assert owned_by(Baseline((leaf,), (cap,))) == Owned(("trimtab-vision",), ("search",))


def test_own_objects_follow_from_the_documents() -> None:
    native = replace(agreed("search", 8), entitlements=(Entitlement("l40", 8, 4),))
    site = site_of(agreed("vision", 8, 8), agreed("nlp", 4), native, pools=(H100, L40))
    assert owned_in(site) == Owned(("trimtab-nlp", "trimtab-shared", "trimtab-vision"), ("search",))
    assert owned_in(site_of(native, pools=(H100, L40))) == Owned((), ("search",))

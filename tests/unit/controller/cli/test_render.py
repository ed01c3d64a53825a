"""`trimtab render`: manifests and rules from documents alone, and each mistake in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.cli.main import run
from controller.knobs.own import read_baseline

EXAMPLES = str(Path(__file__).resolve().parents[4] / "deploy" / "examples")
NATIVE = """
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  pools: [{name: l40s, resource: nvidia.com/gpu, engine: native, borrowClass: borrow}]
  tiers: [{name: standard, rank: 50}]
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: search}
spec:
  tier: standard
  members: {namespaces: [search]}
  pools: [{pool: l40s, guarantee: 8, floating: 4}]
"""


@pytest.fixture
def native(tmp_path: Path) -> str:
    (tmp_path / "site.yaml").write_text(NATIVE, encoding="utf-8")
    return str(tmp_path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a good command line prints."""
    assert run(["render", *arguments]) == 0
    return capsys.readouterr().out


def roles(text: str) -> dict[tuple[str, str], Any]:
    """(kind, name) → the object."""
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(text)}


def test_a_native_baseline_needs_no_cluster(native: str, capsys: pytest.CaptureFixture[str]) -> None:
    (cap,) = read_baseline(printed(capsys, "baseline", "--config", native), "printed").caps
    assert (cap.name, cap.gpus, cap.borrow_classes) == ("search/trimtab-cap", 4, ("borrow",))


@pytest.mark.parametrize("shared", ["l40s", "l40s=many", "=8", "l40s=-1"])
def test_a_shared_part_that_is_none_is_bad_input(native: str, shared: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", "baseline", "--config", native, "--shared", shared]) == 2
    assert "expected POOL=GPUS, such as h100=8" in capsys.readouterr().err


def test_a_native_pool_lends_through_its_caps_and_has_no_shared_part(
    native: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["render", "baseline", "--config", native, "--shared", "l40s=8"]) == 2
    assert "shared: got l40s=8, expected a Kueue pool" in capsys.readouterr().err


def test_rights_name_every_own_object_of_the_documents(capsys: pytest.CaptureFixture[str]) -> None:
    found = roles(printed(capsys, "rbac", "--config", EXAMPLES, "--max-mode", "Enforce", "-n", "elsewhere"))
    own = ["trimtab-shared", "trimtab-speech", "trimtab-students"]
    assert found["ClusterRole", "trimtab-steering"]["rules"][0]["resourceNames"] == own
    assert found["Role", "trimtab-cap"]["metadata"]["namespace"] == "search"
    assert found["ServiceAccount", "trimtab-controller"]["metadata"]["namespace"] == "elsewhere"


def test_rights_may_follow_a_kept_baseline_instead(
    tmp_path: Path, native: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text(printed(capsys, "baseline", "--config", native), encoding="utf-8")
    found = roles(printed(capsys, "rbac", "--config", EXAMPLES, "--baseline", str(kept)))
    assert ("ClusterRole", "trimtab-steering") not in found
    assert ("Role", "trimtab-cap") in found


def test_an_unknown_mode_and_an_absent_baseline_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", "rbac", "--config", EXAMPLES, "--max-mode", "Off"]) == 2
    assert "--max-mode" in capsys.readouterr().err
    assert run(["render", "rbac", "--config", EXAMPLES, "--baseline", f"{EXAMPLES}/none.yaml"]) == 2
    assert "none.yaml" in capsys.readouterr().err


def test_rules_hold_each_tenant_to_its_own_objectives(capsys: pytest.CaptureFixture[str]) -> None:
    groups = yaml.safe_load(printed(capsys, "rules", "--config", EXAMPLES, "--cluster", "east"))["groups"]
    labels = [rule.get("labels", {}) for group in groups for rule in group["rules"]]
    assert {"cluster": "east", "tenant": "search", "pool": "l40s", "objective": "start", "window": "7d"} in labels

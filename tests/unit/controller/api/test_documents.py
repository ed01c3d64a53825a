"""The documents people write: what is accepted and what it means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collector.model.tenancy import (
    Engine,
    Entitlement,
    Members,
    Objective,
    ObjectiveKind,
    Pool,
    SizeClass,
    Tenant,
    Tier,
)
from controller.api.documents import combine, parse_documents, read_documents
from controller.api.policy import Budgets, Cadence, Mode, Policy, Revert, Targets

ROOT = Path(__file__).resolve().parents[4]
DAY_SECONDS = 86400.0

EVERY_KEY = """
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  tier: critical                       # a name from Policy.spec.tiers
  members:
    namespaces: [vision-train]
    namespaceSelector: {matchLabels: {team: vision}}
    localQueues: [{namespace: vision-train, name: vision}]
    kubesphereWorkspaces: [vision]
  pools:
  - {pool: h100, guarantee: 16, floating: 16, burst: 48, ceiling: 64}
  objectives:
  - {name: start, kind: queue-wait, target: 0.99, window: 28d}
  - {name: losses, kind: eviction-loss, target: 0.98}
  - {name: data, kind: storage-latency, storage: rbd, quantile: 0.99, within: 50ms, target: 0.99}
  - {name: fabric, kind: rdma-latency, quantile: 0.99, within: 3x-baseline, target: 0.99}
---
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  mode: Observe
  paused: false
  targets: {tenants: ["*"], pools: ["*"]}
  pools:
  - {name: h100, resource: nvidia.com/gpu, nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3},
     engine: kueue, flavor: h100}
  tiers:
  - {name: critical, rank: 100, startWithin: {interactive: 3m, single-node: 5m, small-gang: 15m, large-gang: 1h}}
  - {name: standard, rank: 50, startWithin: {single-node: 15m, small-gang: 1h, large-gang: 4h}}
  - {name: best-effort, rank: 0, oldestHead: 24h}
  strategies: [guard, lend, objectives]
  budgets: {changesPerDay: 24, tenantsPerHour: 2, addedEvictionsPerDay: 10, addedLostGpuHoursPerDay: 20}
  cadence: {tick: 30s, confirmTicks: 2, dwell: 15m}
  revert: {style: soft, ttl: 4h}
"""

SMALLEST_POLICY = """
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec: {}
"""


def test_a_tenant_with_every_key_becomes_its_frozen_value() -> None:
    window = 28 * DAY_SECONDS
    expected = Tenant(
        name="vision",
        tier="critical",
        members=Members(
            namespaces=frozenset({"vision-train"}),
            namespace_labels={"team": "vision"},
            local_queues=frozenset({("vision-train", "vision")}),
            workspaces=frozenset({"vision"}),
        ),
        entitlements=(Entitlement("h100", guarantee=16, floating=16, burst=48, ceiling=64),),
        objectives=(
            Objective("start", ObjectiveKind.QUEUE_WAIT, 0.99, window),
            Objective("losses", ObjectiveKind.EVICTION_LOSS, 0.98, window),
            Objective(
                "data",
                ObjectiveKind.STORAGE_LATENCY,
                0.99,
                window,
                quantile=0.99,
                within_seconds=0.05,
                storage="rbd",
            ),
            Objective("fabric", ObjectiveKind.RDMA_LATENCY, 0.99, window, quantile=0.99, within_baseline_factor=3.0),
        ),
    )
    assert parse_documents(EVERY_KEY, "own.yaml").site.tenants == (expected,)


def test_pools_and_tiers_become_part_of_the_site() -> None:
    documents = parse_documents(EVERY_KEY, "own.yaml", cluster="north")
    product = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    assert documents.site.cluster == "north"
    assert documents.site.pools == (Pool("h100", "nvidia.com/gpu", product, Engine.KUEUE, flavor="h100"),)
    assert documents.site.tiers == (
        Tier(
            "critical",
            100,
            {
                SizeClass.INTERACTIVE: 180.0,
                SizeClass.SINGLE_NODE: 300.0,
                SizeClass.SMALL_GANG: 900.0,
                SizeClass.LARGE_GANG: 3600.0,
            },
        ),
        Tier(
            "standard",
            50,
            {SizeClass.SINGLE_NODE: 900.0, SizeClass.SMALL_GANG: 3600.0, SizeClass.LARGE_GANG: 14400.0},
        ),
        Tier("best-effort", 0, {}),
    )
    assert documents.oldest_head_seconds == {"best-effort": DAY_SECONDS}


def test_a_policy_with_every_key_becomes_its_frozen_value() -> None:
    assert parse_documents(EVERY_KEY, "own.yaml").policy == Policy(
        name="default",
        mode=Mode.OBSERVE,
        paused=False,
        targets=Targets(("*",), ("*",)),
        strategies=("guard", "lend", "objectives"),
        budgets=Budgets(24, 2, 10, 20.0),
        cadence=Cadence(30.0, 2, 900.0),
        revert=Revert(14400.0),
    )


def test_what_a_policy_leaves_out_has_the_defaults_of_the_frozen_values() -> None:
    documents = parse_documents(SMALLEST_POLICY, "policy.yaml")
    assert documents.policy == Policy()
    assert documents.site.tenants == ()


def test_an_entitlement_floats_nothing_and_bursts_to_its_own_by_default() -> None:
    text = EVERY_KEY.replace(", floating: 16, burst: 48, ceiling: 64", "")
    assert parse_documents(text, "own.yaml").site.tenants[0].entitlements == (Entitlement("h100", 16),)


@pytest.mark.parametrize("mode", list(Mode))
def test_each_mode_has_its_word(mode: Mode) -> None:
    text = EVERY_KEY.replace("mode: Observe", f"mode: {mode.word}")
    assert parse_documents(text, "own.yaml").policy.mode is mode


def test_documents_may_come_from_several_texts_in_any_order() -> None:
    tenant, policy = EVERY_KEY.split("---")
    drafts = [*read_documents(policy, "policy.yaml"), *read_documents(tenant, "tenants.yaml")]
    assert combine(drafts, "default") == parse_documents(EVERY_KEY, "own.yaml")


def test_nothing_between_two_separators_is_nothing() -> None:
    text = f"---\n# header\n---{EVERY_KEY}---\n"
    assert parse_documents(text, "own.yaml") == parse_documents(EVERY_KEY, "own.yaml")


def test_a_document_read_back_from_the_api_server_is_the_same_document() -> None:
    added = """metadata:
  name: vision
  uid: 5c1f
  resourceVersion: "812"
  generation: 3
  creationTimestamp: 2026-01-02T03:04:05Z
  managedFields: [{manager: kubectl}]
  labels: {app: site}
status: {observed: true}
"""
    text = EVERY_KEY.replace("metadata: {name: vision}\n", added)
    assert parse_documents(text, "own.yaml") == parse_documents(EVERY_KEY, "own.yaml")


def test_an_anchor_may_be_used_again() -> None:
    text = EVERY_KEY.replace("within: 50ms", "within: &limit 50ms").replace("3x-baseline", "*limit")
    data, fabric = parse_documents(text, "own.yaml").site.tenants[0].objectives[2:]
    assert data.within_seconds == fabric.within_seconds == 0.05


def test_the_shipped_examples_are_good_and_only_observe() -> None:
    folder = ROOT / "deploy" / "examples"
    texts = [folder / "policy.yaml", folder / "tenants.yaml"]
    documents = combine(
        [draft for path in texts for draft in read_documents(path.read_text(encoding="utf-8"), path.name)],
        "default",
    )
    assert documents.policy.mode is Mode.OBSERVE
    assert [tenant.name for tenant in documents.site.tenants] == ["speech", "search", "students"]


def test_the_example_of_the_guide_is_good() -> None:
    guide = (ROOT / "docs" / "guide" / "documents.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    assert parse_documents(example, "guide").site.tenants[0].name == "vision"

"""What is wrong with a document is said with its place, what stands there, and what was expected."""

from __future__ import annotations

import time

import pytest

from controller.api.documents import combine, parse_documents, read_documents
from controller.api.errors import InputError, Mistake

GOOD = """\
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  tier: critical
  members:
    namespaces: [vision]
    namespaceSelector: {matchLabels: {team: vision}}
    localQueues: [{namespace: vision, name: main}]
    kubesphereWorkspaces: [vision-space]
  pools:
  - {pool: h100, guarantee: 16, floating: 8, burst: 48, ceiling: 64}
  objectives:
  - {name: start, kind: queue-wait, target: 0.99, window: 28d}
  - {name: data, kind: storage-latency, storage: rbd, quantile: 0.99, within: 50ms, target: 0.99}
  - {name: fabric, kind: rdma-latency, quantile: 0.9, within: 3x-baseline, target: 0.95}
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: plain}
spec:
  tier: standard
  members: {namespaces: [plain]}
  pools: [{pool: l40s, guarantee: 4}]
---
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  mode: Observe
  paused: false
  targets: {tenants: [vision], pools: ["*"]}
  pools:
  - {name: h100, resource: nvidia.com/gpu, nodeSelector: {gpu: h100}, engine: kueue, flavor: big}
  - {name: l40s, resource: nvidia.com/gpu, nodeSelector: {gpu: l40s}, engine: native, borrowClass: borrow}
  tiers:
  - {name: critical, rank: 100, startWithin: {interactive: 3m, single-node: 5m}}
  - {name: standard, rank: 50, oldestHead: 24h}
  strategies: [guard, lend]
  budgets: {changesPerDay: 24, addedLostGpuHoursPerDay: 20}
  cadence: {tick: 30s, confirmTicks: 2, dwell: 15m}
  revert: {style: soft, ttl: 4h}
"""
VISION = "site.yaml: document 1 (Tenant vision): "
SHARED = "site.yaml: document 2 (Tenant shared): "
SELECTOR = VISION + "spec.members.namespaceSelector"
SECOND_VISION = "site.yaml: document 2 (Tenant vision): "
PLAIN = "site.yaml: document 2 (Tenant plain): "
POLICY = "site.yaml: document 3 (Policy default): "


def _mistakes(text: str) -> tuple[Mistake, ...]:
    with pytest.raises(InputError) as caught:
        parse_documents(text, "site.yaml")
    return caught.value.mistakes


def test_the_good_text_is_good() -> None:
    assert len(parse_documents(GOOD, "site.yaml").site.tenants) == 2


@pytest.mark.parametrize(
    ("old", "new", "place", "value", "expected"),
    [
        # wrong types
        ("guarantee: 16", 'guarantee: "16"', VISION + "spec.pools[0].guarantee", '"16"', "a whole number"),
        ("guarantee: 16", "guarantee: true", VISION + "spec.pools[0].guarantee", "true", "a whole number"),
        ("guarantee: 16", "guarantee: 16.0", VISION + "spec.pools[0].guarantee", "16.0", "a whole number"),
        ("guarantee: 16", "guarantee: 0x10", VISION + "spec.pools[0].guarantee", "0x10", "a whole number"),
        ("guarantee: 16", "guarantee: ", VISION + "spec.pools[0].guarantee", "nothing", "a whole number"),
        ("{name: plain}", "{name: no}", "site.yaml: document 2 (Tenant): metadata.name", "no", "quote it"),
        ("{team: vision}", "{team: 1e3}", SELECTOR + ".matchLabels.team", "1e3", "quote"),
        ("{gpu: l40s}", "{a/b: 7}", POLICY + 'spec.pools[1].nodeSelector["a/b"]', "7", "text"),
        ("paused: false", 'paused: "no"', POLICY + "spec.paused", '"no"', "true or false"),
        ("members: {namespaces: [plain]}", "members: [plain]", PLAIN + "spec.members", "[plain]", "a mapping"),
        ("strategies: [guard, lend]", "strategies: guard", POLICY + "spec.strategies", "guard", "a list"),
        # unknown keys and words
        ("guarantee: 4", "guarante: 4", PLAIN + "spec.pools[0].guarante", "4", "did you mean guarantee?"),
        ("ttl: 4h", "TTL: 4h", POLICY + "spec.revert.TTL", "4h", "did you mean ttl?"),
        ("single-node: 5m", "singleNode: 5m", POLICY + "spec.tiers[0].startWithin.singleNode", "5m", "single-node?"),
        ("kind: queue-wait", "kind: queue_wait", VISION + "spec.objectives[0].kind", "queue_wait", "queue-wait?"),
        ("[guard, lend]", "[guard, lent]", POLICY + "spec.strategies[1]", "lent", "did you mean lend?"),
        ("engine: native", "engine: volcano", POLICY + "spec.pools[1].engine", "volcano", "one of kueue, native"),
        ("style: soft", "style: Soft", POLICY + "spec.revert.style", "Soft", "soft"),
        ("style: soft", "style: hard", POLICY + "spec.revert.style", "hard", "soft"),
        # the mode
        ("mode: Observe", "mode: Off", POLICY + "spec.mode", "Off", "write Observe to change nothing; YAML reads Off"),
        ("mode: Observe", "mode: observe", POLICY + "spec.mode", "observe", "Observe, Recommend or Enforce"),
        # what is missing
        ("  tier: standard\n", "", PLAIN + "spec.tier", "nothing", "required"),
        ("guarantee: 4", "floating: 4", PLAIN + "spec.pools[0].guarantee", "nothing", "required"),
        (", flavor: big", "", POLICY + "spec.pools[0].flavor", "nothing", "engine kueue needs flavor"),
        (", borrowClass: borrow", "", POLICY + "spec.pools[1].borrowClass", "nothing", "native needs borrowClass"),
        ("storage: rbd, ", "", VISION + "spec.objectives[1].storage", "nothing", "kind storage-latency needs"),
        ("quantile: 0.9, ", "", VISION + "spec.objectives[2].quantile", "nothing", "kind rdma-latency needs"),
        ("within: 3x-baseline, ", "", VISION + "spec.objectives[2].within", "nothing", "rdma-latency needs"),
        # keys without meaning where they stand
        ("flavor: big", "flavor: big, borrowClass: x", POLICY + "spec.pools[0].borrowClass", "x", "no meaning"),
        ("window: 28d", "within: 3m", VISION + "spec.objectives[0].within", "3m", "no meaning for kind queue-wait"),
        ("within: 50ms", "within: 3x-baseline", VISION + "spec.objectives[1].within", "3x-baseline", "no baseline"),
        # bounds
        ("guarantee: 16", "guarantee: -1", VISION + "spec.pools[0].guarantee", "-1", "at least 0"),
        ("guarantee: 16", "guarantee: 1000001", VISION + "spec.pools[0].guarantee", "1000001", "at most 1000000"),
        ("floating: 8", "floating: -8", VISION + "spec.pools[0].floating", "-8", "at least 0"),
        ("burst: 48", "burst: 23", VISION + "spec.pools[0].burst", "23", "guarantee + floating, which is 24"),
        ("ceiling: 64", "ceiling: 47", VISION + "spec.pools[0].ceiling", "47", "at least burst"),
        ("guarantee: 4", "guarantee: 4, ceiling: 3", PLAIN + "spec.pools[0].ceiling", "3", "which is 4"),
        ("target: 0.95", "target: 1", VISION + "spec.objectives[2].target", "1", "below 1"),
        ("target: 0.95", "target: 0.0", VISION + "spec.objectives[2].target", "0.0", "above 0"),
        ("target: 0.95", "target: .nan", VISION + "spec.objectives[2].target", ".nan", "a finite number"),
        ("quantile: 0.9,", "quantile: 99,", VISION + "spec.objectives[2].quantile", "99", "below 1"),
        ("3x-baseline", "1x-baseline", VISION + "spec.objectives[2].within", "1x-baseline", "a factor above 1"),
        ("changesPerDay: 24", "changesPerDay: -1", POLICY + "spec.budgets.changesPerDay", "-1", "at least 0"),
        ("HoursPerDay: 20", "HoursPerDay: .inf", POLICY + "spec.budgets.addedLostGpuHoursPerDay", ".inf", "finite"),
        ("confirmTicks: 2", "confirmTicks: 0", POLICY + "spec.cadence.confirmTicks", "0", "at least 1"),
        ("tick: 30s", "tick: 30", POLICY + "spec.cadence.tick", "30", "unit from 1s to 1h"),
        ("tick: 30s", "tick: 0s", POLICY + "spec.cadence.tick", "0s", "unit from 1s to 1h"),
        ("dwell: 15m", "dwell: -15m", POLICY + "spec.cadence.dwell", "-15m", "unit from 1s to 7d"),
        ("ttl: 4h", f"ttl: {'9' * 400}w", POLICY + "spec.revert.ttl", "9" * 59 + "…", "unit from 1m to 30d"),
        ("window: 28d", "window: 1:30", VISION + "spec.objectives[0].window", "1:30", "unit from 1h to 365d"),
        ("window: 28d", "window: 1ms", VISION + "spec.objectives[0].window", "1ms", "from 1h to 365d"),
        ("window: 28d", "window: 9999999d", VISION + "spec.objectives[0].window", "9999999d", "from 1h to 365d"),
        ("window: 28d", "window: \u0662\u0668d", VISION + "spec.objectives[0].window", "\u0662\u0668d", "from 1h to"),
        ("within: 50ms", "within: 0us", VISION + "spec.objectives[1].within", "0us", "from 1us to 1h"),
        ("within: 50ms", "within: 2h", VISION + "spec.objectives[1].within", "2h", "from 1us to 1h"),
        ("single-node: 5m", "single-node: 9w999d", POLICY + "spec.tiers[0].startWithin.single-node", "9w999d", "365d"),
        ("oldestHead: 24h", "oldestHead: 366d", POLICY + "spec.tiers[1].oldestHead", "366d", "from 1s to 365d"),
        ("tick: 30s", "tick: 2h", POLICY + "spec.cadence.tick", "2h", "from 1s to 1h"),
        ("dwell: 15m", "dwell: 20s", POLICY + "spec.cadence.dwell", "20s", "at least cadence.tick, which is 30s"),
        ("ttl: 4h", "ttl: 14m", POLICY + "spec.revert.ttl", "14m", "at least cadence.dwell, which is 15m"),
        ("style: soft, ttl: 4h", "style: soft", POLICY + "spec.revert.ttl", "nothing", "cadence.dwell, which is 5h"),
        ("confirmTicks: 2", "confirmTicks: 101", POLICY + "spec.cadence.confirmTicks", "101", "at most 100"),
        ("changesPerDay: 24", "changesPerDay: 1000001", POLICY + "spec.budgets.changesPerDay", "1000001", "at most"),
        ("HoursPerDay: 20", "HoursPerDay: 1e300", POLICY + "spec.budgets.addedLostGpuHoursPerDay", "1e300", "at most"),
        # GPUs that would count twice, and tenants of nobody
        ("{gpu: l40s}", "{gpu: h100}", POLICY + "spec.pools[1].nodeSelector", "{gpu: h100}", "those of spec.pools[0]"),
        ("{gpu: l40s}", "{zone: a}", POLICY + "spec.pools[1].nodeSelector", "{zone: a}", "apart from those of"),
        ("nodeSelector: {gpu: l40s}, ", "", POLICY + "spec.pools[1].nodeSelector", "nothing", "apart from those of"),
        ("members: {namespaces: [plain]}", "members: {}", PLAIN + "spec.members", "{}", "at least one of namespaces"),
        ("  members: {namespaces: [plain]}\n", "", PLAIN + "spec.members", "nothing", "required"),
        ("[plain]", "[]", PLAIN + "spec.members", "{namespaces: []}", "nothing would belong to this tenant"),
        (
            "members: {namespaces: [plain]}",
            "members: {namespaceSelector: {matchLabels: {team: vision}}}",
            PLAIN + "spec.members.namespaceSelector.matchLabels",
            "{team: vision}",
            VISION[:-2],
        ),
        # names
        ("{name: plain}", "{name: Plain}", "site.yaml: document 2 (Tenant Plain): metadata.name", "Plain", "DNS label"),
        ("{name: plain}", "{name: shared}", SHARED + "metadata.name", "shared", "reserved"),
        ("resource: nvidia.com/gpu,", "resource: gpu,", POLICY + "spec.pools[0].resource", "gpu", "nvidia.com/gpu"),
        ("flavor: big", "flavor: Big_One", POLICY + "spec.pools[0].flavor", "Big_One", "a Kubernetes object"),
        # names that nobody declares
        ("tier: standard", "tier: standart", PLAIN + "spec.tier", "standart", "did you mean standard?"),
        ("pool: h100", "pool: h200", VISION + "spec.pools[0].pool", "h200", "a pool of the Policy: h100, l40s"),
        ("window: 28d", "pool: h10", VISION + "spec.objectives[0].pool", "h10", "did you mean h100?"),
        ("tenants: [vision]", "tenants: [visoin]", POLICY + "spec.targets.tenants[0]", "visoin", "mean vision?"),
        ('pools: ["*"]', "pools: [h20]", POLICY + "spec.targets.pools[0]", "h20", 'a pool of the Policy or "*"'),
        # twice
        ("{name: plain}", "{name: vision}", SECOND_VISION + "metadata.name", "vision", VISION[:-2]),
        ("name: l40s", "name: h100", POLICY + "spec.pools[1].name", "h100", "spec.pools[0].name has this one"),
        ("rank: 50", "rank: 100", POLICY + "spec.tiers[1].rank", "100", "spec.tiers[0].rank has this one"),
        ("[guard, lend]", "[guard, guard]", POLICY + "spec.strategies[1]", "guard", "another value"),
        ("name: fabric", "name: data", VISION + "spec.objectives[2].name", "data", "spec.objectives[1].name"),
        ("namespaces: [plain]", "namespaces: [vision]", PLAIN + "spec.members.namespaces[0]", "vision", VISION[:-2]),
        (
            "namespaces: [plain]",
            "localQueues: [{namespace: vision, name: q}]",
            PLAIN + "spec.members.localQueues[0].namespace",
            "vision",
            VISION[:-2],
        ),
        (
            "namespaces: [plain]",
            "kubesphereWorkspaces: [vision-space]",
            PLAIN + "spec.members.kubesphereWorkspaces[0]",
            "vision-space",
            "a workspace that no other tenant claims",
        ),
        ("guarantee: 4", "guarantee: 4, guarantee: 5", PLAIN + "spec.pools[0].guarantee", "5", "each key once"),
        # native tenants
        ("[plain]", "[plain, plain-2]", PLAIN + "spec.members", "{namespaces: [plain, plain-2]}", "one namespace"),
        ("guarantee: 4}", "guarantee: 4}, {pool: h100}", PLAIN + "spec.pools[1].pool", "h100", "no second"),
        # the frame
        ("kind: Policy", "kind: Polcy", "site.yaml: document 3 (default): kind", "Polcy", "did you mean Policy?"),
        ("v1alpha1\nkind: Policy", "v1\nkind: Policy", POLICY + "apiVersion", "trimtab.io/v1", "trimtab.io/v1alpha1"),
        ("matchLabels: {team: vision}", "matchLabels: {}", SELECTOR + ".matchLabels", "{}", "one"),
        ("paused: false", "paused: !!set {}", POLICY + "spec.paused", "!!set", "a value without a tag"),
    ],
)  # fmt: skip
def test_one_mistake_is_named_with_its_place(old: str, new: str, place: str, value: str, expected: str) -> None:
    assert old in GOOD
    text = GOOD.replace("dwell: 15m", "dwell: 5h") if "which is 5h" in expected else GOOD
    found = {mistake.place: mistake for mistake in _mistakes(text.replace(old, new, 1))}
    assert place in found
    assert found[place].value == value
    assert expected in found[place].expected


def test_the_name_of_those_without_tenant_is_reserved() -> None:
    (mistake,) = _mistakes(GOOD.replace("{name: plain}", "{name: unassigned}"))
    assert mistake.value == "unassigned"
    assert "every namespace that nobody claims" in mistake.expected


def test_all_mistakes_of_a_text_are_said_at_once() -> None:
    text = GOOD.replace("guarantee: 16", "guarantee: x").replace("tier: standard", "tier: gold")
    text = text.replace("confirmTicks: 2", "confirmTicks: 0").replace("rank: 50", "rank: 100")
    assert [mistake.place for mistake in _mistakes(text)] == [
        VISION + "spec.pools[0].guarantee",
        PLAIN + "spec.tier",
        POLICY + "spec.cadence.confirmTicks",
        POLICY + "spec.tiers[1].rank",
    ]


def test_one_wrong_field_does_not_blame_those_that_refer_to_its_document() -> None:
    assert [mistake.place for mistake in _mistakes(GOOD.replace("rank: 50", "rank: fifty"))] == [
        POLICY + "spec.tiers[1].rank"
    ]


def test_a_wrong_shape_is_not_blamed_twice() -> None:
    text = GOOD.replace("members: {namespaces: [plain]}", "members: {namespaces: [1]}")
    assert [mistake.place for mistake in _mistakes(text)] == [PLAIN + "spec.members.namespaces[0]"]


def test_a_second_policy_is_refused_and_the_first_is_named() -> None:
    second = "---\napiVersion: trimtab.io/v1alpha1\nkind: Policy\nmetadata: {name: other}\nspec: {}\n"
    (mistake,) = _mistakes(GOOD + second)
    assert mistake.place == "site.yaml: document 4 (Policy other): metadata.name"
    assert mistake.value == "other"
    assert mistake.expected == f"one Policy in all; {POLICY[:-2]} is another"


def test_a_text_without_policy_is_refused() -> None:
    tenant = GOOD.split("---")[0]
    assert _mistakes(tenant) == (Mistake("site.yaml", "no Policy", "exactly one document of kind Policy"),)


def test_nothing_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="no Policy"):
        combine((), "default")


@pytest.mark.parametrize("text", ["", "\n", "# only words\n", "---\n---\n", "~"])
def test_an_empty_text_is_refused(text: str) -> None:
    (mistake,) = _mistakes(text)
    assert (mistake.place, mistake.value) == ("site.yaml", "an empty text")
    assert "kind Tenant or Policy" in mistake.expected


@pytest.mark.parametrize("text", ["just words", "- a\n- b\n", "42"])
def test_what_is_no_mapping_is_refused(text: str) -> None:
    (mistake,) = _mistakes(text)
    assert mistake.place == "site.yaml: document 1"
    assert "a mapping with the keys apiVersion, kind, metadata and spec" in mistake.expected


def test_what_is_no_yaml_is_refused_with_its_line() -> None:
    (mistake,) = _mistakes(GOOD + "---\nkind: Policy\nspec: [1, 2\n")
    assert mistake.place.startswith("site.yaml: line ")
    assert mistake.expected.startswith("YAML")


def test_documents_before_an_error_of_syntax_are_checked_all_the_same() -> None:
    first, second = _mistakes(GOOD.replace("guarantee: 16", "guarantee: -1") + "---\na: b: c\n")
    assert first.place == VISION + "spec.pools[0].guarantee"
    assert "mapping values are not allowed in this context" in second.expected


def test_each_origin_is_named_in_its_own_mistakes() -> None:
    vision, plain, policy = GOOD.split("---\n")
    drafts = [
        *read_documents(policy, "policy.yaml"),
        *read_documents(vision, "a.yaml"),
        *read_documents(plain.replace("[plain]", "[vision]"), "b.yaml"),
    ]
    with pytest.raises(InputError) as caught:
        combine(drafts, "default")
    (mistake,) = caught.value.mistakes
    assert mistake.place == "b.yaml: document 1 (Tenant plain): spec.members.namespaces[0]"
    assert "a.yaml: document 1 (Tenant vision) claims it too" in mistake.expected


def test_the_error_is_one_line_per_mistake() -> None:
    with pytest.raises(InputError) as caught:
        parse_documents(GOOD.replace("guarantee: 16", "guarantee: -1"), "site.yaml")
    assert str(caught.value) == f"{VISION}spec.pools[0].guarantee: got -1, expected a number of at least 0"


def test_pools_of_different_resources_may_share_their_nodes() -> None:
    text = GOOD.replace("resource: nvidia.com/gpu, nodeSelector: {gpu: l40s}", "resource: nvidia.com/mig-1g.10gb")
    assert len(parse_documents(text, "site.yaml").site.pools) == 2


def test_latencies_of_a_fabric_are_written_in_microseconds() -> None:
    for text in ("7us", "7µs", "7\u03bcs"):
        documents = parse_documents(GOOD.replace("3x-baseline", text), "site.yaml")
        assert documents.site.tenants[0].objectives[2].within_seconds == 7e-6


def test_thousands_of_tenants_take_time_in_proportion_and_their_mistakes_as_well() -> None:
    tenant = GOOD.split("---\n")[1]

    def seconds(count: int) -> float:
        wrong = tenant.replace("tier: standard", "tier: gold")
        tenants = [wrong.replace("plain", f"plain-{number}") for number in range(count)]
        targets = ", ".join(f"nobody-{number}" for number in range(count))
        policy = GOOD.replace("tenants: [vision]", f"tenants: [{targets}]")
        begun = time.process_time()
        assert len(_mistakes("---\n".join([policy, *tenants]))) == 2 * count
        return time.process_time() - begun

    assert seconds(1600) < 12 * seconds(400), "4 if each takes the same, 16 if each looks at all others"

"""Whatever is good comes back the same; whatever is wrong is named with its place; no text does anything else."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from collector.model.tenancy import (
    Engine,
    Entitlement,
    Members,
    Objective,
    ObjectiveKind,
    Pool,
    Site,
    SizeClass,
    Tenant,
    Tier,
)
from controller.api.documents import Documents, parse_documents
from controller.api.errors import InputError, Mistake
from controller.api.policy import Budgets, Cadence, Mode, Policy, Revert, Targets
from controller.api.rendering import render_policy, render_tenants
from controller.api.yaml_text import Dumper, place_in_words
from controller.knobs.own import read_baseline

RESERVED = {"unassigned", "shared"}
JUDGED_SIZES: list[SizeClass] = [size for size in SizeClass if size is not SizeClass.RESERVATION]
OPEN_MAPPINGS = {"nodeSelector", "matchLabels"}
SYNTAX = [*"-:?[]{}&*!|>'\"%@`#,\n \t\\~<=.", "---\n", "...\n", "&a ", "*a", "!!int ", "!!set ", "<<: ", "\\UFFFFFFFF"]
WORDS = [
    "kind: Tenant\n",
    "kind: Policy\n",
    "metadata: ",
    "spec: ",
    "name: ",
    "1:30",
    "0x1f",
    ".nan",
    "Off",
    "2026-13-45",
]

names = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
object_names = st.builds("{}.{}".format, names, names) | names
labels = st.dictionaries(st.text(max_size=12), st.text(max_size=12), max_size=2)


def seconds_between(least: float, most: float) -> st.SearchStrategy[float]:
    """Whole seconds, or as fine as a document may say them."""
    fine = st.integers(round(least * 10**6), round(most * 10**6)).map(lambda microseconds: microseconds / 10**6)
    return fine if most < 1 else st.integers(max(1, math.ceil(least)), math.floor(most)).map(float) | fine


waits, windows = seconds_between(1, 365 * 86400), seconds_between(3600, 365 * 86400)
latencies = seconds_between(1e-6, 0.9) | seconds_between(1, 3600)
shares = st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True)
gpus = st.integers(0, 300_000)


@st.composite
def pools(draw: st.DrawFn, name: str) -> Pool:
    engine = draw(st.sampled_from(Engine))
    resource = draw(st.sampled_from(["nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.10gb"]))
    own = draw(object_names)
    kueue = engine is Engine.KUEUE
    selector = {**draw(labels), "pool": name}  # GPUs of one pool are those of no other
    return Pool(name, resource, selector, engine, own if kueue else None, None if kueue else own)


@st.composite
def entitlements(draw: st.DrawFn, pool: str) -> Entitlement:
    guarantee, floating = draw(gpus), draw(gpus)
    burst = draw(st.none() | gpus.map(lambda more: guarantee + floating + more))
    least = guarantee + floating if burst is None else burst
    return Entitlement(pool, guarantee, floating, burst, draw(st.none() | gpus.map(lambda more: least + more)))


@st.composite
def objectives(draw: st.DrawFn, name: str, pool_names: list[str]) -> Objective:
    kind = draw(st.sampled_from(ObjectiveKind))
    pool = draw(st.none() | st.sampled_from(pool_names)) if pool_names else None
    plain = Objective(name, kind, draw(shares), draw(windows), pool=pool)
    if kind is ObjectiveKind.RDMA_LATENCY and draw(st.booleans()):
        factor = draw(st.integers(1_001, 9_999_999)) / 1000
        return replace(plain, quantile=draw(shares), within_baseline_factor=factor)
    if kind in (ObjectiveKind.RDMA_LATENCY, ObjectiveKind.STORAGE_LATENCY):
        storage = draw(st.text(min_size=1, max_size=12)) if kind is ObjectiveKind.STORAGE_LATENCY else None
        return replace(plain, quantile=draw(shares), within_seconds=draw(latencies), storage=storage)
    return plain


@st.composite
def tenants(draw: st.DrawFn, name: str, tiers: list[str], site_pools: list[Pool]) -> Tenant:
    chosen = draw(st.lists(st.sampled_from(site_pools), unique_by=lambda pool: pool.name)) if site_pools else []
    native = [pool for pool in chosen if pool.engine is Engine.NATIVE]
    if native:  # one pool, and one namespace by name; the tenant's own name keeps claims apart
        chosen, members = native[:1], Members(namespaces=frozenset({name}))
    else:
        members = Members(
            namespaces=draw(st.sampled_from([frozenset[str](), frozenset({name})])),
            namespace_labels=draw(labels.map(lambda found: found and {**found, "tenant": name})),
            local_queues=frozenset((name, queue) for queue in draw(st.sets(object_names, max_size=2))),
            workspaces=draw(st.sampled_from([frozenset[str](), frozenset({name})])),
        )
        if members == Members():  # somebody must belong to it
            members = Members(workspaces=frozenset({name}))
    pool_names = [pool.name for pool in site_pools]
    return Tenant(
        name=name,
        tier=draw(st.sampled_from(tiers)),
        members=members,
        entitlements=tuple(draw(entitlements(pool.name)) for pool in chosen),
        objectives=tuple(
            draw(objectives(objective, pool_names)) for objective in draw(st.lists(names, unique=True, max_size=2))
        ),
    )


@st.composite
def sites(draw: st.DrawFn) -> Site:
    tier_names = draw(st.lists(names, unique=True, min_size=1, max_size=3))
    ranks = draw(st.lists(st.integers(-1000, 1000), unique=True, min_size=3, max_size=3))
    limits: st.SearchStrategy[dict[SizeClass, float]]
    limits = st.dictionaries(st.sampled_from(JUDGED_SIZES), waits)
    site_pools = [draw(pools(name)) for name in draw(st.lists(names, unique=True, max_size=2))]
    tenant_names = draw(st.lists(names.filter(lambda name: name not in RESERVED), unique=True, max_size=2))
    return Site(
        cluster="default",
        pools=tuple(site_pools),
        tiers=_in_order([Tier(name, rank, draw(limits)) for name, rank in zip(tier_names, ranks, strict=False)]),
        tenants=tuple(draw(tenants(name, tier_names, site_pools)) for name in tenant_names),
    )


def _in_order(tiers: list[Tier]) -> tuple[Tier, ...]:
    """The same, with no limit below that of a tier with a higher rank: whoever is served later starts no earlier."""
    longest: dict[SizeClass, float] = {}
    kept: dict[str, Tier] = {}
    for tier in sorted(tiers, key=lambda tier: -tier.rank):
        limits = {size: max(limit, longest.get(size, 0.0)) for size, limit in tier.start_within_seconds.items()}
        longest |= limits
        kept[tier.name] = replace(tier, start_within_seconds=limits)
    return tuple(kept[tier.name] for tier in tiers)


def _targets(known: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(["*", *known]), max_size=3).map(tuple)


@st.composite
def documents(draw: st.DrawFn) -> Documents:
    site = draw(sites())
    budget = st.integers(0, 10**6)
    tick = draw(seconds_between(1, 3600))
    dwell = draw(seconds_between(tick, 7 * 86400))
    policy = Policy(
        name=draw(names),
        mode=draw(st.sampled_from(Mode)),
        paused=draw(st.booleans()),
        targets=Targets(
            draw(_targets([tenant.name for tenant in site.tenants])), draw(_targets([pool.name for pool in site.pools]))
        ),
        strategies=tuple(draw(st.lists(st.sampled_from(Policy().strategies), unique=True))),
        budgets=Budgets(draw(budget), draw(budget), draw(budget), draw(st.floats(0, 1e6))),
        cadence=Cadence(tick, draw(st.integers(1, 100)), dwell),
        revert=Revert(draw(seconds_between(max(60, dwell), 30 * 86400))),
    )
    tiers = st.sampled_from([tier.name for tier in site.tiers])
    return Documents(site, policy, draw(st.dictionaries(tiers, waits)))


def _rendered(good: Documents) -> str:
    return f"{render_tenants(good.site)}---\n{render_policy(good.site, good.policy, good.oldest_head_seconds)}"


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place of a document below its root, mappings that take any key left whole."""
    if path:
        yield path
    if path and path[-1] in OPEN_MAPPINGS:
        return
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from _places(child, (*path, step))


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _mistakes(text: str) -> tuple[Mistake, ...]:
    try:
        parse_documents(text, "text")
    except InputError as error:
        return error.mistakes
    return ()


def _mistaken_places(text: str) -> list[str]:
    return [mistake.place for mistake in _mistakes(text)]


def _dumped(loaded: list[Any]) -> str:
    """Text that is read back as the same values: a label `0E0` is a number to some readers, and refused unquoted."""
    return yaml.dump_all(loaded, Dumper=Dumper, allow_unicode=True)


@given(documents())
def test_a_good_document_comes_back_the_same(good: Documents) -> None:
    assert parse_documents(_rendered(good), "text") == good


@given(documents(), st.data())
def test_a_value_of_a_wrong_type_is_named_with_its_place(good: Documents, data: st.DataObject) -> None:
    loaded = list(yaml.safe_load_all(_rendered(good)))
    document = data.draw(st.sampled_from(loaded))
    path = data.draw(st.sampled_from(list(_places(document))))
    before = _at(document, path)
    # No field of a document takes the other shape: a list where none was, a word where one was.
    _at(document, path[:-1])[path[-1]] = "word" if isinstance(before, list | dict) else [before]
    places = _mistaken_places(_dumped(loaded))
    assert any(place.endswith(": " + place_in_words(path)) for place in places)


@given(documents(), st.data())
def test_an_unknown_key_is_named_with_its_place(good: Documents, data: st.DataObject) -> None:
    loaded = list(yaml.safe_load_all(_rendered(good)))
    document = data.draw(st.sampled_from(loaded))
    mappings = [path for path in _places(document) if isinstance(_at(document, path), dict)]
    path = data.draw(st.sampled_from([(), *[path for path in mappings if path[-1] not in OPEN_MAPPINGS]]))
    _at(document, path)["unheardOf"] = 1
    (place,) = _mistaken_places(_dumped(loaded))
    assert place.endswith(": " + place_in_words((*path, "unheardOf")))


@given(documents(), st.data())
def test_a_document_that_stands_twice_is_refused(good: Documents, data: st.DataObject) -> None:
    loaded = list(yaml.safe_load_all(_rendered(good)))
    twice = copy.deepcopy(data.draw(st.sampled_from(loaded)))
    places = _mistaken_places(_dumped([*loaded, twice]))
    assert any(f"document {len(loaded) + 1} " in place and place.endswith(": metadata.name") for place in places)


@given(st.text() | st.lists(st.sampled_from([*SYNTAX, *WORDS]), max_size=40).map("".join))
def test_any_other_text_has_mistakes_that_can_be_printed(text: str) -> None:
    mistakes = _mistakes(text)
    assert mistakes
    assert all(str(mistake).isprintable() for mistake in mistakes)


@given(documents(), st.data())
def test_a_text_that_is_cut_or_stirred_does_nothing_but_parse_or_say_why(good: Documents, data: st.DataObject) -> None:
    text = _rendered(good)
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    _mistaken_places(text[:start] + data.draw(st.sampled_from(["", "\t", ": ", "- ", '"', "[", "&a "])) + text[end:])


numbers = st.integers() | st.floats() | st.sampled_from([0, -1, 2**31, 2**63, 10**30, 1e308, 5e-324])
odd_texts = st.sampled_from(
    ["", "9" * 5000, "1e99999999", "\u0663\u0660s", "us", "-5m", "9999999999d", "1ms", "../../x", "*", "~"]
)
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=12) | odd_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | names, inner, max_size=3),
    max_leaves=8,
)


@given(documents(), st.data())
def test_any_value_anywhere_is_taken_or_said_with_place_value_and_what_was_expected(
    good: Documents, data: st.DataObject
) -> None:
    loaded = list(yaml.safe_load_all(_rendered(good)))
    for _ in range(data.draw(st.integers(1, 3))):
        document = data.draw(st.sampled_from(loaded))
        path = data.draw(st.sampled_from(list(_places(document))))
        _at(document, path[:-1])[path[-1]] = data.draw(anything)
    for mistake in _mistakes(_dumped(loaded)):
        assert mistake.place.startswith("text: ") or mistake == Mistake(
            "text", "no Policy", "exactly one document of kind Policy"
        )
        assert mistake.value
        assert mistake.expected
        assert str(mistake).isprintable()
        assert len(str(mistake)) < 1000


@given(st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "status"]), anything))
def test_a_document_of_any_values_is_never_more_than_a_list_of_mistakes(document: dict[str, Any]) -> None:
    for kind in ("Tenant", "Policy"):
        whole = {"apiVersion": "trimtab.io/v1alpha1", "kind": kind, **document}
        mistakes = _mistakes(yaml.safe_dump(whole))
        assert mistakes
        assert all(mistake.value and mistake.expected and str(mistake).isprintable() for mistake in mistakes)


@given(anything)
def test_a_baseline_of_any_values_is_never_more_than_a_list_of_mistakes(value: Any) -> None:
    spec = {"parentName": "tenant-a", "resourceGroups": [{"flavors": [{"name": "a", "resources": value}]}]}
    quota = {"hard": value, "scopeSelector": value}
    for document in (
        {"kind": "Cohort", "metadata": {"name": "trimtab-a"}, "spec": spec},
        {"kind": "ResourceQuota", "metadata": {"name": "trimtab-cap", "namespace": "a"}, "spec": quota},
        {"kind": "Cohort", "metadata": value, "spec": value},
        value,
    ):
        with suppress(InputError):
            read_baseline(yaml.safe_dump(document), "baseline")

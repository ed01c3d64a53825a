"""What only several places together show: names used twice, names that nobody declares, double claims. Pure.

Works on plain data, which may still be wrong in shape elsewhere, so that every mistake of a text is said at once. What
a check can not judge because of another mistake, it leaves alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from collector.model.quantities import parse_duration
from collector.model.tenancy import Engine
from controller.api.contradictions import contradictions
from controller.api.fields import duration_text, with_nearest
from controller.api.policy import Cadence, Revert
from controller.api.sheets import Found, Sheet, select
from controller.api.yaml_text import ValuePath, place_in_words

_UNIQUE: Final = {
    "Tenant": ("spec.pools.*.pool", "spec.objectives.*.name"),
    "Policy": ("spec.pools.*.name", "spec.tiers.*.name", "spec.tiers.*.rank", "spec.strategies.*"),
}


_RHYTHM: Final = {
    "spec.cadence.tick": Cadence().tick_seconds,
    "spec.cadence.dwell": Cadence().dwell_seconds,
    "spec.revert.ttl": Revert().ttl_seconds,
}
_MOST_SUGGESTIONS: Final = 20
"""To look for what was meant takes longer than all the rest; after so many mistakes nobody reads on."""


def cross_check(
    sheets: Sequence[Sheet], *, complete: bool, capacity: Mapping[str, int] | None = None
) -> Iterator[Found]:
    """All mistakes between places; `complete` False when documents are missing because they could not be read.

    `capacity`: pool → GPUs, where somebody knows.
    """
    for position, sheet in enumerate(sheets):
        for pattern in _UNIQUE.get(sheet.kind, ()):
            yield from ((position, path, words) for path, words in _repeated(sheet.value, pattern))
    yield from _tenants_once(sheets)
    yield from _one_policy(sheets)
    yield from _double_claims(sheets)
    policies = [sheet.value for sheet in sheets if sheet.kind == "Policy"]
    yield from _pools_that_share_nodes(sheets)
    yield from _time_for_a_trial(sheets)
    yield from contradictions(sheets, capacity or {})
    if policies:
        yield from _unknown_names(sheets, policies, complete)
        yield from _native_tenants(sheets, policies)


def _texts(value: Any, pattern: str) -> list[str]:
    return [text for _, text in select(value, pattern) if isinstance(text, str)]


def _repeated(value: Any, pattern: str) -> Iterator[tuple[ValuePath, str]]:
    first: dict[str | int, ValuePath] = {}
    for path, item in select(value, pattern):
        if isinstance(item, str | int) and not isinstance(item, bool) and first.setdefault(item, path) != path:
            yield path, f"another value: {place_in_words(first[item])} has this one already"


def _tenants_once(sheets: Sequence[Sheet]) -> Iterator[Found]:
    first: dict[str, str] = {}
    for position, sheet in enumerate(sheets):
        for name in _texts(sheet.value, "metadata.name") if sheet.kind == "Tenant" else ():
            if name in first:
                yield position, ("metadata", "name"), f"a name of its own; {first[name]} has this one"
            first.setdefault(name, sheet.label)


def _one_policy(sheets: Sequence[Sheet]) -> Iterator[Found]:
    found = [(position, sheet) for position, sheet in enumerate(sheets) if sheet.kind == "Policy"]
    for position, _ in found[1:]:
        yield position, ("metadata", "name"), f"one Policy in all; {found[0][1].label} is another"


def _double_claims(sheets: Sequence[Sheet]) -> Iterator[Found]:
    """Namespaces, workspaces and whole selectors with two tenants. What selectors find shows on the living cluster."""
    yield from _equal_selectors(sheets)
    patterns = {
        "namespace": ("spec.members.namespaces.*", "spec.members.localQueues.*.namespace"),
        "workspace": ("spec.members.kubesphereWorkspaces.*",),
    }
    for what, places in patterns.items():
        owner: dict[str, int] = {}
        for position, sheet in enumerate(sheets):
            for path, claimed in (hit for pattern in places for hit in select(sheet.value, pattern)):
                if sheet.kind != "Tenant" or not isinstance(claimed, str):
                    continue
                if owner.setdefault(claimed, position) != position:
                    other = sheets[owner[claimed]].label
                    yield position, path, f"a {what} that no other tenant claims; {other} claims it too"


def _equal_selectors(sheets: Sequence[Sheet]) -> Iterator[Found]:
    owner: dict[tuple[tuple[str, str], ...], str] = {}
    for position, sheet in enumerate(sheets):
        for path, labels in select(sheet.value, "spec.members.namespaceSelector.matchLabels"):
            if sheet.kind == "Tenant" and isinstance(labels, dict) and labels:
                key = tuple(sorted((name, str(value)) for name, value in labels.items()))
                if key in owner:
                    yield position, path, f"labels that no other tenant asks for; {owner[key]} has the same"
                owner.setdefault(key, sheet.label)


def _pools_that_share_nodes(sheets: Sequence[Sheet]) -> Iterator[Found]:
    """Two pools of one resource need a label that tells them apart: else the same GPUs would count twice."""
    for position, sheet in enumerate(sheets):
        earlier: dict[str, list[tuple[ValuePath, dict[str, Any]]]] = {}
        for path, pool in select(sheet.value, "spec.pools.*") if sheet.kind == "Policy" else ():
            fields = pool if isinstance(pool, dict) else {}
            resource, selector = fields.get("resource"), fields.get("nodeSelector", {})
            if not isinstance(resource, str) or not isinstance(selector, dict):
                continue
            others = earlier.setdefault(resource, [])
            twin = next((where for where, other in others if not told_apart(selector, other)), None)
            if twin is not None:
                place = place_in_words(twin)
                yield position, (*path, "nodeSelector"), f"a label that keeps its nodes apart from those of {place}"
            others.append((path, selector))


def told_apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether no node can be chosen by both selectors: a label of which they want different values."""
    return any(other.get(key, value) != value for key, value in one.items())


def _time_for_a_trial(sheets: Sequence[Sheet]) -> Iterator[Found]:
    """A change lives at least as long as its trial may take, and a trial at least one tick."""
    for position, sheet in enumerate(sheets):
        if sheet.kind != "Policy":
            continue
        tick, dwell, ttl = (_seconds_at(sheet.value, place, usual) for place, usual in _RHYTHM.items())
        if tick is not None and dwell is not None and dwell < tick:
            yield position, ("spec", "cadence", "dwell"), f"at least cadence.tick, which is {duration_text(tick)}"
        if dwell is not None and ttl is not None and ttl < dwell:
            words = f"at least cadence.dwell, which is {duration_text(dwell)}: so long a trial may take"
            yield position, ("spec", "revert", "ttl"), words


def _seconds_at(value: Any, place: str, usual: float) -> float | None:
    """The duration written at `place`, the usual one where none is, None where it is none."""
    written = next((found for _, found in select(value, place)), None)
    try:
        return usual if written is None else parse_duration(written)
    except ValueError:
        return None


def _unknown_names(sheets: Sequence[Sheet], policies: list[Any], complete: bool) -> Iterator[Found]:
    # As keys of a dictionary: in order, and found at once among thousands.
    pools = dict.fromkeys(name for policy in policies for name in _texts(policy, "spec.pools.*.name"))
    tiers = dict.fromkeys(name for policy in policies for name in _texts(policy, "spec.tiers.*.name"))
    tenants = dict.fromkeys(
        name for one in sheets if one.kind == "Tenant" for name in _texts(one.value, "metadata.name")
    )
    references = {
        "Tenant": [
            ("spec.tier", "a tier of the Policy", tiers),
            ("spec.pools.*.pool", "a pool of the Policy", pools),
            ("spec.objectives.*.pool", "a pool of the Policy", pools),
        ],
        "Policy": [("spec.targets.pools.*", 'a pool of the Policy or "*"', {"*": None, **pools})]
        + ([("spec.targets.tenants.*", 'a tenant or "*"', {"*": None, **tenants})] if complete else []),
    }
    told = 0
    for position, sheet in enumerate(sheets):
        for pattern, words, known in references.get(sheet.kind, ()):
            for path, name in select(sheet.value, pattern):
                if isinstance(name, str) and name not in known:
                    told += 1
                    near = with_nearest(name, [one for one in known if one != "*"]) if told <= _MOST_SUGGESTIONS else ""
                    yield position, path, f"{words}: {near}" if near else words


def _native_tenants(sheets: Sequence[Sheet], policies: list[Any]) -> Iterator[Found]:
    """A native cap is one ResourceQuota: one pool, and one namespace that is known by name."""
    declared = [pool for policy in policies for _, pool in select(policy, "spec.pools.*")]
    native = {name for pool in declared for name in _texts(pool, "name") if pool.get("engine") == Engine.NATIVE}
    for position, sheet in enumerate(sheets):
        pools = _texts(sheet.value, "spec.pools.*.pool") if sheet.kind == "Tenant" else []
        used = sorted(native & set(pools))
        if not used:
            continue
        second = next((path for path, name in select(sheet.value, "spec.pools.*.pool") if name != pools[0]), None)
        if second is not None:
            yield position, second, f"no second pool: {used[0]} is native, and a native tenant has one pool"
        if not _has_one_named_namespace(sheet.value):
            words = f"exactly one namespace, by name, and no selector or workspace: pool {used[0]} is native"
            yield position, ("spec", "members"), words


def _has_one_named_namespace(tenant: Any) -> bool:
    named = {
        *_texts(tenant, "spec.members.namespaces.*"),
        *_texts(tenant, "spec.members.localQueues.*.namespace"),
    }
    open_ended = [
        *select(tenant, "spec.members.namespaceSelector.matchLabels"),
        *select(tenant, "spec.members.kubesphereWorkspaces.*"),
    ]
    return len(named) == 1 and not open_ended

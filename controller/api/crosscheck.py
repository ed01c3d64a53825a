"""What only several places together show: names used twice, names that nobody declares, double claims. Pure.

Works on plain data, which may still be wrong in shape elsewhere, so that every mistake of a text is said at once. What
a check can not judge because of another mistake, it leaves alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from collector.model.tenancy import Engine
from controller.api.fields import with_nearest
from controller.api.yaml_text import ValuePath, place_in_words

_UNIQUE: Final = {
    "Tenant": ("spec.pools.*.pool", "spec.objectives.*.name"),
    "Policy": ("spec.pools.*.name", "spec.tiers.*.name", "spec.tiers.*.rank", "spec.strategies.*"),
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """One document for checking: its kind, how a message names it, its plain data."""

    kind: str
    label: str
    value: Any


Found: TypeAlias = tuple[int, ValuePath, str]
"""Position of the document, place in it, what was expected there."""


def select(value: Any, pattern: str) -> Iterator[tuple[ValuePath, Any]]:
    """Every place that `pattern` names ("spec.pools.*.name"), with its value; silent where the shape differs."""
    found: list[tuple[ValuePath, Any]] = [((), value)]
    for step in pattern.split("."):
        if step == "*":
            found = [((*p, i), v) for p, parent in found if isinstance(parent, list) for i, v in enumerate(parent)]
        else:
            found = [((*p, step), v[step]) for p, v in found if isinstance(v, dict) and step in v]
    yield from found


def cross_check(sheets: Sequence[Sheet], *, complete: bool) -> Iterator[Found]:
    """All mistakes between places; `complete` False when documents are missing because they could not be read."""
    for position, sheet in enumerate(sheets):
        for pattern in _UNIQUE.get(sheet.kind, ()):
            yield from ((position, path, words) for path, words in _repeated(sheet.value, pattern))
    yield from _tenants_once(sheets)
    yield from _one_policy(sheets)
    yield from _double_claims(sheets)
    policies = [sheet.value for sheet in sheets if sheet.kind == "Policy"]
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
    """Namespaces and workspaces with two tenants. Selectors can only be judged on the living cluster."""
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


def _unknown_names(sheets: Sequence[Sheet], policies: list[Any], complete: bool) -> Iterator[Found]:
    pools = [name for policy in policies for name in _texts(policy, "spec.pools.*.name")]
    tiers = [name for policy in policies for name in _texts(policy, "spec.tiers.*.name")]
    tenants = [name for one in sheets if one.kind == "Tenant" for name in _texts(one.value, "metadata.name")]
    references = {
        "Tenant": [
            ("spec.tier", "a tier of the Policy", tiers),
            ("spec.pools.*.pool", "a pool of the Policy", pools),
            ("spec.objectives.*.pool", "a pool of the Policy", pools),
        ],
        "Policy": [("spec.targets.pools.*", 'a pool of the Policy or "*"', ["*", *pools])]
        + ([("spec.targets.tenants.*", 'a tenant or "*"', ["*", *tenants])] if complete else []),
    }
    for position, sheet in enumerate(sheets):
        for pattern, words, known in references.get(sheet.kind, ()):
            for path, name in select(sheet.value, pattern):
                if isinstance(name, str) and name not in known:
                    named = with_nearest(name, [one for one in known if one != "*"])
                    yield position, path, f"{words}: {named}"


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

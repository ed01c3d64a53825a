"""All own objects of a site, of whatever engine: read from the baseline manifest, seen in a picture, written. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from collector.assemble.capacity import CAP_NAME
from collector.model.objects import Cohort, Picture, ResourceQuota
from collector.model.tenancy import Site
from collector.parse.json_fields import ParseProblem
from collector.parse.kubernetes import resource_quota
from collector.parse.kueue import cohort
from controller.api.errors import InputError, InvariantError, Mistake
from controller.api.yaml_text import place_in_words, read_yaml, told
from controller.knobs import kueue, native
from controller.knobs.kueue import Leaf
from controller.knobs.marks import Mark, marks_of
from controller.knobs.native import Cap
from controller.policy.change import Change
from controller.policy.targets import Target


@dataclass(frozen=True, slots=True)
class Baseline:
    """Every own object as people agreed on it. An empty one means: nothing can be moved here."""

    leaves: tuple[Leaf, ...] = ()
    caps: tuple[Cap, ...] = ()

    @property
    def items(self) -> tuple[Leaf | Cap, ...]:
        """All own objects."""
        return (*self.leaves, *self.caps)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all own objects, in order."""
        return tuple(sorted(item.name for item in self.items))

    def find(self, name: str) -> Leaf | Cap | None:
        """The own object of that name."""
        return next((item for item in self.items if item.name == name), None)

    def only(self, name: str) -> Baseline:
        """The same without all other own objects."""
        leaves = tuple(leaf for leaf in self.leaves if leaf.name == name)
        return Baseline(leaves, tuple(cap for cap in self.caps if cap.name == name))


def read_baseline(text: str, origin: str) -> Baseline:
    """Cohorts and ResourceQuotas of a baseline manifest. Raises InputError that names the document and the field."""
    leaves: list[Leaf] = []
    caps: list[Cap] = []
    for number, document in enumerate(_documents(text, origin), 1):
        place = f"{origin}: document {number}"
        kind = document.get("kind") if isinstance(document, Mapping) else document
        if isinstance(document, Mapping) and kind == "Cohort":
            leaves.append(kueue.read_leaf(document, place))
        elif isinstance(document, Mapping) and kind == "ResourceQuota":
            caps.append(native.read_cap(document, place))
        else:
            raise InputError((Mistake(f"{place}: kind", told(kind), "Cohort or ResourceQuota"),))
    baseline = Baseline(tuple(sorted(leaves, key=_name)), tuple(sorted(caps, key=_name)))
    doubles = sorted({name for name in baseline.names if baseline.names.count(name) > 1})
    if doubles:
        raise InputError((Mistake(origin, f"{doubles[0]} twice", "each own object once"),))
    return baseline


def _documents(text: str, origin: str) -> Sequence[Any]:
    """The plain values of a manifest, nothing between two separators left out. Raises InputError."""
    documents, flaw = read_yaml(text)
    if flaw is not None:
        raise InputError((Mistake(f"{origin}: line {flaw.line}", flaw.written, f"YAML documents: {flaw.problem}"),))
    wrong = [
        Mistake(f"{origin}: document {number}: {place_in_words(one.path)}", one.written, one.expected)
        for number, document in enumerate(documents, 1)
        for one in document.flaws
    ]
    if wrong:
        raise InputError(tuple(wrong))
    return [document.value for document in documents if document.value is not None]


def _name(item: Leaf | Cap) -> str:
    return item.name


def baseline_for(site: Site, picture: Picture, shared: Mapping[str, int]) -> Baseline:
    """The baseline that the documents agree on; `shared`: Kueue pool → GPUs lent to everybody. Raises InputError."""
    return Baseline(kueue.leaves_for(site, picture, shared), native.caps_for(site))


def baseline_text(baseline: Baseline) -> str:
    """The baseline as the manifest that people keep."""
    manifests = [baseline_manifest(item)[1] for item in baseline.items]
    return str(yaml.safe_dump_all(manifests, sort_keys=False))


def targets(baseline: Baseline, picture: Picture, site: Site) -> tuple[Target, ...]:
    """Each pool's part of each own object, with its baseline and what the cluster shows, in order of names."""
    found = (*kueue.targets(baseline.leaves, picture, site), *native.targets(baseline.caps, picture, site))
    return tuple(sorted(found, key=lambda target: (target.name, target.pool)))


def manifest(
    baseline: Baseline, name: str, site: Site, own: Sequence[Target], changes: Sequence[Change]
) -> tuple[str, dict[str, Any]]:
    """Path and whole manifest of an own object at the levels that the ledger asks for. Raises InvariantError."""
    found = baseline.find(name)
    if found is None:
        raise InvariantError(f"{name} is no own object of the baseline")
    if isinstance(found, Leaf):
        return kueue.manifest_path(name), kueue.manifest(found, site, own, changes)
    return native.manifest_path(found), native.manifest(found, own, changes)


def at_version(manifest: Mapping[str, Any], picture: Picture) -> dict[str, Any]:
    """The manifest, to be taken only while the object is at the version that the picture shows, if it shows one."""
    metadata = manifest["metadata"]
    if manifest["kind"] == "Cohort":
        shown: Cohort | ResourceQuota | None = picture.cohorts.get(metadata["name"])
    else:
        place = metadata["namespace"], metadata["name"]
        shown = next((one for one in picture.resource_quotas if (one.namespace, one.name) == place), None)
    if shown is None or not shown.resource_version:
        return dict(manifest)
    return {**manifest, "metadata": {**metadata, "resourceVersion": shown.resource_version}}


def baseline_manifest(item: Leaf | Cap) -> tuple[str, dict[str, Any]]:
    """Path and manifest of an own object as agreed, with no change in force on it."""
    if isinstance(item, Leaf):
        return kueue.manifest_path(item.name), kueue.cohort_manifest(item, item.amounts, {})
    return native.manifest_path(item), native.cap_manifest(item, item.gpus, {})


def with_answer(picture: Picture, answer: Mapping[str, Any]) -> Picture:
    """The picture in which an own object is as the API server just answered."""
    try:
        if answer.get("kind") == "Cohort":
            one = cohort(dict(answer))
            return replace(picture, cohorts={**picture.cohorts, one.name: one})
        quota = resource_quota(dict(answer))
    except ParseProblem as problem:
        raise InvariantError(f"an own object can not be read back: {problem}") from problem
    others = [q for q in picture.resource_quotas if (q.namespace, q.name) != (quota.namespace, quota.name)]
    return replace(picture, resource_quotas=(*others, quota))


def marks(baseline: Baseline, picture: Picture) -> tuple[Mark, ...]:
    """What the own objects say of the changes in force on them."""
    found: list[Mark] = []
    for leaf in baseline.leaves:
        if leaf.name in picture.cohorts:
            found += marks_of(leaf.name, picture.cohorts[leaf.name].annotations)
    caps = {(cap.namespace, CAP_NAME): cap.name for cap in baseline.caps}
    for quota in picture.resource_quotas:
        if (quota.namespace, quota.name) in caps:
            found += marks_of(caps[quota.namespace, quota.name], quota.annotations)
    return tuple(found)


def lowered_first(baseline: Baseline, picture: Picture) -> Iterable[Leaf | Cap]:
    """The own objects in the order in which the baseline is written: what holds too much comes first."""
    held = {name: sum(quota.nominal for quota in one.quotas.values()) for name, one in picture.cohorts.items()}
    for quota in picture.resource_quotas:
        held[f"{quota.namespace}/{quota.name}"] = sum(quota.hard.values())

    def rise(item: Leaf | Cap) -> tuple[int, str]:
        agreed = sum(item.amounts.values()) if isinstance(item, Leaf) else item.gpus
        return agreed - held.get(item.name, 0), item.name

    return sorted(baseline.items, key=rise)

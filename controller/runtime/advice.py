"""What a person can apply by hand, out of what a look decided: each field, before and after, and the whole command.

The objects are just those that Trimtab would write, marked with the change in the same apply. So a change that a person
has applied is known by its mark, judged by its own forecast, and ends by itself as any other. Writes nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from collector.model.reading import Known
from collector.model.tenancy import Site
from controller.actuators.server_side_apply import FIELD_MANAGER
from controller.knobs import own
from controller.policy.change import IDLE, Change
from controller.policy.ledger import Ledger
from controller.policy.targets import Target

_APPLY = f"kubectl apply --server-side --field-manager={FIELD_MANAGER} -f -"
_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """One field of an own object. `before` is what the cluster shows."""

    kind: str
    name: str
    namespace: str
    """"" for what stands in none."""
    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Advice:
    """One change that a person may apply."""

    change: Change
    fields: tuple[FieldDiff, ...]
    """Of what is taken from first."""
    command: str
    """For a shell: takes first, and gives only when that was accepted."""

    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        fields = [{name: getattr(one, name) for name in FieldDiff.__slots__} for one in self.fields]
        told = {"change": self.change.id, "tenant": self.change.tenant, "pool": self.change.pool}
        return {**told, "reason": self.change.reason, "fields": fields, "command": self.command}


def advice(
    before: Ledger, decided: Ledger, baseline: own.Baseline, site: Site, targets: Sequence[Target]
) -> tuple[Advice, ...]:
    """The changes of `decided` that `before` does not know, in order, each as if it were applied alone."""
    known = {change.id for change in before.changes}
    new = [change for change in decided.changes if change.id not in known]
    return tuple(_advice(change, before, baseline, site, targets) for change in new)


def _advice(change: Change, ledger: Ledger, baseline: own.Baseline, site: Site, targets: Sequence[Target]) -> Advice:
    whole = replace(change, taken=change.amount, given=change.amount)
    names = [name for name in (change.source, change.destination) if name != IDLE]
    # Levels as they are seen, told as if they were agreed: a manifest of the present.
    seen = [replace(t, baseline=t.observed.value) if isinstance(t.observed, Known) else t for t in targets]
    fields: list[FieldDiff] = []
    manifests: list[Mapping[str, Any]] = []
    for name in names:
        _, present = own.manifest(baseline, name, site, seen, ())
        _, wanted = own.manifest(baseline, name, site, targets, (*ledger.changes, whole))
        metadata = wanted["metadata"]
        for path, old, new in _differences("spec", present["spec"], wanted["spec"]):
            fields.append(FieldDiff(wanted["kind"], metadata["name"], metadata.get("namespace", ""), path, old, new))
        manifests.append(wanted)
    return Advice(change, tuple(fields), _command(manifests))


def _differences(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """Fields that differ, named as `kubectl explain` and JSON paths do."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            plain = str(key).isidentifier()
            yield from _differences(f"{path}.{key}" if plain else f"{path}['{key}']", before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(f"{path}[{number}]", old, new)
    elif before != after:
        yield path, before, after


def _command(manifests: Sequence[Mapping[str, Any]]) -> str:
    """One apply for each object, joined so that the next runs only when the one before was accepted."""
    ends = [f"END{number}" for number in range(1, len(manifests) + 1)]
    line = " && ".join(f"{_APPLY} <<'{end}'" for end in ends)
    texts = (yaml.safe_dump(dict(manifest), sort_keys=False, width=1000) for manifest in manifests)
    return line + "\n" + "".join(f"{text}{end}\n" for text, end in zip(texts, ends, strict=True))


@dataclass(slots=True)
class Advised:
    """What was advised since the start, so that a change that a person applied keeps its reason and its forecast."""

    _changes: dict[str, Change] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)

    def remember(self, told: Iterable[Advice]) -> None:
        """Keep it; of very much the newest."""
        self._changes |= {one.change.id: one.change for one in told}
        for old in list(self._changes)[:-_REMEMBERED]:
            del self._changes[old]

    def recognised(self, marked: Change) -> Change | None:
        """The advised change behind one that only its marks tell of; `marked` itself for any other.

        None while a person is between the take and the give: the next look decides.
        """
        told = self._changes.get(marked.id)
        if told is None:
            return marked
        if marked.taken == marked.given == told.amount:
            return replace(told, taken=told.amount, given=told.amount)
        if marked.id in self._begun:
            return marked
        self._begun.add(marked.id)
        return None

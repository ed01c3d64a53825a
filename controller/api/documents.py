"""From text to what was agreed: one or more YAML texts become one `Site` and one `Policy`, or all their mistakes. Pure.

`parse_documents` for one text; for several, `read_documents` each and `combine` them. Reading files is left to
`controller.runtime.configuration`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from pydantic import ValidationError

from collector.model.tenancy import Site
from controller.api.border import API_VERSION, PolicyModel, TenantModel
from controller.api.crosscheck import cross_check
from controller.api.errors import InputError, Mistake
from controller.api.fields import with_nearest
from controller.api.policy import Policy
from controller.api.sheets import Sheet
from controller.api.wording import mistakes_in_words
from controller.api.yaml_text import (
    SyntaxFlaw,
    ValuePath,
    YamlDocument,
    place_in_words,
    printable,
    read_yaml,
    shortened,
)

_Model: TypeAlias = TenantModel | PolicyModel
_MODELS: Final[Mapping[str, type[TenantModel] | type[PolicyModel]]] = {
    "Tenant": TenantModel,
    "Policy": PolicyModel,
}
_ADDED_BY_THE_API_SERVER: Final = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "ownerReferences",
        "finalizers",
        "selfLink",
    }
)
_BOTH_KINDS: Final = f"documents of apiVersion {API_VERSION}, kind Tenant or Policy"


@dataclass(frozen=True, slots=True)
class Documents:
    """Everything people wrote, validated."""

    site: Site
    policy: Policy
    oldest_head_seconds: Mapping[str, float] = field(default_factory=dict)
    """Tier → how old the oldest waiting head may be; a tier without a limit is absent."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One document as read, good or not. A text that could not be read is a draft without kind, with its mistakes."""

    origin: str
    number: int
    kind: str
    name: str
    value: Any
    written: Mapping[ValuePath, str]
    mistakes: tuple[Mistake, ...] = ()
    faulty: tuple[ValuePath, ...] = ()
    """The places of `mistakes`."""
    model: _Model | None = None

    @property
    def label(self) -> str:
        """`tenants.yaml: document 2 (Tenant vision)`."""
        who = " ".join(filter(None, (self.kind, self.name)))
        return f"{self.origin}: document {self.number}" + (f" ({who})" if who else "")

    def written_at(self, path: ValuePath) -> str:
        """What stands at `path`, as written."""
        return self.written.get(path, "nothing")

    def mistake(self, path: ValuePath, expected: str, written: str | None = None) -> Mistake:
        """What is wrong at `path`; `written` is what stands there, when that is not to be looked up."""
        place = f"{self.label}: {place_in_words(path)}" if path else self.label
        return Mistake(printable(place), written or self.written_at(path), printable(expected))


def parse_documents(text: str, origin: str, cluster: str = "default") -> Documents:
    """The documents of one text. Raises InputError with every mistake, and nothing else, whatever `text` is."""
    return combine(read_documents(text, origin), cluster)


def read_documents(text: str, origin: str) -> tuple[Draft, ...]:
    """The drafts of one text; `origin` names it in messages. Raises nothing: mistakes are kept with their draft."""
    documents, flaw = read_yaml(text)
    drafts = [
        _draft(document, origin, number)
        for number, document in enumerate(documents, 1)
        # Nothing between two separators is nothing, as for kubectl.
        if document.value is not None or document.flaws
    ]
    if flaw is not None:
        drafts.append(_unread(origin, len(documents) + 1, _syntax_mistake(origin, flaw)))
    elif not drafts:
        drafts.append(_unread(origin, 1, Mistake(printable(origin), "an empty text", _BOTH_KINDS)))
    return tuple(drafts)


def combine(drafts: Sequence[Draft], cluster: str, capacity: Mapping[str, int] | None = None) -> Documents:
    """Join the drafts of one or more texts; `capacity`: pool → GPUs, where somebody knows.

    Raises InputError with the mistakes of all of them.
    """
    mistakes = [*_mistakes(drafts, capacity or {})]
    models = [draft.model for draft in drafts]
    policies = [model for model in models if isinstance(model, PolicyModel)]
    if mistakes or len(policies) != 1:
        raise InputError(tuple(dict.fromkeys(mistakes)))
    spec = policies[0].spec
    site = Site(
        cluster=cluster,
        pools=tuple(pool.value() for pool in spec.pools),
        tiers=tuple(tier.value() for tier in spec.tiers),
        tenants=tuple(model.value() for model in models if isinstance(model, TenantModel)),
    )
    heads = {tier.name: tier.oldest_head for tier in spec.tiers if tier.oldest_head is not None}
    return Documents(site, policies[0].value(), heads)


def _mistakes(drafts: Sequence[Draft], capacity: Mapping[str, int]) -> Iterator[Mistake]:
    """Mistakes in the order of the documents."""
    unread = any(not draft.kind for draft in drafts)
    sheets = [Sheet(draft.kind, draft.label, draft.value) for draft in drafts]
    crossed: dict[int, list[tuple[ValuePath, str]]] = defaultdict(list)
    for where, path, words in cross_check(sheets, complete=not unread, capacity=capacity):
        crossed[where].append((path, words))
    for position, draft in enumerate(drafts):
        yield from draft.mistakes
        yield from (
            draft.mistake(path, words)
            for path, words in crossed[position]
            # What is wrong in itself is not blamed once more for what it therefore does not say.
            if not any(faulty[: len(path)] == path for faulty in draft.faulty)
        )
    if not unread and not any(draft.kind == "Policy" for draft in drafts):
        origins = ", ".join(dict.fromkeys(draft.origin for draft in drafts)) or "the configuration"
        yield Mistake(printable(origins), "no Policy", "exactly one document of kind Policy")


def _draft(document: YamlDocument, origin: str, number: int) -> Draft:
    value = _without_the_servers_part(document.value)
    kind = _text_at(value, "kind")
    model = _MODELS.get(kind)
    draft = Draft(
        origin=origin,
        number=number,
        kind=kind if model else "",
        name=shortened(_text_at(value.get("metadata") if isinstance(value, dict) else None, "name")),
        value=value,
        written=document.written,
    )
    validated, found = _validated(value, model)
    wrong = [(flaw.path, flaw.written, flaw.expected) for flaw in document.flaws]
    flawed = {path for path, _, _ in wrong}
    wrong += [(path, draft.written_at(path), words) for path, words in found if path not in flawed]
    mistakes = tuple(draft.mistake(path, words, written) for path, written, words in wrong)
    return replace(draft, mistakes=mistakes, faulty=tuple(path for path, _, _ in wrong), model=validated)


def _validated(
    value: Any, model: type[TenantModel] | type[PolicyModel] | None
) -> tuple[_Model | None, Iterable[tuple[ValuePath, str]]]:
    """The model, or what keeps `value` from being one."""
    if not isinstance(value, dict):
        return None, [((), "a mapping with the keys apiVersion, kind, metadata and spec")]
    if model is None:
        return None, [(("kind",), "one of " + with_nearest(value.get("kind"), _MODELS)), *_wrong_version(value)]
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        return None, mistakes_in_words(model, error)


def _wrong_version(value: dict[str, Any]) -> Iterable[tuple[ValuePath, str]]:
    return [] if value.get("apiVersion") == API_VERSION else [(("apiVersion",), API_VERSION)]


def _without_the_servers_part(value: Any) -> Any:
    """A document read back from the API server carries `status` and metadata that nobody wrote: not ours to judge."""
    if not isinstance(value, dict):
        return value
    kept = {key: part for key, part in value.items() if key != "status"}
    if isinstance(metadata := kept.get("metadata"), dict):
        kept["metadata"] = {k: v for k, v in metadata.items() if k not in _ADDED_BY_THE_API_SERVER}
    return kept


def _text_at(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _unread(origin: str, number: int, mistake: Mistake) -> Draft:
    return Draft(origin, number, "", "", None, {}, (mistake,))


def _syntax_mistake(origin: str, flaw: SyntaxFlaw) -> Mistake:
    return Mistake(printable(f"{origin}: line {flaw.line}"), flaw.written, f"YAML, which this is not: {flaw.problem}")

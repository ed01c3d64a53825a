"""What the two files about probes share: addresses, variables of UCX, and how a file of one mapping is judged. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, ValidationError

from controller.api.border import Border
from controller.api.errors import InputError, Mistake
from controller.api.wording import mistakes_in_words
from controller.api.yaml_text import ValuePath, YamlDocument, place_in_words, printable, read_yaml

_ADDRESS: Final = re.compile(r"[0-9A-Za-z:][0-9A-Za-z.:%-]{0,252}")
_VARIABLE: Final = re.compile(r"UCX_[A-Z0-9_]+")
_SETTING: Final = re.compile(r"[A-Za-z0-9_.,:/^+=@%-]+")

M = TypeVar("M", bound=Border)


def _address(text: str) -> str:
    # It becomes a word of a command: one that begins with a dash would be an option.
    if not _ADDRESS.fullmatch(text):
        raise ValueError("an IP address or a host name")
    return text


def _variables(settings: dict[str, str]) -> dict[str, str]:
    wrong = sorted(name for name in settings if not _VARIABLE.fullmatch(name))
    if wrong:
        raise ValueError(f"variables of UCX, such as UCX_TLS, and not {wrong[0]}")
    # An `ssh` before the command hands it to a shell at the other end.
    unsafe = sorted(name for name, value in settings.items() if not _SETTING.fullmatch(value))
    if unsafe:
        raise ValueError(f"for {unsafe[0]} a value of letters, digits and _ . , : / ^ + = @ % -")
    return settings


Address = Annotated[str, AfterValidator(_address)]
UcxVariables = Annotated[dict[str, str], AfterValidator(_variables)]


def parsed(
    model: type[M], text: str, origin: str, key: str, crossed: Callable[[M], Iterable[tuple[ValuePath, str]]]
) -> M:
    """The one mapping in a text, which must have `key`; `crossed` finds what no field shows. Raises InputError."""
    documents, flaw = read_yaml(text)
    if flaw is not None:
        place = printable(f"{origin}: line {flaw.line}")
        raise InputError((Mistake(place, flaw.written, f"YAML, which this is not: {flaw.problem}"),))
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        found = f"{len(documents)} documents"
        raise InputError((Mistake(printable(origin), found, f"one mapping with the key {key}"),))
    document = documents[0]
    wrong = [(one.path, one.expected) for one in document.flaws]
    try:
        found_model = model.model_validate(document.value)
    except ValidationError as error:
        wrong += mistakes_in_words(model, error)
        raise InputError(_mistakes(origin, document, wrong)) from None
    wrong += crossed(found_model)
    if wrong:
        raise InputError(_mistakes(origin, document, wrong))
    return found_model


def _mistakes(origin: str, document: YamlDocument, wrong: list[tuple[ValuePath, str]]) -> tuple[Mistake, ...]:
    return tuple(
        Mistake(
            printable(f"{origin}: {place_in_words(path)}" if path else origin),
            document.written.get(path, "nothing"),
            printable(expected),
        )
        for path, expected in wrong
    )

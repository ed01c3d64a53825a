"""What pydantic found wrong, in the words of a person who writes the document. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from controller.api.fields import with_nearest
from controller.api.yaml_text import ValuePath

_PLAIN: Final = {
    "missing": "a value: this key is required",
    "model_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
    "list_type": "a list",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_too_short": "text that is not empty",
    "too_short": "at least one entry",
}
_BOUND: Final = {
    "greater_than": ("gt", "a number above {}"),
    "greater_than_equal": ("ge", "a number of at least {}"),
    "less_than": ("lt", "a number below {}"),
    "less_than_equal": ("le", "a number of at most {}"),
}


def mistakes_in_words(model: type[BaseModel], error: ValidationError) -> Iterator[tuple[ValuePath, str]]:
    """For each thing wrong with a document of `model`: its place, and what was expected there."""
    for detail in error.errors(include_url=False):
        # Of a key that was left out pydantic gives our own name, not the written one.
        path, _ = _followed(model, detail["loc"])
        yield path, _expected(model, detail)


def _expected(model: type[BaseModel], detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _BOUND:
        key, words = _BOUND[kind]
        return words.format(context[key])
    match kind:
        case "extra_forbidden":
            _, around = _followed(model, detail["loc"][:-1])
            known = [field.alias or name for name, field in around.model_fields.items()] if around else []
            return "a known key here: " + with_nearest(detail["loc"][-1], known)
        case "string_type":
            return _text_expected(detail["input"])
        case "literal_error":
            choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
            return "one of " + with_nearest(detail["input"], choices) if len(choices) > 1 else choices[0]
        case "value_error":
            return str(context["error"])
    return detail["msg"]


def _text_expected(value: Any) -> str:
    """YAML makes numbers and truth values of words that look like them: say how to keep them text."""
    if isinstance(value, bool | int | float):
        return f"text: YAML reads this as {'true or false' if isinstance(value, bool) else 'a number'}, quote it"
    return "text"


def _followed(model: type[BaseModel], path: ValuePath) -> tuple[ValuePath, type[BaseModel] | None]:
    """`path` with its keys as people write them, and the model of the mapping at its end, if it has one."""
    here: type[BaseModel] | None = model
    written: list[str | int] = []
    for step in path:
        field = None
        if isinstance(step, str):  # a position in a list changes nothing: `here` is the model of its entries
            field = _field(here, step)
            here = next(_models(field.annotation), None) if field else None
        written.append(field.alias or step if field else step)
    return tuple(written), here


def _field(model: type[BaseModel] | None, key: str) -> FieldInfo | None:
    fields = model.model_fields if model else {}
    return next((field for name, field in fields.items() if key in (field.alias, name)), None)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models inside `list[Model]`, `Model | None` or `Model`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)

"""YAML text as plain values, with what was written at each place. Pure; knows nothing of tenants or policies.

Values are those of JSON. What YAML would make of other text (dates, `0x10`, `1:30`, tags) stays the text it is, so
that a message shows what a person wrote. Refused: a key twice, other keys than words, tags, nesting without end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import yaml
from yaml.composer import Composer

from controller.api.shown_values import shortened

ValuePath: TypeAlias = tuple[str | int, ...]
"""Keys and list positions from the root of a document to one value."""

DEEPEST_NESTING: Final = 50
MOST_VALUES: Final = 50_000
"""Per document, aliases expanded: more is an accident or an attack."""

_PREFIX: Final = "tag:yaml.org,2002:"
_WHOLE_NUMBER: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_INFINITE_OR_NAN: Final = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
_TRUE_WORDS: Final = ("true", "yes", "on")
_PLAIN_KEY: Final = re.compile(r"[\w-]+")
# Kubernetes reads 1e3 as a number, PyYAML alone as text: here it is what it is there.
_EXPONENT: Final = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Flaw:
    """A place that is no good YAML for a document: where, what stands there, what was expected."""

    path: ValuePath
    written: str
    expected: str


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """One document of a text: `value` is plain data, `written` the text that each value was made from."""

    value: Any
    written: Mapping[ValuePath, str]
    flaws: tuple[Flaw, ...]


@dataclass(frozen=True, slots=True)
class SyntaxFlaw:
    """Where reading ended: nothing after this line could be read."""

    line: int
    written: str
    problem: str


class _TooMuch(yaml.MarkedYAMLError):
    """A document that is nested too deeply, or too large."""

    def __init__(self, problem: str, mark: Any) -> None:
        super().__init__(problem=problem, problem_mark=mark)


class _Loader(Composer, yaml.CSafeLoader):
    """Composes nodes, and ends at a nesting that no document of ours has.

    Signs become events in C, five times as fast as in Python; nodes are composed in Python, where depth is counted.
    """

    depth = 0

    def __init__(self, text: str) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            problem = f"lists and mappings nested more than {DEEPEST_NESTING} deep"
            raise _TooMuch(problem, getattr(self.peek_event(), "start_mark", None))
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class Dumper(yaml.SafeDumper):
    """Writes what this module reads: quotes text that would be read as a number."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never write anchors: people edit this text."""
        return True


for _resolver in (_Loader, Dumper):
    _resolver.add_implicit_resolver(f"{_PREFIX}float", _EXPONENT, list("-+0123456789"))


def read_yaml(text: str) -> tuple[tuple[YamlDocument, ...], SyntaxFlaw | None]:
    """The documents of `text` up to its first error of syntax, and that error. Raises nothing."""
    text = text.removeprefix("\ufeff")  # a byte order mark is no part of the text, and shifts every place in it
    documents: list[YamlDocument] = []
    try:
        for node in yaml.compose_all(text, Loader=_Loader):
            reading = _Reading(text)
            documents.append(reading.document(node))
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # bad escapes reach us as the latter two
        return tuple(documents), _syntax_flaw(text, error)
    return tuple(documents), None


def place_in_words(path: ValuePath) -> str:
    """`spec.pools[0].guarantee`; keys with other signs than those of a word stand in brackets and quotes."""
    words = ""
    for step in path:
        if isinstance(step, int):
            words += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            words += f".{step}" if words else step
        else:
            words += f"[{json.dumps(step)}]"
    return words


class _Reading:
    """One document on its way from nodes to plain values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._written: dict[ValuePath, str] = {}
        self._flaws: list[Flaw] = []
        self._count = 0

    def document(self, node: yaml.Node | None) -> YamlDocument:
        value = None if node is None else self._value(node, ())
        return YamlDocument(value, self._written, tuple(self._flaws))

    def _value(self, node: yaml.Node, path: ValuePath) -> Any:
        self._count += 1
        if self._count > MOST_VALUES or len(path) > DEEPEST_NESTING:
            raise _TooMuch("too large or without end, once its aliases are expanded", node.start_mark)
        self._written[path] = self._source(node)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_PREFIX}map":
            return {key: self._value(value, (*path, key)) for key, value in self._pairs(node, path)}
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_PREFIX}seq":
            return [self._value(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        self._flaws.append(Flaw(path, _short_tag(node), "a value without a tag"))
        return None

    def _pairs(self, node: yaml.MappingNode, path: ValuePath) -> Iterator[tuple[str, yaml.Node]]:
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._flaws.append(Flaw(path, "a list or mapping as a key", "a word as a key"))
                continue
            # Keys are text whatever YAML makes of them: `on: x` has the key "on".
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if key in lines:
                expected = f"each key once; this one stands on line {lines[key]} and again on line {line}"
                self._flaws.append(Flaw((*path, key), self._source(value_node), expected))
                continue
            lines[key] = line
            yield key, value_node

    def _source(self, node: yaml.Node) -> str:
        if isinstance(node, yaml.ScalarNode) and not node.value and not node.style:
            return "nothing"  # the marks of what is not there stand somewhere near it
        start, end = node.start_mark.index, node.end_mark.index
        # More is never shown, and whole slices on every level would cost the square of the depth.
        return shortened(self._text[start : min(end, start + 240)]) or "nothing"

    def _scalar(self, node: yaml.ScalarNode, path: ValuePath) -> Any:
        text = str(node.value)
        match node.tag.removeprefix(_PREFIX):
            case "null":
                return None
            case "bool":
                return text.lower() in _TRUE_WORDS
            case "int" if _WHOLE_NUMBER.fullmatch(text):
                return int(text)
            case "float" if _NUMBER.fullmatch(text):
                return float(text)
            case "float" if text.lower() in _INFINITE_OR_NAN:
                return float(_INFINITE_OR_NAN[text.lower()])
            case "str" | "int" | "float" | "timestamp" | "merge" | "value":
                return text
        self._flaws.append(Flaw(path, _short_tag(node), "a value without a tag"))
        return None


def _short_tag(node: yaml.Node) -> str:
    return shortened(f"!!{node.tag.removeprefix(_PREFIX)}" if node.tag.startswith(_PREFIX) else node.tag)


def _syntax_flaw(text: str, error: Exception) -> SyntaxFlaw:
    lines = text.splitlines() or [""]
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return SyntaxFlaw(1, shortened(lines[0]), shortened(str(error), 160))
    written = lines[mark.line] if mark.line < len(lines) else "the end of the text"
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or str(error)
    return SyntaxFlaw(mark.line + 1, shortened(written) or "an empty line", shortened(str(problem), 160))

"""House rules for boards, checked on the finished JSON: what people and Grafana need, and names that exist. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from alerts.promql import output_labels, problems
from dashboards.finish import PROMETHEUS, TAG
from dashboards.house import GRID_WIDTH, Unit
from dashboards.variables import DATASOURCE

PANEL_TYPES: Final = frozenset({"stat", "timeseries", "table", "row"})
"""What the house builds. None of it is an Angular panel, which Grafana 12 no longer shows."""
LONGEST_UID: Final = 40

_ON_TIME_RANGE_CHANGE: Final = 2
_BUILT_IN: Final = {"__rate_interval": "5m"}
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)[^}]*\}|(\w+))")
_LABEL: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LABEL_VALUES: Final = re.compile(r"label_values\((?P<selector>.+), (?P<label>\w+)\)")
_BARE_COUNTER: Final = re.compile(r"\b\w+_total\b(?:\{[^}]*\})?(?!\[)(?![\w{])")
_FIXED_RATE: Final = re.compile(r"\b(?:rate|irate|increase)\([^()]*\[(?!\$__rate_interval\])")

Document = Mapping[str, Any]


def board_problems(board: Document) -> tuple[str, ...]:
    """What breaks a house rule, each as "place: what"; empty for a sound board."""
    panels = list(_all_panels(board["panels"]))
    return (
        *_of_board(board),
        *_of_variables(board, panels),
        *(f"panel {panel.get('title')!r}: {what}" for panel in panels for what in _of_panel(panel)),
        *_of_all_panels(panels),
        *(f"annotation {one.get('name')!r}: {what}" for one in _listed(board, "annotations") for what in _of_mark(one)),
    )


def expressions(board: Document) -> tuple[str, ...]:
    """Every query of panels and annotations, as it stands."""
    of_panels = (
        target.get("expr", "") for panel in _all_panels(board["panels"]) for target in panel.get("targets", ())
    )
    return (*of_panels, *(mark.get("expr", "") for mark in _listed(board, "annotations")))


def substituted(text: str, values: Mapping[str, str]) -> str:
    """The text with every variable replaced by its value, and by a mere name where there is none, so that it parses."""
    known = {**_BUILT_IN, **values}
    return _VARIABLE.sub(lambda found: known.get(found[1] or found[2], "x"), text)


def _listed(board: Document, part: str) -> Sequence[Document]:
    return (board.get(part) or {}).get("list") or ()


def _all_panels(panels: Sequence[Document]) -> Iterator[Document]:
    for panel in panels:
        yield panel
        yield from _all_panels(panel.get("panels", ()))


def _of_board(board: Document) -> Iterator[str]:
    uid = str(board.get("uid", ""))
    if not uid.startswith(f"{TAG}-") or len(uid) > LONGEST_UID:
        yield f"board: uid {uid!r} does not begin with {TAG}- or is longer than {LONGEST_UID} characters"
    if board.get("id") is not None:
        yield "board: has an id, which is one database's own"
    if TAG not in board.get("tags", ()):
        yield f"board: is not tagged {TAG}"
    if not board.get("title") or not board.get("description"):
        yield "board: has no title or no description"
    if board.get("editable", True):
        yield "board: is editable; what is edited there is lost with the next version"


def _of_variables(board: Document, panels: Sequence[Document]) -> Iterator[str]:
    variables = _listed(board, "templating")
    names = [variable["name"] for variable in variables]
    sources = [variable["name"] for variable in variables if variable["type"] == "datasource"]
    if sources != [DATASOURCE] or names[:1] != [DATASOURCE]:
        yield f"board: the first variable, and no other, is the data source named {DATASOURCE}"
    asked = [*expressions(board), *(str(variable["query"]) for variable in variables)]
    asked += [str(panel.get("datasource", "")) for panel in panels]
    used = {found[1] or found[2] for text in asked for found in _VARIABLE.finditer(text)}
    yield from (f"variable {name}: is not used" for name in names if name not in used)
    yield from (f"variable {name}: is used and not defined" for name in sorted(used - {*names, *_BUILT_IN}))
    for variable in variables:
        if variable["type"] == "query":
            yield from (f"variable {variable['name']}: {what}" for what in _of_query_variable(variable))


def _of_query_variable(variable: Document) -> Iterator[str]:
    if variable.get("datasource") != PROMETHEUS:
        yield "does not read the board's data source"
    if variable.get("refresh") != _ON_TIME_RANGE_CHANGE:
        yield "is not read again when the time range changes"
    found = _LABEL_VALUES.fullmatch(variable["query"])
    if found is None:
        yield f"{variable['query']}: is not label_values(metric{{…}}, label)"
        return
    selector = substituted(found["selector"], {})
    yield from problems(selector)
    if not problems(selector) and found["label"] not in (output_labels(selector) or ()):
        yield f"{found['selector']}: has no label {found['label']}"


def _of_panel(panel: Document) -> Iterator[str]:
    if panel["type"] not in PANEL_TYPES:
        yield f"type {panel['type']} is none of the house"
    if not panel.get("title"):
        yield "has no title"
    if panel["type"] == "row":
        return
    if not str(panel.get("description", "")).endswith("."):
        yield "its description is no sentence"
    if panel.get("fieldConfig", {}).get("defaults", {}).get("unit") not in set(Unit):
        yield "has no unit of the house"
    if panel.get("datasource") != PROMETHEUS:
        yield "does not read the board's data source"
    targets = panel.get("targets", ())
    if not targets:
        yield "asks nothing"
    if len({target.get("refId") for target in targets}) != len(targets):
        yield "two queries have one refId"
    for target in targets:
        yield from (f"query {target.get('refId')}: {what}" for what in _of_target(target))


def _of_target(target: Document) -> Iterator[str]:
    if target.get("datasource") != PROMETHEUS:
        yield "does not read the board's data source"
    yield from _of_expr(target.get("expr", ""), target.get("legendFormat", ""))


def _of_mark(mark: Document) -> Iterator[str]:
    if mark.get("datasource") != PROMETHEUS:
        yield "does not read the board's data source"
    tags = " ".join(f"{{{{{name}}}}}" for name in str(mark.get("tagKeys", "")).split(",") if name)
    yield from _of_expr(mark.get("expr", ""), f"{mark.get('titleFormat', '')} {mark.get('textFormat', '')} {tags}")


def _of_expr(expr: str, named: str) -> Iterator[str]:
    """`named`: a text whose {{labels}} must be there."""
    if "$cluster" not in expr:
        yield "does not ask for the cluster that was chosen"
    if _BARE_COUNTER.search(expr):
        yield "shows a counter itself, not its rate or increase"
    if _FIXED_RATE.search(expr):
        yield "a rate over a fixed time: $__rate_interval follows scrapes and zoom"
    asked = substituted(expr, {})
    found = problems(asked)
    yield from found
    if not found:
        lost = set(_LABEL.findall(named)) - (output_labels(asked) or frozenset())
        yield from (f"its names show {label}, which it does not have" for label in sorted(lost))


def _of_all_panels(panels: Sequence[Document]) -> Iterator[str]:
    for what in ("id", "title"):
        counts = Counter(panel.get(what) for panel in panels)
        yield from (f"panels: {what} {value!r} stands {count} times" for value, count in counts.items() if count > 1)
    for panel in panels:
        if panel["gridPos"]["x"] + panel["gridPos"]["w"] > GRID_WIDTH:
            yield f"panel {panel.get('title')!r}: stands out of the grid"
    for one, other in combinations(panels, 2):
        if _overlap(one["gridPos"], other["gridPos"]):
            yield f"panels: {one.get('title')!r} and {other.get('title')!r} overlap"


def _overlap(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
    below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    return not (beside or below)

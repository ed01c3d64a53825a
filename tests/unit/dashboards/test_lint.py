"""The checks of boards find what people would miss and what Grafana would not show; the kept boards pass them all."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from dashboards.boards import tenant
from dashboards.finish import finished
from dashboards.lint import board_problems, expressions, substituted
from dashboards.render import boards

SOUND = finished(tenant.build(), tenant.KEY)
SHORTFALL = "trimtab_tenant_shortfall_gpus"
EVICTIONS = "trimtab_workload_evictions_total"

Board = dict[str, Any]


def _panel(board: Board) -> Any:
    return board["panels"][0]


def _asks(expr: str, legend: str = "") -> Callable[[Board], None]:
    def change(board: Board) -> None:
        _panel(board)["targets"][0].update(expr=expr, legendFormat=legend)

    return change


def _sets(place: Callable[[Board], Any], **values: Any) -> Callable[[Board], None]:
    return lambda board: place(board).update(values)


def _board(board: Board) -> Any:
    return board


def _variable(board: Board) -> Any:
    return board["templating"]["list"][2]


def _mark(board: Board) -> Any:
    return board["annotations"]["list"][0]


def _defaults(board: Board) -> Any:
    return _panel(board)["fieldConfig"]["defaults"]


@pytest.mark.parametrize("key", boards())
def test_every_board_of_the_house_is_sound(key: str) -> None:
    assert board_problems(boards()[key]) == ()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_sets(_board, uid="gpu"), "does not begin with trimtab-"),
        (_sets(_board, uid="trimtab-" + "x" * 40), "longer than 40"),
        (_sets(_board, id=7), "one database's own"),
        (_sets(_board, tags=[]), "is not tagged trimtab"),
        (_sets(_board, description=""), "no title or no description"),
        (_sets(_board, editable=True), "is editable"),
        (lambda board: board["templating"]["list"].reverse(), "the first variable, and no other"),
        (_sets(_variable, name="team"), "variable team: is not used"),
        (_sets(_variable, name="team"), "variable tenant: is used and not defined"),
        (_sets(_variable, datasource=None), "variable tenant: does not read the board's data source"),
        (_sets(_variable, refresh=1), "variable tenant: is not read again"),
        (_sets(_variable, query="tenants"), "is not label_values("),
        (_sets(_variable, query=f"label_values({SHORTFALL}, queue)"), "has no label queue"),
        (_sets(_variable, query="label_values(nothing, tenant)"), "the catalogue has no such metric"),
        (_sets(_panel, type="graph"), "type graph is none of the house"),
        (_sets(_panel, title=""), "has no title"),
        (_sets(_panel, description="gpus"), "its description is no sentence"),
        (_sets(_panel, datasource="Prometheus"), "does not read the board's data source"),
        (_sets(_panel, targets=[]), "asks nothing"),
        (lambda board: _panel(board)["targets"].append(_panel(board)["targets"][0]), "two queries have one refId"),
        (_sets(_defaults, unit=""), "has no unit of the house"),
        (lambda board: _panel(board)["targets"][0].pop("datasource"), "query A: does not read the board's data source"),
        (_asks("sum("), "not PromQL"),
        (_asks(f"max by (cluster) ({SHORTFALL})"), "does not ask for the cluster"),
        (_asks(f'sum ({SHORTFALL}{{cluster="$cluster"}})'), "mixes clusters"),
        (_asks(f'{SHORTFALL}{{cluster="$cluster"}}', "{{queue}}"), "its names show queue"),
        (_asks(f'max by (cluster) ({EVICTIONS}{{cluster="$cluster"}})'), "shows a counter itself"),
        (_asks(f'max by (cluster) (rate({EVICTIONS}{{cluster="$cluster"}}[5m]))'), "a rate over a fixed time"),
        (_sets(_mark, expr='nothing{cluster="$cluster"}'), "annotation 'Changes': nothing"),
        (_sets(_mark, textFormat="{{queue}}"), "its names show queue"),
        (_sets(_mark, tagKeys="node"), "its names show node"),
        (_sets(_mark, datasource=None), "annotation 'Changes': does not read"),
        (lambda board: board["panels"].append(deepcopy(_panel(board))), "stands 2 times"),
        (_sets(_panel, gridPos={"h": 4, "w": 6, "x": 20, "y": 90}), "stands out of the grid"),
        (_sets(_panel, gridPos={"h": 4, "w": 6, "x": 2, "y": 0}), "'Lacks now' and 'Oldest wait' overlap"),
    ],
)
def test_what_breaks_a_rule_is_named(change: Callable[[Board], None], what: str) -> None:
    board = deepcopy(SOUND)
    change(board)
    assert any(what in problem for problem in board_problems(board)), board_problems(board)


def test_a_panel_inside_a_closed_row_is_checked_as_well() -> None:
    board = deepcopy(SOUND)
    row = next(panel for panel in board["panels"] if panel["type"] == "row")
    row["panels"] = [_panel(board) | {"title": "Hidden", "id": 1, "targets": []}]
    assert "panel 'Hidden': asks nothing" in board_problems(board)


def test_variables_are_replaced_in_each_way_of_writing_them() -> None:
    text = 'm{a="$tenant",b="${tenant:regex}",c="$pool"}[$__rate_interval]'
    assert substituted(text, {"tenant": "vision"}) == 'm{a="vision",b="vision",c="x"}[5m]'
    assert substituted("[$__rate_interval]", {"__rate_interval": "15s"}) == "[15s]"


def test_the_questions_of_annotations_count_as_well() -> None:
    assert any("trimtab_tenant_change_gpus" in expr and expr.endswith("> 0") for expr in expressions(SOUND))


@pytest.mark.parametrize("name", ["nvidia-12239.json", "cozystack-gpu-tenants.json", "rpingmesh-mesh-overview.json"])
def test_boards_of_others_are_read_to_the_end_and_found_wanting(shared_folder: Path, name: str) -> None:
    board = json.loads((shared_folder / "fixtures" / "dashboards" / name).read_text(encoding="utf-8"))
    found = board_problems(board)
    assert any("is not tagged trimtab" in problem for problem in found)
    assert any("the catalogue has no such metric" in problem for problem in found)

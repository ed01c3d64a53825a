"""A finished board is what today's Grafana reads: one data source variable, stable ids, nothing of old versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from grafanalib.core import Dashboard

from alerts.rules.timing import DAY
from dashboards.boards import tenant
from dashboards.finish import PROMETHEUS, board_text, finished
from dashboards.house import Band, Query, Told, Unit, series, stacked_bands, stat
from dashboards.lint import board_problems, expressions
from dashboards.render import generated_boards, main

OLD = {"rows", "style", "hideControls", "sharedCrosshair", "gnetId", "__inputs", "intervalFactor", "step", "metric"}
TOLD = Told("Running", "GPUs of work whose pods are Ready.", Unit.GPUS)
EXPR = 'max by (cluster) (trimtab_tenant_running_gpus{cluster="$cluster"})'


def _keys(value: Any) -> set[str]:
    match value:
        case dict():
            return set(value) | {key for inner in value.values() for key in _keys(inner)}
        case list():
            return {key for inner in value for key in _keys(inner)}
    return set()


def _small(*titles: str) -> dict[str, Any]:
    panels = [stat(Told(title, "Says it.", Unit.COUNT), Query(EXPR, "x")) for title in titles]
    return finished(Dashboard(title="T", panels=stacked_bands(Band(4, panels))), "small")


def test_nothing_of_old_grafana_is_left() -> None:
    board = finished(tenant.build(), tenant.KEY)
    panels = {"panels": board["panels"], "templating": board["templating"]}
    assert not _keys(panels) & OLD
    assert not set(board) & OLD


def test_every_panel_and_query_reads_the_data_source_that_was_chosen() -> None:
    board = finished(tenant.build(), tenant.KEY)
    for panel in board["panels"]:
        if panel["type"] != "row":
            assert panel["datasource"] == PROMETHEUS
            assert all(target["datasource"] == PROMETHEUS for target in panel["targets"])


def test_a_panel_keeps_its_id_when_another_is_put_before_it() -> None:
    alone, second = _small("Old")["panels"][0], _small("New", "Old")["panels"][1]
    assert alone["id"] == second["id"]


def test_the_lowest_step_of_a_threshold_stays_null_and_nothing_else_does() -> None:
    defaults = _small("Old")["panels"][0]["fieldConfig"]["defaults"]
    assert defaults["thresholds"]["steps"] == [{"color": "text", "value": None}]
    assert None not in defaults.values()


def test_a_title_over_a_band_pushes_it_down_by_one() -> None:
    first, row, second = stacked_bands(
        Band(4, [series(TOLD, Query(EXPR, "x"))]), Band(8, [series(TOLD, Query(EXPR, "x"))], title="More")
    )
    assert [part.gridPos.y for part in (first, row, second)] == [0, 4, 5]
    assert [part.gridPos.w for part in (first, row, second)] == [24, 24, 24]


def test_colours_follow_the_query_whatever_its_series_are_called() -> None:
    board = finished(tenant.build(), tenant.KEY)
    demand = next(panel for panel in board["panels"] if panel["title"] == "Demand and service")
    by_query = {
        one["matcher"]["options"]: one["properties"][0]["value"]["fixedColor"]
        for one in demand["fieldConfig"]["overrides"]
    }
    assert by_query == {"A": "blue", "B": "green", "C": "red"}


def test_a_site_with_its_own_windows_gets_a_board_about_them() -> None:
    board = finished(tenant.build([7 * DAY, 28 * DAY]), tenant.KEY)
    assert board_problems(board) == ()
    asked = " ".join(expressions(board))
    assert "trimtab:tenant_attainment_ratio:1w" in asked or "trimtab:tenant_attainment_ratio:7d" in asked
    assert "trimtab:tenant_attainment_ratio:28d" in asked


def test_the_text_is_the_same_every_time() -> None:
    assert board_text(finished(tenant.build(), "x")) == board_text(finished(tenant.build(), "x"))


def test_written_boards_are_up_to_date_and_a_change_by_hand_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--root", str(tmp_path)]
    assert main(where) == 0
    assert main([*where, "--check"]) == 0
    path = tmp_path / next(iter(generated_boards()))
    board = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(board_text(board | {"title": "Mine"}), encoding="utf-8")
    assert main([*where, "--check"]) == 1
    assert '-  "title": "Mine"' in capsys.readouterr().out

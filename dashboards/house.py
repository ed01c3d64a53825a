"""The house's panels: each takes its unit and what it tells as arguments, so that none can be without. Pure.

Makes grafanalib objects only; `dashboards.finish` turns a whole board into what Grafana reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from grafanalib.core import GridPos, RowPanel, Stat, Table, Target, TimeSeries

GRID_WIDTH: Final = 24
_ROW_HEIGHT: Final = 1


class Unit(StrEnum):
    """Units as Grafana names them."""

    GPUS = "suffix: GPUs"
    SECONDS = "s"
    RATIO = "percentunit"
    WATTS = "watt"
    COUNT = "short"
    OPERATIONS_PER_SECOND = "ops"
    YES_NO = "bool_yes_no"


class Colour(StrEnum):
    """Colours with a fixed meaning on every board."""

    GOOD = "green"
    WATCH = "orange"
    BAD = "red"
    PROMISED = "blue"
    USED = "purple"
    QUIET = "text"


@dataclass(frozen=True, slots=True)
class Query:
    """One expression, and how its series are called: `{{label}}` stands for the label's value."""

    expr: str
    legend: str
    colour: Colour | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """From `value` upwards the colour is this one; None: from the bottom."""

    value: float | None
    colour: Colour


ALWAYS_QUIET: Final = (Step(None, Colour.QUIET),)
BAD_ABOVE_NONE: Final = (Step(None, Colour.GOOD), Step(0.001, Colour.BAD))


@dataclass(frozen=True, slots=True)
class Told:
    """What every panel has: a title, one or more sentences about what it tells, and the unit of its values."""

    title: str
    description: str
    unit: Unit


def stat(
    told: Told, *queries: Query, steps: Sequence[Step] = ALWAYS_QUIET, nothing: str = "unknown", names: str = "auto"
) -> Stat:
    """Large values of this moment; `nothing` is shown without any series. `names`: auto, name, value_and_name, …"""
    return Stat(
        title=told.title,
        description=told.description,
        format=told.unit.value,
        targets=_targets(queries, instant=True),
        thresholds=[{"color": step.colour.value, "value": step.value} for step in steps],
        noValue=nothing,
        textMode=names,
        graphMode="none",
        reduceCalc="lastNotNull",
    )


def series(told: Told, *queries: Query, stacked: bool = False, steps_only: bool = False) -> TimeSeries:
    """Values over time from zero. `steps_only`: no slope between two values, for what jumps."""
    return TimeSeries(
        title=told.title,
        description=told.description,
        unit=told.unit.value,
        targets=_targets(queries, instant=False),
        overrides=_colours(queries),
        stacking={"mode": "normal" if stacked else "none", "group": "A"},
        fillOpacity=40 if stacked else 0,
        lineInterpolation="stepAfter" if steps_only else "linear",
        lineWidth=2,
        showPoints="never",
        tooltipMode="multi",
        tooltipSort="desc",
        axisSoftMin=0,
        legendPlacement="bottom",
        extraJson={"options": {"legend": {"showLegend": True}}},
    )


def table(told: Told, query: Query, hidden: Sequence[str]) -> Table:
    """The labels of the series of this moment as columns, without those that are hidden."""
    organize = {"id": "organize", "options": {"excludeByName": dict.fromkeys(("Time", *hidden), True)}}
    return Table(
        title=told.title,
        description=told.description,
        unit=told.unit.value,
        targets=_targets((query,), instant=True, output="table"),
        transformations=[organize],
    )


@dataclass(frozen=True, slots=True)
class Band:
    """Panels side by side, equally wide and high; with a title they stand under a row of their own."""

    height: int
    panels: Sequence[Any]
    title: str = ""


def stacked_bands(*bands: Band) -> list[Any]:
    """The panels of all bands from top to bottom, each in its place."""
    placed: list[Any] = []
    top = 0
    for band in bands:
        if band.title:
            placed.append(RowPanel(title=band.title, gridPos=GridPos(_ROW_HEIGHT, GRID_WIDTH, 0, top)))
            top += _ROW_HEIGHT
        width = GRID_WIDTH // len(band.panels)
        for number, panel in enumerate(band.panels):
            panel.gridPos = GridPos(band.height, width, number * width, top)
            placed.append(panel)
        top += band.height
    return placed


def _targets(queries: Sequence[Query], *, instant: bool, output: str = "time_series") -> list[Target]:
    return [
        Target(expr=query.expr, legendFormat=query.legend, refId=_ref_id(number), instant=instant, format=output)
        for number, query in enumerate(queries)
    ]


def _colours(queries: Sequence[Query]) -> list[dict[str, Any]]:
    return [
        {
            "matcher": {"id": "byFrameRefID", "options": _ref_id(number)},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": query.colour.value}}],
        }
        for number, query in enumerate(queries)
        if query.colour is not None
    ]


def _ref_id(number: int) -> str:
    return chr(ord("A") + number)

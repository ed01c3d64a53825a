"""The page and the JSON: nothing from outside, nothing that a name can inject, the same numbers in both."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from collector.model.reading import Known
from controller.policy.ledger import Ledger
from controller.reports.model import ReportModel
from controller.reports.render_html import pool_parts, report_html
from controller.reports.render_json import report_json
from controller.reports.samples import IDLE_HELD
from controller.reports.svg import Part, bar
from controller.reports.words import amount
from tests.unit.controller.reports.histories import NO_LEDGER, START, change, report, steady

SLOTS = 40
EVIL = "<script>alert(1)</script>"


def usual() -> ReportModel:
    return report(SLOTS, steady(SLOTS), Known(Ledger((change("c1", START + 60), change("c2", START + 90, None)))))


class Balanced(HTMLParser):
    """Fails on a tag that is closed where another is open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Closed at once."""

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag


@pytest.mark.parametrize("made", [usual(), report(SLOTS, {}), report(SLOTS, steady(SLOTS), NO_LEDGER)])
def test_the_page_is_whole_and_asks_for_nothing_from_outside(made: ReportModel) -> None:
    page = report_html(made)
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert re.findall(r"<script|https?://|src=|@import|url\((?!#)", page) == []


def test_names_are_escaped_everywhere() -> None:
    series = {
        name: {tuple(EVIL if part in ("vision", "h100") else part for part in key): row for key, row in rows.items()}
        for name, rows in steady(SLOTS).items()
    }
    evil = change("c1", START + 60, tenant=EVIL, pool=EVIL, reason=EVIL, verdict_reason=EVIL)
    page = report_html(report(SLOTS, series, Known(Ledger((evil,)))))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_parts_shown_close_as_printed() -> None:
    pool = usual().pools[0]
    assert isinstance(pool.capacity, Known)
    assert sum(part.value for part in pool_parts(pool)) + pool.difference == pytest.approx(pool.capacity.value)


def test_page_and_json_say_the_same() -> None:
    made = usual()
    document = json.loads(report_json(made))
    page = report_html(made)
    pool = document["pools"][0]
    for key in ("capacity_gpu_hours", "running_gpu_hours", "free_gpu_hours", "difference_gpu_hours"):
        assert f"<td>{amount(pool[key])}</td>" in page
    assert all(sentence in page for sentence in document["sentences"])
    assert [item["verdict"] for item in document["changes"]] == ["helped", None]
    assert document["changes"][0]["forecast"]["ready"] == ["vision-train/late"]


def test_in_json_what_is_not_known_is_null_with_its_reason() -> None:
    series = steady(SLOTS, unjudged=10.0)
    series[IDLE_HELD] = {}
    document = json.loads(report_json(report(SLOTS, series, NO_LEDGER)))
    use = document["tenants"][0]["pools"][0]
    assert use["idle_held_gpu_hours"] is None
    assert use["idle_held_gpu_hours_unknown_why"] == "no activity known of the GPUs held"
    assert document["changes"] is None
    assert document["changes_unknown_why"] == "no cluster to ask"


def test_a_bar_is_as_wide_as_its_parts_and_says_them() -> None:
    drawn = str(bar("Pool h100", [Part("Free", 1.0, "#fff", "1 GPU-h"), Part("Used", 3.0, "#000", "3 GPU-h")]))
    assert '<rect x="0.00" y="0" width="250.00"' in drawn
    assert '<rect x="250.00" y="0" width="750.00"' in drawn
    assert "<desc>Free 1 GPU-h, Used 3 GPU-h</desc>" in drawn


def test_a_bar_on_a_common_scale_ends_before_the_full_width() -> None:
    assert 'width="500.00"' in bar("Tenant vision", [Part("Used", 3.0, "#000", "3")], whole=6.0)
    assert bar("Tenant nobody", [Part("Used", 0.0, "#000", "0")], whole=6.0) == ""

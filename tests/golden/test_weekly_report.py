"""The page of a small report is the one that was looked at."""

from __future__ import annotations

from controller.reports.render_html import report_html
from tests.golden.report_for_tests import PAGE, small_report


def test_the_page_is_the_one_that_is_kept() -> None:
    kept = PAGE.read_text(encoding="utf-8")
    assert report_html(small_report()) == kept, "look at it, then: python -m tests.golden.report_for_tests"

"""The page of complaints names tests that exist: a row can not outlive what keeps it true."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "pains.md"
ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)::([^`]+)`")
ROWS = {int(number): (here, tests) for number, _, here, tests in ROW.findall(PAGE.read_text(encoding="utf-8"))}


@cache
def _cases(path: str) -> frozenset[str]:
    """What is tried in a file: its test functions, or the names of its rule tests."""
    text = (TESTS / path).read_text(encoding="utf-8")
    if path.endswith(".yaml"):
        return frozenset(case["name"] for case in yaml.safe_load(text)["tests"])
    return frozenset(node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))


def test_no_complaint_is_left_out() -> None:
    assert list(ROWS) == list(range(1, max(ROWS) + 1))
    assert len(ROWS) >= 34


@pytest.mark.parametrize("number", ROWS)
def test_each_complaint_has_tests_or_a_reason(number: int) -> None:
    here, tests = ROWS[number]
    named = NAMED.findall(tests)
    assert named or (tests == "none" and "not answered here: " in here)
    missing = [f"{path}::{case}" for path, case in named if case not in _cases(path)]
    assert not missing

"""`trimtab validate --capacity`: what is promised in all against what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli.main import run
from tests.unit.controller.api.test_contradictions import TEXT


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("h100=80", 0, "valid: policy default"),
        ("h100=79", 2, "guarantees and floats of at most 79 GPUs in all in pool h100, not 80"),
        ("h10=80", 2, "--capacity: got h10, expected a pool of the Policy: h100; did you mean h100?"),
        ("h100", 2, "--capacity: got h100, expected a pool and its GPUs, such as h100=64"),
    ],
)
def test_promises_are_held_against_the_capacity_that_is_named(
    words: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "site.yaml").write_text(TEXT, encoding="utf-8")
    assert run(["validate", str(tmp_path), "--capacity", words]) == code
    shown = capsys.readouterr()
    assert said in shown.out + shown.err

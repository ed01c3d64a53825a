"""The generated files that are kept are those that the sources give."""

from __future__ import annotations

from pathlib import Path

import pytest

from alerts.render.files import generated_files

ROOT = Path(__file__).resolve().parents[2]
FILES = generated_files()


@pytest.mark.parametrize("name", FILES)
def test_a_kept_file_is_up_to_date(name: str) -> None:
    kept = (ROOT / name).read_text(encoding="utf-8")
    assert kept == FILES[name], "out of date: run python -m alerts.render"

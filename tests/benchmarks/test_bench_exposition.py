"""The goal for the exposition parser, on the real captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import bench_exposition
from tests.benchmarks.goals import missed


@pytest.mark.benchmark
def test_our_parser_is_at_least_five_times_faster_than_the_reference(
    shared_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIMTAB_SHARED", str(shared_folder))
    assert not missed(bench_exposition.measure, {"exposition_parse_ratio": lambda times: times >= 5})

"""The runner behind `make bench`, on measures that are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from tests.benchmarks.__main__ import check_names, run
from tests.benchmarks.goals import TRIES, missed


@dataclass
class FakeBenchmark:
    """Counts how often it is asked."""

    MEASURES: Mapping[str, str]
    value: float
    asked: int = 0

    def measure(self) -> Mapping[str, float]:
        self.asked += 1
        return dict.fromkeys(self.MEASURES, self.value)


def test_a_measure_is_printed_as_name_value_unit(capsys: pytest.CaptureFixture[str]) -> None:
    run([FakeBenchmark({"parse_ratio": "times"}, 5.25)], frozenset())
    assert capsys.readouterr().out == "parse_ratio 5.25 times\n"


def test_only_what_is_named_is_measured() -> None:
    wanted, other = FakeBenchmark({"a": "s", "b": "MB"}, 1.0), FakeBenchmark({"c": "s"}, 2.0)
    assert run([wanted, other], frozenset({"b"})) == {"b": {"value": 1.0, "unit": "MB"}}
    assert (wanted.asked, other.asked) == (1, 0)


def test_a_name_that_nobody_measures_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no such measure: z; known: a"):
        check_names([FakeBenchmark({"a": "s"}, 1.0)], frozenset({"z"}))


def measured(values: Iterator[float]) -> str:
    return missed(lambda: {"ratio": next(values)}, {"ratio": lambda times: times >= 5})


def test_one_try_that_reaches_the_goal_is_enough_on_a_busy_machine() -> None:
    values = iter([3.0, 5.0, 1.0])
    assert measured(values) == ""
    assert list(values) == [1.0], "and ends the tries"


def test_a_goal_that_no_try_reaches_is_missed_and_each_try_is_told() -> None:
    assert measured(iter([3.0, 4.5] + [2.0] * (TRIES - 2))) == "ratio 3; ratio 4.5; ratio 2"

"""Shares of throttled time out of two readings, and what is said when the counters do not fit the time."""

from __future__ import annotations

import pytest

from collector.assemble.between import with_shares
from collector.model.reading import Known, Reading, Unknown
from collector.parse.collect import SourceKind, collect_text


def share(before: str, after: str, seconds: float = 10.0) -> Reading[float]:
    first, second = (collect_text(text, SourceKind.DCGM) for text in (before, after))
    found = with_shares(first, second, seconds)
    assert found.samples == second.samples
    (reading,) = [one for one in found.readings if one.name == "trimtab_accelerator_throttle_ratio"]
    return reading.value


def violations(power: float, thermal: float = 0.0) -> str:
    return "".join(
        f'DCGM_FI_DEV_{reason}_VIOLATION{{gpu="0",UUID="GPU-a"}} {seconds * 1e9:.0f}\n'
        for reason, seconds in (("POWER", power), ("THERMAL", thermal))
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (violations(100, 7), violations(104, 8), 0.4),
        (violations(100), violations(100), 0.0),
        (violations(100), violations(110.4), 1.0),
    ],
)
def test_the_share_is_that_of_the_worst_reason(before: str, after: str, expected: float) -> None:
    found = share(before, after)
    assert isinstance(found, Known)
    assert found.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (violations(100), violations(3), "began again"),
        (violations(100), violations(10_000), "its unit must have changed"),
        ('DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a"} 1\n', violations(3), "was not told the first time"),
        (violations(100), violations(100).replace(" 100000000000", " NaN"), "blank value"),
    ],
)
def test_counters_that_do_not_fit_the_time_are_unknown(before: str, after: str, words: str) -> None:
    found = share(before, after)
    assert isinstance(found, Unknown)
    assert words.replace("its unit", "unit") in found.reason


def test_a_share_that_an_exporter_tells_itself_stands() -> None:
    text = 'gpu_violation_ppt_residency_percentage{gpu_id="0",gpu_uuid="u"} 25\n'
    found = with_shares(collect_text(text, SourceKind.AMD), collect_text(text, SourceKind.AMD), 10.0)
    assert [one.value for one in found.readings if "throttle" in one.name] == [Known(0.25)]

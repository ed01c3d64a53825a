"""Minute counts: in order of time, lost minutes not made up, bad rows counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.traces.helios import TenantMinutes, read_minutes

HEAD = "time,running_gpu_num,pending_gpu_num,idle_gpu_num\n"


def minutes(folder: Path, text: str) -> TenantMinutes:
    path = folder / "vcX.csv"
    path.write_text(text, encoding="utf-8")
    return read_minutes(path)


def test_minutes_come_in_order_and_bad_rows_are_counted(tmp_path: Path) -> None:
    found = minutes(
        tmp_path,
        HEAD
        + "1970-01-01 00:02:00,8,16,0\n1970-01-01 00:00:00,4,0,4\n1970-01-01 00:00:00,5,0,4\n"
        + "noon,1,1,1\n1970-01-01 00:03:00,x,1,1\n1970-01-01 00:03:00,1,-1,1\n",
    )
    assert (found.tenant, found.at_seconds) == ("vcX", (0.0, 120.0))
    assert (found.running_gpus, found.pending_gpus, found.idle_gpus) == ((4, 8), (0, 16), (4, 0))
    assert found.skipped == {
        "this minute was there before": 1,
        "time is no ISO time": 1,
        "a count is no whole number": 1,
        "a count is below 0": 1,
    }


@pytest.mark.parametrize(
    ("text", "said"), [("time\n", "no column running_gpu_num"), (HEAD, "no minute that can be read")]
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        minutes(tmp_path, text)


def test_a_published_month_is_read_whole(shared_folder: Path) -> None:
    found = read_minutes(shared_folder / "traces" / "helios-earth" / "vcgkz.csv.gz")
    assert (found.tenant, len(found.at_seconds), found.skipped) == ("vcgkz", 44_640, {})

"""Traces as CSV: what is read, what is left out and counted, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.traces.read import read_trace
from controller.traces.trace import TraceJob

HEAD = "timestamp,duration,num_gpus,gpu_time,cluster\n"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "trace.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_rows_become_jobs_in_order_of_time(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, HEAD + "1970-01-01 00:01:00,66.0,1,66,b\n1970-01-01T00:00:30Z,5,8,40,a\n"))
    assert trace.jobs == (TraceJob(30.0, 5.0, 8, "a"), TraceJob(60.0, 66.0, 1, "b"))
    assert trace.skipped == {}


def test_gzip_and_a_byte_order_mark_and_other_column_orders_are_understood(tmp_path: Path) -> None:
    text = "\ufeffcluster,num_gpus,duration,timestamp\na,2,3,1970-01-01 00:00:01\n"
    assert read_trace(written(tmp_path, gzip.compress(text.encode()))).jobs == (TraceJob(1.0, 3.0, 2, "a"),)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("yesterday,5,1,5,a", "a time that is no time"),
        ("1970-01-01,five,1,5,a", "duration or GPUs is no number"),
        ("1970-01-01,5,1.5,5,a", "GPUs is no whole number"),
        ("1970-01-01,\u0665,1,5,a", "duration or GPUs is no number"),
        ("1970-01-01,5,1_0,5,a", "duration or GPUs is no number"),
        ("1970-01-01,5,1000000000000,5,a", "GPUs is no whole number"),
        ("0001-01-01T00:00:00+14:00,5,0,5,a", "GPUs is not above 0"),
        ("1969-12-31,5,1,5,a", "a time before 1970"),
        ("1970-01-01,-5,1,5,a", "duration is not above 0"),
        ("1970-01-01,nan,1,5,a", "duration is not above 0"),
        ("1970-01-01,inf,1,5,a", "duration is not above 0"),
        ("1970-01-01,5,0,5,a", "GPUs is not above 0"),
        ("1970-01-01,5,1,5,", "no tenant"),
        ("1970-01-01", "duration or GPUs is no number"),
    ],
)
def test_a_row_that_can_not_be_read_is_counted_and_the_rest_is_kept(tmp_path: Path, row: str, reason: str) -> None:
    trace = read_trace(written(tmp_path, f"{HEAD}{row}\n1970-01-01,5,1,5,a\n"))
    assert (len(trace.jobs), trace.skipped) == (1, {reason: 1})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "a first line that no known format has (empty)"),
        (
            "timestamp,num_gpus,cluster\n",
            "no column duration, expected format philly, with columns timestamp, duration",
        ),
        (HEAD, "no job that can be read (no rows)"),
        (HEAD + "x,5,1,5,a\n", "(1 row: a time that is no time)"),
        (HEAD + "x,5,1,5,a\ny,5,1,5,a\n1970-01-01,5,1,5,\n", "(2 rows: a time that is no time; 1 row: no tenant)"),
        (b"\x1f\x8b nothing packed", "a gzip file that is cut off or damaged"),
        (gzip.compress(HEAD.encode())[:-3], "a gzip file that is cut off or damaged"),
        ('"' + "x" * 200_000, "a first line that no known format has (empty)"),
        (b"\x00\xff\xfe binary", "no known format has"),
        ("time,running_gpu_num,pending_gpu_num\n", "counts per minute and no jobs (Helios)"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_path(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as refused:
        read_trace(path)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_trace(tmp_path / "absent.csv")


def test_the_published_trace_is_read_whole(shared_folder: Path) -> None:
    trace = read_trace(shared_folder / "traces" / "philly" / "philly.csv.gz")
    assert len(trace.jobs) > 80_000
    assert len({job.tenant for job in trace.jobs}) == 15

"""Whatever stands in a trace: it is read or refused with a place, and every row is a job or has a reason."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.api.errors import InputError
from controller.traces.formats import FORMATS, Format
from controller.traces.read import read_trace

VALUES = st.one_of(
    st.sampled_from(["", "0", "1", "8", "-3", "1.5", "nan", "inf", "1e400", "strict", "5-9", "1970-01-01 00:01"]),
    st.text(max_size=6),
)
one_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def table(form: Format, rows: list[list[str]]) -> str:
    text = io.StringIO()
    if form.headless:
        csv.writer(text, delimiter="\t").writerows(rows)
    else:
        csv.writer(text).writerows([[*form.columns, *([form.identity] if form.identity else [])], *rows])
    return text.getvalue()


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@one_file
@given(st.data())
def test_every_row_is_a_job_or_has_a_reason(tmp_path: Path, form: Format, data: st.DataObject) -> None:
    width = len(form.headless) or len(form.columns) + bool(form.identity)
    rows = data.draw(st.lists(st.lists(VALUES, min_size=1, max_size=width), max_size=6))
    path = tmp_path / "trace.csv"
    path.write_text(table(form, rows), encoding="utf-8", newline="")
    try:
        trace = read_trace(path, form.name)
    except InputError:
        return  # no job at all
    assert len(trace.jobs) + sum(trace.skipped.values()) == len(rows)
    assert all(job.gpus > 0 and job.run_seconds > 0 and job.tenant for job in trace.jobs)
    assert [job.submitted_seconds for job in trace.jobs] == sorted(job.submitted_seconds for job in trace.jobs)


@one_file
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_end_as_a_trace_or_as_one_mistake(tmp_path: Path, content: bytes, packed: bool) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InputError, match="expected"):
        read_trace(path)

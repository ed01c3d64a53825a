"""Each known format: told by its columns, its units understood, its rows accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.traces.read import read_trace
from controller.traces.trace import Trace, TraceJob

CHRONUS = "job_id,user,num_gpu,submit_time,iterations,model_name,duration,expect_time_list,best_effort,job_type\n"
MURI = "job_id,num_gpu,submit_time,duration,iteration_time,resource_time_0,priority\n"
ELASTICFLOW = "job_id,submit_time,ddl,num_gpu,duration\n"
OPENB = "name,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n"
OWN = "id,tenant,submitted,run_seconds,gpus,priority,deadline\n"


def read(folder: Path, text: str, form: str | None = None) -> Trace:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return read_trace(path, form)


@pytest.mark.parametrize(
    ("form", "text", "jobs"),
    [
        ("chronus", CHRONUS + "0,vc_x,2,10,1,m,5,8,0,strict\n", [TraceJob(600, 300, 2, "x", 0, 1080)]),
        ("chronus", CHRONUS + "0,vc_x,2,10,1,m,5,8-12,0,soft\n", [TraceJob(600, 300, 2, "x", 0, 1320)]),
        ("chronus", CHRONUS + "0,vc_x,2,10,1,m,5,10,1,best\n", [TraceJob(600, 300, 2, "x")]),
        ("muri", MURI + "0,8,201694000,4000,1,2,1\n", [TraceJob(201694, 4, 8, "all")]),
        ("elasticflow", ELASTICFLOW + "0,100,160,4,30\n", [TraceJob(100, 30, 4, "all", 0, 160)]),
        ("openb", OPENB + "p,1,460,LS,100,500,150\n", [TraceJob(100, 350, 1, "LS")]),
        ("trimtab", OWN + "1,a,30,60,8,,\n", [TraceJob(30, 60, 8, "a")]),
        ("trimtab", OWN + "1,a,1970-01-01 00:01,60,8,-2,90\n", [TraceJob(60, 60, 8, "a", -2, 90)]),
        ("shockwave", "LM\tx\td\t-s\t1\t9\t4\tgns\t1\t-1.0\t1418\t55\n", [TraceJob(55, 1418, 4, "all")]),
    ],
)
def test_a_format_is_told_by_its_columns(tmp_path: Path, form: str, text: str, jobs: list[TraceJob]) -> None:
    trace = read(tmp_path, text)
    assert (trace.format, list(trace.jobs), trace.skipped) == (form, jobs, {})


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,a,30,60,8,,\n1,b,31,60,8,,", "id was there before"),
        ("1,a,30,60,8,,\n2,a,30,60,8,high,", "priority is no whole number"),
        ("1,a,30,60,8,,\n2,a,30,60,8,,soon", "a deadline that is no time"),
        ("1,a,30,60,8,,\n2,a,nan,60,8,,", "a time that is no time"),
        ("1,a,30,60,8,,\n2,a,30,1e300,8,,", "a time after 2100, or a duration of more than ten years"),
        ("1,a,30,60,8,,\n2,a,9999-12-31,60,8,,", "a time after 2100, or a duration of more than ten years"),
        ('1,a,30,60,8,,\n2,"a\nb",30,60,8,,', "a tenant whose name is more than one line"),
        ("1,a,30,60,8,,\n2,a,30,60,inf,,", "GPUs is no whole number"),
    ],
)
def test_a_row_of_ones_own_that_is_no_job_is_counted(tmp_path: Path, row: str, reason: str) -> None:
    trace = read(tmp_path, f"{OWN}{row}\n")
    assert (len(trace.jobs), trace.skipped) == (1, {reason: 1})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (CHRONUS + "0,vc_x,0,10,1,m,5,8,0,strict\n1,vc_x,1,10,1,m,5,x,0,strict\n", "a deadline that is no time"),
        (ELASTICFLOW + "0,100,late,4,30\n", "a deadline that is no time"),
        (OPENB + "p,1,460,LS,100,500,\n", "never scheduled"),
        (OPENB + "p,1,460,LS,100,50,60\n", "duration is not above 0"),
        (OPENB + "p,1,460,LS,100,x,60\n", "a time that is no time"),
    ],
)
def test_rows_of_known_traces_that_are_no_jobs_are_counted(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"no job that can be read \(.*{reason}"):
        read(tmp_path, text)


def test_a_format_can_be_named_and_an_unknown_name_lists_all(tmp_path: Path) -> None:
    assert len(read(tmp_path, OWN + "1,a,30,60,8,,\n", "trimtab").jobs) == 1
    with pytest.raises(InputError, match="expected format philly, with columns timestamp"):
        read(tmp_path, OWN + "1,a,30,60,8,,\n", "philly")
    with pytest.raises(InputError, match=r"--format: got csv, expected one of trimtab, .*philly, .*shockwave"):
        read(tmp_path, OWN, "csv")


def test_rows_out_of_order_are_sorted_and_told(tmp_path: Path) -> None:
    trace = read(tmp_path, OWN + "1,a,30,60,8,,\n2,a,20,60,8,,\n3,a,25,60,8,,\n")
    assert [job.submitted_seconds for job in trace.jobs] == [20, 25, 30]
    assert trace.notes == {"earlier than the row before it": 1}


@pytest.mark.parametrize(
    ("name", "form", "jobs", "skipped"),
    [
        ("chronus/trace_job_Philly_MIX1.csv.gz", "chronus", 30_756, 184),
        ("muri/trace3.csv.gz", "muri", 992, 0),
        ("elasticflow/elasticVpollux_e.csv.gz", "elasticflow", 195, 0),
        ("alibaba-gpu-v2023/openb_pod_list_default.csv.gz", "openb", 6_203, 1_949),
    ],
)
def test_published_traces_are_read_with_every_row_accounted_for(
    shared_folder: Path, name: str, form: str, jobs: int, skipped: int
) -> None:
    trace = read_trace(shared_folder / "traces" / name)
    assert (trace.format, len(trace.jobs), sum(trace.skipped.values())) == (form, jobs, skipped)


def test_the_published_shockwave_trace_is_told_by_its_tabs(shared_folder: Path) -> None:
    path = next((shared_folder / "traces" / "shockwave").glob("120_*.gz"))
    trace = read_trace(path)
    assert (trace.format, len(trace.jobs), trace.skipped) == ("shockwave", 120, {})

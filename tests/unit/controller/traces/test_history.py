"""The collector's own history as a trace: one job per object, its run time over evictions, every row accounted for."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path

from collector.accounting.schema.rows import State, Transition
from controller.cli.accounting_text import row_record
from controller.traces.read import read_trace
from controller.traces.trace import Trace, TraceJob


def change(uid: str, step: int, at: float, state: State, gpus: int = 8, tenant: str = "vision") -> Transition:
    return Transition("c", uid, step, at, state, "", "", "", "Job", tenant, "", "h100", "", gpus, 1, priority=5)


def exported(path: Path, rows: list[Transition]) -> Trace:
    """As `trimtab accounting export` writes it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([one.name for one in fields(Transition)])
        writer.writerows(row_record(row).values() for row in rows)
    return read_trace(path)


def test_a_job_ran_while_its_pods_were_ready_over_evictions(tmp_path: Path) -> None:
    trace = exported(
        tmp_path / "history.csv",
        [
            change("a", 0, 50.0, State.SUSPENDED),
            change("a", 1, 100.0, State.PENDING),
            change("a", 2, 160.0, State.RUNNING),
            change("a", 3, 260.0, State.EVICTED),
            change("a", 5, 900.5, State.FINISHED),
            change("a", 4, 400.0, State.RUNNING),
        ],
    )
    assert (trace.format, trace.jobs) == ("history", (TraceJob(100.0, 600.5, 8, "vision", 5),))
    assert trace.skipped == {"another state of a job that is read": 5}


def test_what_is_no_whole_job_is_left_out_row_by_row(tmp_path: Path) -> None:
    rows = [
        *(
            change("whole", step, 100.0 + step, state)
            for step, state in enumerate((State.PENDING, State.RUNNING, State.GONE), 1)
        ),
        change("before", 7, 10.0, State.RUNNING),
        change("before", 8, 20.0, State.FINISHED),
        change("still", 1, 10.0, State.PENDING),
        change("still", 2, 20.0, State.RUNNING),
        change("never", 1, 10.0, State.PENDING),
        change("never", 2, 20.0, State.GONE),
        change("nobody", 1, 10.0, State.PENDING, tenant=""),
        change("nobody", 2, 20.0, State.RUNNING),
        change("nobody", 3, 30.0, State.FINISHED),
    ]
    trace = exported(tmp_path / "history.csv", rows)
    assert len(trace.jobs) + sum(trace.skipped.values()) == len(rows)
    assert trace.skipped == {
        "another state of a job that is read": 2,
        "it was there before the history begins": 2,
        "it had not ended when the history was exported": 2,
        "it never ran": 2,
        "no tenant": 3,
    }


def test_rows_that_say_nothing_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    head = "cluster,uid,step,at,state,tenant,gpus,priority,waited_seconds\n"
    good = "c,u,1,10,pending,t,8,0,0\nc,u,2,20,running,t,8,0,0\nc,u,3,30,finished,t,8,0,0\n"
    path.write_text(head + good + "c,u,x,10,pending,t,8,0,0\nc,u,4,10,asleep,t,8,0,0\nc,u,4,soon,gone,t,8,0,0\n")
    assert read_trace(path).skipped == {
        "another state of a job that is read": 2,
        "step, gpus or priority is no whole number": 1,
        "a state that is none": 1,
        "a time that is no time": 1,
    }

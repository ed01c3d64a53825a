"""From jobs to columns: which are simulated, and why the others are not."""

from __future__ import annotations

from math import inf

from controller.simulate.shares import Share
from controller.traces.table import largest_jobs, selected, within
from controller.traces.trace import TraceJob

JOBS = [
    TraceJob(20.0, 5.0, 8, "b", 3, 90.0),
    TraceJob(10.0, 5.0, 4, "a"),
    TraceJob(30.0, 5.0, 16, "a"),
    TraceJob(40.0, 5.0, 1, "x"),
]


def test_columns_are_in_order_of_time_and_every_job_left_out_is_counted() -> None:
    choice = selected(JOBS, [Share("a", 8), Share("b", 8)], {"a": 8, "b": 8})
    assert choice.left_out == {"its tenant has no quota": 1, "larger than all its tenant can be given": 1}
    assert choice.jobs.submit_seconds == [10.0, 20.0]
    assert (choice.jobs.tenant, choice.jobs.gpus, choice.jobs.priority) == ([0, 1], [4, 8], [0, 3])
    assert choice.jobs.deadline_seconds == [inf, 90.0]


def test_a_span_begins_with_its_first_moment_and_ends_before_its_last() -> None:
    assert [job.submitted_seconds for job in within(JOBS, 10.0, 30.0)] == [20.0, 10.0]
    assert len(within(JOBS)) == 4


def test_the_largest_job_of_each_tenant_is_known() -> None:
    assert largest_jobs(JOBS) == {"a": 16, "b": 8, "x": 1}

"""The recipe `deadlines` in small: who is late under priorities that Trimtab sets."""

from __future__ import annotations

from math import isnan

from controller.evaluate.deadline_run import DeadlineRun
from controller.evaluate.deadlines import fared, proportional_shares
from controller.evaluate.score import SHIPPED
from controller.simulate.batch_setting import Fates
from controller.traces.trace import TraceJob
from tests.traces import Row, table

HOUR = 3600.0


def test_quotas_by_demand_add_up_to_the_cluster_and_hold_the_largest_job() -> None:
    jobs = [TraceJob(0.0, 1000.0, 8, "a"), TraceJob(0.0, 10.0, 32, "b"), TraceJob(0.0, 500.0, 8, "c")]
    shares = {share.tenant: share.quota for share in proportional_shares(jobs, 80)}
    assert sum(shares.values()) == 80
    assert shares == {"a": 40, "b": 32, "c": 8}


def test_the_urgent_go_first_work_without_deadline_after_them_and_the_hopeless_last() -> None:
    jobs = table(
        [
            Row(0, HOUR, 8),
            Row(1, HOUR, 8),  # no deadline
            Row(2, HOUR, 8, deadline=1.5 * HOUR),  # can not end in time once the first has ended
            Row(3, HOUR, 8, deadline=40 * HOUR),
            Row(4, HOUR, 8, deadline=3 * HOUR),
        ]
    )
    trial = DeadlineRun.begun(jobs, SHIPPED, 8, None)
    trial.advance()
    order = sorted(range(5), key=trial.pool.fates.first_start_seconds.__getitem__)
    assert order == [0, 4, 3, 1, 2]
    assert fared(jobs, trial.pool.fates).strict_miss == 1 / 3


def test_a_job_that_never_ended_missed_its_deadline() -> None:
    jobs = table([Row(0, 1, 8, deadline=9.0), Row(0, 1, 8)])
    found = fared(jobs, Fates.none_yet(2))
    assert (found.strict_miss, found.best_effort_wait_seconds) == (1.0, 0.0)
    assert isnan(fared(table([Row(0, 1, 8, deadline=9.0)]), Fates.none_yet(1)).best_effort_wait_seconds)

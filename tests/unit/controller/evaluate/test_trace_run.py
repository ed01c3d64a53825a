"""From a file to an outcome: spans, quotas, capacity, and every row accounted for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.evaluate.score import SHIPPED
from controller.evaluate.steered_trace import Steering
from controller.evaluate.trace_run import Request, simulate_trace
from controller.simulate.baselines import Baseline, Conditions

ROWS = """tenant,submitted,run_seconds,gpus,id
a,0,100,8,1
a,10,100,8,2
b,20,10,8,3
b,30,10,99,4
x,30,10,1,5
a,0,-1,8,6
"""


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    trace, quotas = tmp_path / "trace.csv", tmp_path / "quotas.csv"
    trace.write_text(ROWS, encoding="utf-8")
    quotas.write_text("tenant,gpus\na,8\nb,8\n", encoding="utf-8")
    return Request(trace, Baseline.KUEUE_FIXED, quotas=quotas)


def test_every_row_is_simulated_or_left_out_for_a_reason(request_: Request) -> None:
    document = simulate_trace(request_).document()
    assert (document["jobs"], document["trace"]["rows"]) == (3, 6)
    assert document["trace"]["left_out"] == {
        "duration is not above 0": 1,
        "its tenant has no quota": 1,
        "larger than all its tenant can be given": 1,
    }
    assert document["preemptions"] == 1
    assert document["tenants"]["b"]["mean_wait_seconds"] == 0
    assert (document["changes"], document["capacity_gpus"]) == (0, 16)


def test_capacity_scales_quota_and_a_span_leaves_the_rest_out(request_: Request) -> None:
    run = simulate_trace(replace(request_, capacity_ratio=2.0, begin=5.0, end=25.0))
    assert run.capacity_gpus == 32
    assert run.left_out["outside of --from and --to"] == 3


@pytest.mark.parametrize("policy", [Baseline.KUEUE_FIXED, Steering(SHIPPED)])
def test_one_absurd_time_costs_neither_memory_nor_hours(request_: Request, policy: Baseline | Steering) -> None:
    request_.trace.write_text(ROWS + "a,1e13,100,8,7\n", encoding="utf-8")
    assert simulate_trace(replace(request_, policy=policy)).document()["unfinished"] == 0


def test_without_quotas_they_come_from_demand(request_: Request) -> None:
    run = simulate_trace(replace(request_, quotas=None))
    assert {share.tenant: share.quota for share in run.shares} == {"a": 24, "b": 104, "x": 8}


def test_a_span_without_jobs_is_refused_with_the_span_there_is(request_: Request) -> None:
    with pytest.raises(InputError, match="a span within 1970-01-01 00:00 and 1970-01-01 00:00"):
        simulate_trace(replace(request_, begin=1e6))


def test_quotas_of_strangers_are_refused(request_: Request, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("tenant,gpus\nz,8\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no job that can run \(5 rows: its tenant has no quota"):
        simulate_trace(replace(request_, quotas=other))


def test_equal_settings_have_equal_digests(request_: Request) -> None:
    one, other = simulate_trace(request_), simulate_trace(replace(request_, conditions=Conditions(seed=1)))
    assert one.settings_digest == simulate_trace(request_).settings_digest != other.settings_digest

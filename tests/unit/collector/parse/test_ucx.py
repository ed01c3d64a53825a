"""ucx_perftest's output: a finished run gives a latency, anything else says why not. Never a number that is not one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.model.reading import Known, Unknown
from collector.parse.ucx import complaint, percentile_latency

COLUMNS = "avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr"
P50 = f"iterations,50.0_percentile_lat,{COLUMNS}\n"
P99 = f"iterations,99.0_percentile_lat,{COLUMNS}\n"
WARNING = (
    "[1796040267.709948] [host:13450:0]     ucp_context.c:1014 UCX  WARN  network device 'va' is not available, "
    "please use one or more of: 'lo'(tcp), 'vb'(tcp)\n"
)
REFUSED = (
    "[1796050915.476100] [host:12162:0]        perftest.c:405  UCX  ERROR client failed. connect() failed: "
    "Connection refused\n"
)
UNREACHABLE = (
    "[1796050916.240785] [host:1:0]    select.c:549  UCX  ERROR   no active messages transport to <no debug data>\n"
    "[1796050916.285802] [host:1:0]    perftest_run.c:334  UCX  ERROR Failed to run test: Destination is unreachable\n"
)


def test_the_row_of_a_finished_run_is_read_in_seconds() -> None:
    text = P50 + " 500,14.500,14.800,14.800,0.51,0.51,67567,67567\n"
    assert percentile_latency(text, 50, 500) == Known(14.5e-6)


def test_the_99th_percentile_is_that_of_its_own_run() -> None:
    text = P99 + "500,53.900,34.000,283.000,0.22,0.03,29411,3533\n"
    assert percentile_latency(text, 99, 500) == Known(53.9 / 1e6)
    refused = percentile_latency(text, 50, 500)
    assert refused == Unknown("ucx_perftest gave percentile 99.0, asked was 50")


def test_an_average_of_an_interval_without_iterations_does_not_hide_the_percentile() -> None:
    text = P50 + "100,4843.351,inf,5003.206,0.00,0.00,-nan,200\n"
    assert percentile_latency(text, 50, 100) == Known(4843.351 / 1e6)


def test_warnings_before_within_and_after_do_not_matter() -> None:
    row = "5000,8.236,25.275,25.275,0.30,0.30,39564,39564\n"
    text = WARNING + P50 + WARNING + row + WARNING
    assert percentile_latency(text, 50, 5000) == Known(8.236e-6)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "ucx_perftest gave no result"),
        (REFUSED, "ucx_perftest gave no result: client failed. connect() failed: Connection refused"),
        (P50, "ucx_perftest ended before its result"),
        (P50 + UNREACHABLE, "ucx_perftest ended before its result: no active messages transport to <no debug data>"),
        (P50 + "500,14.5,14.8\n", "ucx_perftest ended before its result"),
        (P50 + "500,nan,1,1,1,1,1,1\n", "ucx_perftest ended before its result"),
        (P50 + f"500,{'9' * 400},1,1,1,1,1,1\n", "ucx_perftest ended before its result"),
        (P50 + "120,14.5,1,1,1,1,1,1\n", "ucx_perftest ended after 120 of 500 iterations"),
        (P50 + "500,0.000,1,1,1,1,1,1\n", "ucx_perftest gave a latency of 0.000 µs"),
        ("sh: 1: ucx_perftest: not found\n", "ucx_perftest gave no result"),
    ],
)
def test_what_is_no_finished_run_says_why(text: str, reason: str) -> None:
    assert percentile_latency(text, 50, 500) == Unknown(reason)


def test_without_final_only_rows_of_intervals_are_no_result_before_the_last_one() -> None:
    rows = "100,9.0,1,1,1,1,1,1\n300,99.0,1,1,1,1,1,1\n"
    assert isinstance(percentile_latency(P50 + rows, 50, 500), Unknown)
    assert percentile_latency(P50 + rows + "500,12.0,1,1,1,1,1,1\n", 50, 500) == Known(12e-6)


def test_a_complaint_is_told_without_its_prefix_and_within_bounds() -> None:
    assert complaint(REFUSED) == "client failed. connect() failed: Connection refused"
    assert complaint(WARNING) is None
    assert len(complaint("UCX  ERROR " + "x" * 9999) or "") == 200


@given(st.text() | st.text(alphabet="0123456789.,-\n ").map(lambda rows: P50 + rows))
def test_any_text_is_a_positive_latency_or_a_reason(text: str) -> None:
    reading = percentile_latency(text, 50, 1)
    if isinstance(reading, Known):
        assert 0 < reading.value < 1e9
    else:
        assert reading.reason


@pytest.mark.parametrize(
    ("capture", "iterations", "seconds"),
    [
        ("ucx_uct_tcp_am_lat.txt", 20000, 7.020e-6),
        ("ucx_veth_base.txt", 5000, 10.985e-6),
        ("ucx_veth_sleep_base.txt", 2000, 347.464e-6),
        ("ucx_veth_sleep_tbf_50mbit_congested.txt", 100, 7904.493e-6),
        ("ucx_veth_tag_lat.txt", 5000, 8.236e-6),
    ],
)
def test_real_captures_are_read(shared_folder: Path, capture: str, iterations: int, seconds: float) -> None:
    text = (shared_folder / "fixtures" / "own-captures" / "ucx" / capture).read_text()
    reading = percentile_latency(text, 50, iterations)
    assert isinstance(reading, Known)
    assert reading.value == pytest.approx(seconds)

"""Output of ucx_perftest: tables and CSV, with and without intervals, finished and cut off, among log lines."""

from __future__ import annotations

import pytest

from collector.model.collected import Collected
from collector.model.reading import Known, Reading, Unknown
from collector.parse.collect import SourceKind, collect_text
from collector.parse.ucx_output import ucx_readings

LATENCY = "trimtab_rdma_probe_latency_seconds"
OVERHEAD = "trimtab_rdma_probe_overhead_seconds"
BANDWIDTH = "trimtab_rdma_probe_bandwidth_bytes_per_second"
RATE = "trimtab_rdma_probe_messages_per_second"
MIB = 1024.0**2
CSV = "iterations,99.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr"
LOG = "[1796040267.709948] [vm:13450:0]     ucp_context.c:1014 UCX  WARN  network device 'va' is not available"


def table(*rows: str, kind: str = "latency", first: str = "50.0%ile") -> str:
    edge = (
        "+--------------+--------------+------------------------------+---------------------+-----------------------+"
    )
    return "\n".join(
        (
            edge,
            f"|              |              |       {kind} (usec)         |  bandwidth (MB/s) | message rate (msg/s) |",
            edge,
            f"|    Stage     | # iterations | {first} | average | overall | average | overall | average | overall |",
            edge,
            *rows,
        )
    )


def found_in(text: str) -> Collected:
    found = ucx_readings(text)
    assert collect_text(text, SourceKind.AUTO) == found
    return found


def values(found: Collected, name: str = LATENCY) -> dict[str, Reading[float]]:
    return {one.labels["statistic"]: one.value for one in found.readings if one.name == name}


def test_the_final_row_is_the_result_and_intervals_are_passed_on() -> None:
    found = found_in(
        table(
            "[thread 0]             40000      2.000     2.100   2.100        3.63       3.63      476190      476190",
            LOG,
            "Final:                100000      2.460     2.600   2.550        2.99       2.99      392156      392157",
        )
    )
    assert values(found) == {"median": Known(2.46 / 1e6), "interval_mean": Known(2.6 / 1e6), "mean": Known(2.55 / 1e6)}
    assert values(found, BANDWIDTH) == {"interval_mean": Known(2.99 * MIB), "mean": Known(2.99 * MIB)}
    assert values(found, RATE) == {"interval_mean": Known(392156.0), "mean": Known(392157.0)}
    assert (found.samples.read, found.samples.used, found.samples.passed) == (2, 1, 1)


def test_a_csv_tells_the_rank_of_its_percentile() -> None:
    found = found_in(f"{CSV}\n{LOG}\n20000,53.900,34.000,283.000,0.28,0.06,36316,7668\n")
    assert values(found) == {"p99": Known(53.9 / 1e6), "interval_mean": Known(34.0 / 1e6), "mean": Known(283.0 / 1e6)}


def test_a_test_of_bandwidth_has_an_overhead_and_no_latency() -> None:
    row = "Final:                    10      0.353  2202.916  2202.916    45394.37   45394.37         454         454"
    found = found_in(table(row, kind="overhead", first="typical"))
    assert values(found) == {}
    assert values(found, OVERHEAD)["median"] == Known(0.353 / 1e6)


def test_a_run_that_was_cut_off_has_no_result() -> None:
    row = "[thread 0]             40000      2.000     2.100   2.100        3.63       3.63      476190      476190"
    found = found_in(table(row))
    assert values(found) == {"median": Unknown("the run ended before its result")}
    assert (found.samples.used, found.samples.passed) == (0, 1)


@pytest.mark.parametrize(
    "text",
    [
        table("Final:                100000      2.460"),
        f"{CSV}\n20000,53.900,34.0\n",
    ],
)
def test_a_truncated_row_is_dropped(text: str) -> None:
    found = found_in(text)
    assert found.samples.dropped == {"row does not fit its header": 1}
    assert not any(isinstance(one.value, Known) for one in found.readings)


def test_what_ucx_complained_of_is_said() -> None:
    found = ucx_readings("[1.0] [vm:1:0] sock.c:1 UCX  ERROR connection refused\n")
    assert found.notes == ("UCX said: connection refused",)


def test_an_interval_without_iterations_hides_nothing_else_of_its_row() -> None:
    found = found_in(f"{CSV}\n100,4843.351,inf,5003.206,0.00,0.00,-nan,200\n")
    values = {one.labels["statistic"]: one.value for one in found.readings if one.name == LATENCY}
    assert values["p99"] == Known(4843.351 / 1e6)
    assert values["mean"] == Known(5003.206 / 1e6)
    assert values["interval_mean"] == Unknown("its interval had no iteration")
    assert found.samples.used == 1

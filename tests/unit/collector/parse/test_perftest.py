"""Output of perftest in every shape it comes in: versions, options, columns that ran together, JSON that is none."""

from __future__ import annotations

import pytest

from collector.model.collected import Collected
from collector.model.reading import Known, Reading
from collector.parse.collect import SourceKind, collect_text
from collector.parse.perftest import perftest_readings, split_row

LATENCY = "trimtab_rdma_probe_latency_seconds"
BANDWIDTH = "trimtab_rdma_probe_bandwidth_bytes_per_second"
RATE = "trimtab_rdma_probe_messages_per_second"
DASHES = "-" * 87
HEADER = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
    "99% percentile[usec]   99.9% percentile[usec]"
)
NOISE = "Conflicting CPU frequency values detected: 1200.000000 != 3591.635000. CPU Frequency is not max."
ROW = " 2       1000          1.42           1.93         1.47          1.48             0.02         1.57         1.93"


def output(*lines: str, title: str = "RDMA_Write Latency Test", device: str = "mlx5_3") -> str:
    head = (DASHES, f"                    {title}", f" Dual-port       : OFF          Device         : {device}")
    return "\n".join((*head, " Mtu             : 4096[B]", DASHES, *lines, DASHES)) + "\n"


def found_in(text: str) -> Collected:
    found = perftest_readings(text)
    assert collect_text(text, SourceKind.AUTO) == found
    assert found.samples.read == found.samples.used + found.samples.passed + sum(found.samples.dropped.values())
    return found


def values(found: Collected, name: str = LATENCY, size: str = "2") -> dict[str, Reading[float]]:
    rows = (one for one in found.readings if one.name == name and one.labels["bytes"] == size)
    return {one.labels["statistic"]: one.value for one in rows}


def micro(number: float) -> Known[float]:
    return Known(number / 1e6)


def test_a_row_gives_every_statistic_in_seconds() -> None:
    found = found_in(output(HEADER, ROW))
    assert values(found) == {
        "min": micro(1.42),
        "max": micro(1.93),
        "median": micro(1.47),
        "mean": micro(1.48),
        "stdev": micro(0.02),
        "p99": micro(1.57),
        "p99.9": micro(1.93),
    }
    labels = found.readings[0].labels
    assert (labels["operation"], labels["device"], labels["tool"]) == ("write", "mlx5_3", "perftest")
    assert found.samples.read == 1


@pytest.mark.parametrize(
    ("title", "operation", "path"),
    [
        ("RDMA_Write Latency Test", "write", "half"),
        ("Send Latency Test", "send", "half"),
        ("RDMA_Read Latency Test", "read", "whole"),
        ("Atomic FETCH_AND_ADD Latency Test", "atomic", "whole"),
    ],
)
def test_half_and_whole_round_trips_are_kept_apart(title: str, operation: str, path: str) -> None:
    labels = found_in(output(HEADER, ROW, title=title)).readings[0].labels
    assert (labels["operation"], labels["path"]) == (operation, path)


def test_old_versions_have_fewer_columns() -> None:
    header = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]"
    found = found_in(output(header, " 2       1000          0.88        6.84      0.98   "))
    assert values(found) == {"min": micro(0.88), "max": micro(6.84), "median": micro(0.98)}


def test_columns_that_ran_together_are_told_apart_by_their_two_decimals() -> None:
    row = " 2       1000          453.06       37330.73     692.41        928.05       2465.901216.65     37330.73"
    found = found_in(output(HEADER, row, title="Send Latency Test"))
    assert (values(found)["stdev"], values(found)["p99"]) == (micro(2465.90), micro(1216.65))
    assert split_row("2 10 1.00123.4599.00", ("#bytes", "#iterations", "t_min", "t_max", "t_avg")) == [
        2,
        10,
        1,
        123.45,
        99,
    ]


def test_noise_between_rows_is_no_sample() -> None:
    found = found_in(output(HEADER, NOISE, NOISE, ROW, NOISE))
    assert (found.samples.read, found.samples.used) == (1, 1)


def test_a_row_per_size_is_a_sample_each() -> None:
    rows = [ROW.replace(" 2  ", f" {2**n}  ", 1) for n in range(1, 10)]
    found = found_in(output(HEADER, *rows))
    assert found.samples.used == 9
    assert values(found, size="512")["median"] == micro(1.47)


def test_duration_mode_tells_a_mean_and_a_rate_alone() -> None:
    header = " #bytes        #iterations       t_avg[usec]    tps average"
    found = found_in(output(header, NOISE, " 2             62078352            2.42           413812.77"))
    assert values(found) == {"mean": micro(2.42)}
    assert values(found, RATE) == {"mean": Known(413812.77)}


@pytest.mark.parametrize(("unit", "factor"), [("MB/sec", 1024.0**2), ("MiB/sec", 1024.0**2), ("Gb/sec", 1e9 / 8)])
def test_bandwidth_is_in_bytes_per_second(unit: str, factor: float) -> None:
    header = f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"
    found = found_in(
        output(
            header,
            " 65536      5000             92.42              92.40              0.176230",
            title="RDMA_Write BW Test",
        )
    )
    assert values(found, BANDWIDTH, "65536") == {"peak": Known(92.42 * factor), "mean": Known(92.40 * factor)}
    assert values(found, RATE, "65536") == {"mean": Known(0.176230 * 1e6)}


def test_a_histogram_tells_its_quantiles_and_each_line_is_a_sample() -> None:
    lines = ["#, usec", *(f"{n}, {n / 100:.2f}" for n in range(1, 101)), HEADER, ROW]
    found = found_in(output(*lines))
    assert found.samples.used == 101
    assert values(found, size="") == {"median": micro(0.51), "p99": micro(1.0), "p99.9": micro(1.0)}
    assert values(found)["median"] == micro(1.47)


def test_output_of_the_latency_alone_is_one_bare_number() -> None:
    assert values(found_in("1.470000\n"), size="") == {"mean": micro(1.47)}


@pytest.mark.parametrize(
    ("lines", "dropped"),
    [
        ([HEADER, " 2       1000          1.42    "], {"row does not fit its header": 1}),
        ([HEADER, " 2       1000          1.42           nan         1.47  1.48 0.02 1.57 1.93"], {"not a number": 1}),
        ([HEADER, ROW, " 4 10x0 1.2"], {"row does not fit its header": 1}),
        ([" 2       1000          1.42           1.93"], {"row without a header": 1}),
    ],
)
def test_a_bad_row_is_dropped_by_name_and_hides_no_other(lines: list[str], dropped: dict[str, int]) -> None:
    found = found_in(output(*lines))
    assert found.samples.dropped == dropped
    assert found.samples.used == int(ROW in lines)


def test_a_row_that_was_cut_off_is_said_to_be() -> None:
    text = output(HEADER, ROW).rstrip("-\n")
    assert found_in(text[: text.rindex("1.57")]).samples.dropped == {"truncated row": 1}


def test_outputs_of_two_runs_mixed_lose_no_row() -> None:
    read = output(HEADER, ROW, title="RDMA_Read Latency Test", device="mlx5_1")
    lines = [line for pair in zip(read.splitlines(), output(HEADER, ROW).splitlines(), strict=True) for line in pair]
    assert found_in("\n".join(lines)).samples.used == 2


def test_two_runs_that_wrote_into_one_line_are_two_rows() -> None:
    found = found_in(output(f"{HEADER}{HEADER}", f"{ROW}{ROW}"))
    assert (found.samples.read, found.samples.used) == (2, 2)


def test_a_histogram_in_cycles_is_passed_on() -> None:
    found = found_in(output(HEADER, "#, cycles", "1, 3000", "2, 3100", ROW))
    assert (found.samples.used, found.samples.passed) == (1, 2)
    assert values(found, size="") == {}


VALID = """{
"test_info": {"test": "RDMA_Write Latency Test", "Device": "mlx5_0", "Mtu": 4096},
"results": {"MsgSize": 2, "n_iterations": 1000, "t_min": 1.42, "t_max": 1.93, "t_typical": 1.47, "t_avg": 1.48,
 "t_stdev": 0.02, "percentile_99": 1.57, "percentile_99.9": 1.93}
}
"""
INVALID = """{
test_info: {
test: RDMA_Write_Latency_Test,
Device: mlx5_0,
sl: ,
},
results: {
MsgSize: 2,
n_iterations: 1000,
t_min: 1.42,
t_max: 1.93,
t_typical: 1.47,
t_avg: 1.48,
t_stdev: 0.02,
percentile_99: 1.57,
percentile_99.9: 1.93,
},
}
"""


@pytest.mark.parametrize("text", [VALID, INVALID])
def test_json_reads_like_the_table_even_where_it_is_none(text: str) -> None:
    found = found_in(text)
    assert values(found) == values(found_in(output(HEADER, ROW)))
    assert (found.readings[0].labels["operation"], found.readings[0].labels["device"]) == ("write", "mlx5_0")
    assert found.samples.used == 1


def test_json_that_was_cut_off_is_a_truncated_result() -> None:
    assert found_in(INVALID[: INVALID.index("t_avg")]).samples.dropped == {"truncated result": 1}


def test_times_in_cycles_are_not_taken_for_microseconds() -> None:
    found = found_in(output(HEADER.replace("usec", "cycles"), ROW))
    assert found.readings == ()
    assert found.notes == ("times in processor cycles can not be read: run perftest without -C",)

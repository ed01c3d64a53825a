"""What the tool of a probe printed → the latencies that were asked for, or why there are none. Pure.

A run that ended early, measured something else or stands in cycles gives none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from collector.catalogue.rdma import PROBE_LATENCY
from collector.model.collected import NormalReading
from collector.model.probing import Operation, Tool
from collector.model.reading import Reading, Unknown
from collector.parse.perftest import perftest_readings
from collector.parse.ucx import percentile_latency

_STATISTICS: Final = {0.5: "median", 0.99: "p99"}
_NOT_YET: Final = ("Connection refused", "Couldn't connect")


def run_latencies(
    text: str, tool: Tool, operation: Operation, quantiles: Sequence[float], iterations: int
) -> Mapping[float, Reading[float]]:
    """Quantile → latency in seconds of one run, for each of `quantiles`."""
    if tool is Tool.UCX:
        return {quantile: percentile_latency(text, 100 * quantile, iterations) for quantile in quantiles}
    told = [one for one in perftest_readings(text).readings if one.name == PROBE_LATENCY]
    return {quantile: _of(told, operation, _STATISTICS[quantile]) for quantile in quantiles}


def is_not_up_yet(text: str) -> bool:
    """Whether the tool says that nobody listens at the other end: it may be tried again."""
    return any(words in text for words in _NOT_YET)


def _of(told: Sequence[NormalReading], operation: Operation, statistic: str) -> Reading[float]:
    of_operation = [one for one in told if one.labels["operation"] == operation.value]
    found = [one.value for one in of_operation if one.labels["statistic"] == statistic]
    if found:
        value = found[-1]
        return value if isinstance(value, Unknown) or value.value > 0 else Unknown("perftest gave a latency of 0")
    if told and not of_operation:
        return Unknown(f"perftest measured {told[0].labels['operation'] or 'something else'}, asked was {operation}")
    return Unknown(f"perftest gave no {statistic}")

"""Asks a Prometheus-compatible server, bounded in time and size; each way to fail is an error of its own.

Wraps prometheus-api-client, whose own defaults are no time-out, no limit and one error for everything. Answers that the
server itself calls partial are refused: what was left out of them would look like nothing. Not for several threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from prometheus_api_client import PrometheusConnect
from urllib3.util.retry import Retry

from collector.sources.errors import Malformed
from collector.sources.network_words import shown_address
from collector.sources.prometheus_session import BoundedSession, Partial, PrometheusLimits


@dataclass(frozen=True, slots=True)
class VectorSample:
    """One series at one moment. `timestamp` is the moment of evaluation, not the age of what lies behind it."""

    labels: Mapping[str, str]
    value: float
    timestamp: float


@dataclass(frozen=True, slots=True)
class RangeSeries:
    """One series over a time: (epoch seconds, value) pairs in order."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


def quoted(text: str) -> str:
    """A text as a string of PromQL, for the value of a label."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class Prometheus:
    """One server, such as http://prometheus:9090, or a path prefix below which /api/v1 is served."""

    def __init__(self, url: str, limits: PrometheusLimits | None = None) -> None:
        self.url = shown_address(url).rstrip("/")
        """For messages, without a password."""
        self._limits = limits or PrometheusLimits()
        self._session = BoundedSession(self._limits)
        # GET: the library sends parameters in the address with either method, so POST would win nothing.
        self._client = PrometheusConnect(
            url.rstrip("/"), retry=Retry(0, read=False), session=self._session, timeout=self._limits.total_seconds
        )

    def instant(self, query: str, at: float | None = None) -> Sequence[VectorSample]:
        """The result at a moment (epoch seconds; None: the server's now). Raises SourceError."""
        parameters = self._parameters() | ({} if at is None else {"time": f"{at:.3f}"})
        rows = self._client.custom_query(query, params=parameters)
        return [self._sample(row) for row in self._bounded(rows)]

    def range_query(self, query: str, start: float, end: float, step_seconds: float) -> Sequence[RangeSeries]:
        """The result every `step_seconds` from `start` to `end` (epoch seconds, whole). Raises SourceError.

        Raises ValueError when that would be more points per series than the limit.
        """
        points = (end - start) / step_seconds
        if not 0 <= points <= self._limits.points_per_series:
            raise ValueError(f"{points:.0f} points per series, expected 0 to {self._limits.points_per_series}")
        moments = (datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC))
        rows = self._client.custom_query_range(query, *moments, f"{step_seconds:g}", params=self._parameters())
        return [self._series(row) for row in self._bounded(rows)]

    def close(self) -> None:
        """Drops the open connections."""
        self._session.close()

    def _parameters(self) -> dict[str, str]:
        # Servers that know `limit` warn when they cut; of others the length of the answer is looked at.
        return {"timeout": f"{self._limits.total_seconds:g}s", "limit": str(self._limits.series)}

    def _bounded(self, rows: list[Any]) -> list[Any]:
        if len(rows) > self._limits.series:
            raise Partial("GET", self.url, f"more than {self._limits.series} series")
        return rows

    def _sample(self, row: Any) -> VectorSample:
        try:
            moment, value = row["value"]
            return VectorSample(_labels(row["metric"]), float(value), float(moment))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Malformed("GET", self.url, f"expected an instant vector, got {str(row)[:80]}") from error

    def _series(self, row: Any) -> RangeSeries:
        try:
            points = tuple((float(moment), float(value)) for moment, value in row["values"])
            return RangeSeries(_labels(row["metric"]), points)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Malformed("GET", self.url, f"expected a range vector, got {str(row)[:80]}") from error


def _labels(metric: Mapping[str, str]) -> Mapping[str, str]:
    return {str(name): str(value) for name, value in metric.items()}

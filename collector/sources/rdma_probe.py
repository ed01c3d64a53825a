"""Measures one edge with a real `ucx_perftest`: a server at the destination, a client at the source, twice.

Runs the commands it was given and no shell; each is bounded in time at its own host too, by `timeout`, since ending an
`ssh` does not end what it started. One probe at a time: two would measure each other. Raises nothing for what fails.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from collector.model.fabric import QUANTILES, ProbePlan, ProbeTarget
from collector.model.reading import Known, Reading, Unknown
from collector.parse.ucx import complaint, percentile_latency
from collector.sources.bounded_process import BoundedProcess, running

_WARM_UP: Final = 20
_MESSAGE_BYTES: Final = 8
_POLL_SECONDS: Final = 0.02
_SLACK_SECONDS: Final = 1.0
"""How much longer a command may run by its own bound: ours comes first, so that it is told as what it is."""
_RETRY_SECONDS: Final = 0.1
_SERVER_GONE_SECONDS: Final = 2.0
"""A client that runs on for so long after its server ended waits in vain."""
_NOT_YET: Final = "Connection refused"
_USUAL_ENVIRONMENT: Final = {"UCX_LOG_LEVEL": "error", "UCX_WARN_UNUSED_ENV_VARS": "n"}


class ProbeFault(StrEnum):
    """What went wrong, as the label `reason` of trimtab_collector_errors_total."""

    NO_COMMAND = "no_command"
    """A program that should reach a node is not on this machine."""
    NO_SERVER = "no_server"
    """The destination did not serve, or went away."""
    TIMEOUT = "timeout"
    NO_RESULT = "no_result"
    """It ran and said nothing that can be read."""
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ProbeFailed:
    """No latency. `sentence` is for a person, `fault` for the error counter."""

    fault: ProbeFault
    sentence: str


@dataclass(frozen=True, slots=True)
class Probed:
    """What one probe brought. After a failed run the others are not tried."""

    latency_seconds: Mapping[float, Reading[float]]
    failed: ProbeFailed | None = None


class RdmaProber:
    """Probes edges by the plan, one at a time. `close` ends the probe under way."""

    def __init__(self, plan: ProbePlan) -> None:
        self._plan = plan
        self._one_at_a_time = threading.Lock()
        self._closed = threading.Event()

    @property
    def closed(self) -> bool:
        """Whether it takes no more probes."""
        return self._closed.is_set()

    def probe(self, target: ProbeTarget) -> Probed:
        """The latency of the edge at each quantile."""
        latencies: dict[float, Reading[float]] = {}
        failed: ProbeFailed | None = None
        with self._one_at_a_time:
            for quantile in QUANTILES:
                run = failed or self._run(target, 100 * quantile)
                if isinstance(run, ProbeFailed):
                    failed = run
                    latencies[quantile] = Unknown(run.sentence)
                else:
                    latencies[quantile] = run
        return Probed(latencies, failed)

    def close(self) -> None:
        """Take no more probes, and end the one under way."""
        self._closed.set()

    def _run(self, target: ProbeTarget, rank: float) -> Known[float] | ProbeFailed:
        deadline = time.monotonic() + self._plan.timeout_seconds
        try:
            with running(self._command(target, target.server)) as server:
                ask = ("-f", "-v", "-R", f"{rank:g}", target.address)
                return self._ask(self._command(target, target.client, ask), rank, server, deadline)
        except OSError as error:
            return ProbeFailed(ProbeFault.NO_COMMAND, f"{error.filename}: {error.strerror}")

    def _ask(
        self, command: Sequence[str], rank: float, server: BoundedProcess, deadline: float
    ) -> Known[float] | ProbeFailed:
        """The client, again and again until the server listens."""
        while True:
            with running(command) as client:
                failed = self._wait(client, server, deadline)
                text = client.output()
            reading = percentile_latency(text, rank, self._plan.iterations)
            if isinstance(reading, Known):
                return reading
            if failed is not None:
                return failed
            if _NOT_YET not in text:
                return ProbeFailed(ProbeFault.NO_RESULT, with_last_line(reading.reason, text))
            if server.ended:
                return ProbeFailed(ProbeFault.NO_SERVER, with_last_line("the server ended at once", server.output()))
            self._closed.wait(_RETRY_SECONDS)

    def _wait(self, client: BoundedProcess, server: BoundedProcess, deadline: float) -> ProbeFailed | None:
        """Until the client ends, or why it is not waited for any longer."""
        server_seen_at = time.monotonic()
        while not client.ended:
            now = time.monotonic()
            server_seen_at = server_seen_at if server.ended else now
            if self._closed.is_set():
                return ProbeFailed(ProbeFault.STOPPED, "the collector stops")
            if now > deadline:
                return ProbeFailed(ProbeFault.TIMEOUT, f"no result within {self._plan.timeout_seconds:g} s")
            if now - server_seen_at > _SERVER_GONE_SECONDS:
                return ProbeFailed(ProbeFault.NO_SERVER, with_last_line("the server ended", server.output()))
            time.sleep(_POLL_SECONDS)
        return None

    def _command(self, target: ProbeTarget, prefix: Sequence[str], client_words: Sequence[str] = ()) -> list[str]:
        environment = {**_USUAL_ENVIRONMENT, **target.environment}
        plan = self._plan
        return [
            *prefix,
            "env",
            *(f"{name}={value}" for name, value in environment.items()),
            "timeout",
            f"{plan.timeout_seconds + _SLACK_SECONDS:g}",
            "ucx_perftest",
            *("-t", "tag_lat", "-s", str(_MESSAGE_BYTES), "-n", str(plan.iterations), "-w", str(_WARM_UP)),
            *("-E", plan.progress, "-p", str(target.port)),
            *client_words,
        ]


def with_last_line(what: str, text: str) -> str:
    """`what`, and why: UCX's own complaint unless it is told already, else the last line of another program."""
    lines = text.strip().splitlines()
    why = complaint(text) or (lines[-1].strip()[:200] if lines else "")
    return what if not why or why in what else f"{what}: {why}"

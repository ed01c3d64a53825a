"""Starts the two ends of one run of a probe's tool (perftest or ucx_perftest): here as a server, here as a client.

Runs no shell. Each command is bounded by `timeout` as well, so that what outlives us ends. Which device, traffic class
and GID are used stands in the settings alone: nobody who asks can choose them. Raises nothing for what fails.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from collector.model.probing import QUANTILES, Nic, Operation, ProbeSettings, Tool
from collector.model.reading import Known, Reading
from collector.parse.probe_output import is_not_up_yet, run_latencies
from collector.parse.ucx import complaint
from collector.sources.bounded_process import BoundedProcess, running

MESSAGE_BYTES: Final = 8
_WARM_UP: Final = 20
_POLL_SECONDS: Final = 0.02
_RETRY_SECONDS: Final = 0.1
_SLACK_SECONDS: Final = 1.0
_PROGRAMS: Final = {Operation.WRITE: "ib_write_lat", Operation.READ: "ib_read_lat", Operation.SEND: "ucx_perftest"}
_USUAL_ENVIRONMENT: Final = {"UCX_LOG_LEVEL": "error", "UCX_WARN_UNUSED_ENV_VARS": "n"}


class ProbeFault(StrEnum):
    """Why a probe brought no latency, as the label `reason` of counters."""

    NO_COMMAND = "no_command"
    UNREACHABLE = "unreachable"
    """The other node's collector does not answer."""
    REFUSED = "refused"
    """It answers and will not serve: another token, or another list of NICs."""
    BUSY = "busy"
    """A NIC is being probed already: no fault of anybody."""
    NO_SERVER = "no_server"
    """Nobody listened at the NIC's address, though the other collector had started the server."""
    TIMEOUT = "timeout"
    NO_RESULT = "no_result"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tool: an operation, and what of its distribution is asked for."""

    operation: Operation
    quantiles: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RunFailed:
    """`sentence` is for a person."""

    fault: ProbeFault
    sentence: str


def runs_of(tool: Tool) -> tuple[Run, ...]:
    """The runs of one probe. UCX tells one percentile a run."""
    if tool is Tool.PERFTEST:
        return tuple(Run(operation, QUANTILES) for operation in tool.operations)
    return tuple(Run(operation, (quantile,)) for operation in tool.operations for quantile in QUANTILES)


def missing_program(run: Run) -> str:
    """A sentence about the program of a run that is not on this machine; empty: it is."""
    name = _PROGRAMS[run.operation]
    return "" if shutil.which(name) else f"{name} is not installed here"


def command(settings: ProbeSettings, nic: Nic, run: Run, port: int, address: str = "") -> list[str]:
    """One end of a run: the server, or with the address of the server's NIC the client."""
    within = settings.timeout_seconds + _SLACK_SECONDS
    words = ["timeout", f"{within:g}", _PROGRAMS[run.operation]]
    if settings.tool is Tool.PERFTEST:
        words += ["-d", nic.device, "-s", str(MESSAGE_BYTES), "-n", str(settings.iterations), "-p", str(port), "-F"]
        words += [] if settings.gid_index is None else ["-x", str(settings.gid_index)]
        words += [] if settings.traffic_class is None else [f"--tclass={settings.traffic_class}"]
    else:
        words += ["-t", "tag_lat", "-s", str(MESSAGE_BYTES), "-n", str(settings.iterations), "-w", str(_WARM_UP)]
        words += ["-E", settings.progress, "-p", str(port)]
        words += ["-f", "-v", "-R", f"{100 * run.quantiles[0]:g}"] if address else []
    return words + ([address] if address else [])


def environment(settings: ProbeSettings, nic: Nic) -> Mapping[str, str]:
    """What UCX is told through variables: device, traffic class and GID, and what the settings add or change."""
    found = {**_USUAL_ENVIRONMENT, "UCX_NET_DEVICES": f"{nic.device}:1"}
    if settings.traffic_class is not None:
        found["UCX_IB_TRAFFIC_CLASS"] = str(settings.traffic_class)
    if settings.gid_index is not None:
        found["UCX_IB_GID_INDEX"] = str(settings.gid_index)
    return {**found, **settings.environment}


class ToolServer(threading.Thread):
    """The server's end of one run, in a thread of its own; `over` is called when it has ended, however it did."""

    def __init__(self, settings: ProbeSettings, nic: Nic, run: Run, over: Callable[[], None]) -> None:
        super().__init__(name="probe-server", daemon=True)
        self._settings, self._nic, self._run_of, self._over = settings, nic, run, over
        self._over_with = threading.Event()
        self._began = threading.Event()
        self.problem = ""
        """Why it could not be started; empty: it was."""

    def began(self) -> bool:
        """Start, and say whether the program runs."""
        self.start()
        self._began.wait(self._settings.timeout_seconds)
        return not self.problem

    def finish(self) -> None:
        """Until it has ended, as it does after its client, or is ended."""
        self.join(_SLACK_SECONDS)
        self._over_with.set()
        self.join()

    def run(self) -> None:
        """Until the program ends, its time is up or it is told to stop."""
        words = command(self._settings, self._nic, self._run_of, self._settings.data_port(self._nic))
        self.problem = missing_program(self._run_of)
        try:
            if self.problem:
                return
            with running(_with(words, environment(self._settings, self._nic))) as process:
                self._began.set()
                _wait(process, self._settings.timeout_seconds + _SLACK_SECONDS, self._over_with)
        except OSError as error:
            self.problem = f"{error.filename}: {error.strerror}"
        finally:
            self._began.set()
            self._over()


def ask(
    settings: ProbeSettings, nic: Nic, run: Run, server: Nic, stop: threading.Event
) -> Mapping[float, Reading[float]] | RunFailed:
    """The client's end of one run, tried again until the server listens. Quantile → latency in seconds, all known."""
    words = command(settings, nic, run, settings.data_port(server), server.address)
    deadline = time.monotonic() + settings.timeout_seconds
    missing = missing_program(run)
    while not missing:
        try:
            with running(_with(words, environment(settings, nic))) as client:
                ended = _wait(client, deadline - time.monotonic(), stop)
                text = client.output()
        except OSError as error:
            return RunFailed(ProbeFault.NO_COMMAND, f"{error.filename}: {error.strerror}")
        told = run_latencies(text, settings.tool, run.operation, run.quantiles, settings.iterations)
        if all(isinstance(one, Known) for one in told.values()):
            return told
        if stop.is_set():
            return RunFailed(ProbeFault.STOPPED, "the collector stops")
        if not ended or time.monotonic() > deadline:
            if is_not_up_yet(text):
                return RunFailed(ProbeFault.NO_SERVER, f"nobody listens at {server.address}")
            return RunFailed(ProbeFault.TIMEOUT, f"no result within {settings.timeout_seconds:g} s")
        if not is_not_up_yet(text):
            return RunFailed(ProbeFault.NO_RESULT, _why(told, text))
        stop.wait(_RETRY_SECONDS)
    return RunFailed(ProbeFault.NO_COMMAND, missing)


def load_ratio() -> float:
    """How many programs wanted a core in the last minute, by cores; 0 where the machine does not tell."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return 0.0


def _with(words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in variables.items()), *words]


def _wait(process: BoundedProcess, seconds: float, stop: threading.Event) -> bool:
    """Whether it ended by itself in that time."""
    deadline = time.monotonic() + seconds
    while not process.ended:
        if time.monotonic() > deadline or stop.is_set():
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _why(told: Mapping[float, Reading[float]], text: str) -> str:
    reasons = [one.reason for one in told.values() if not isinstance(one, Known)]
    lines = text.strip().splitlines()
    last = complaint(text) or (lines[-1].strip()[:200] if lines else "it said nothing")
    return reasons[0] if last in reasons[0] else f"{reasons[0]}: {last}"

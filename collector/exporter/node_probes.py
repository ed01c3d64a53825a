"""The probes of one node: serves those of others who have the token, and asks its own links. At most one at each NIC.

What a peer may ask for is little: one run, of the operations of the configured tool, at a NIC of this node, from a NIC
in the list. Device, traffic class, GID and ports come from the configuration alone. A probe that finds a NIC busy is no
failure. Raises nothing for what fails.
"""

from __future__ import annotations

import hmac
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from collector.assemble.probe_memory import ProbeMemory
from collector.exporter.histogram import Histogram
from collector.model.probing import Link, LinkProbe, Nic, Operation, ProbeSettings, Quantity
from collector.model.reading import Known, Reading, Unknown
from collector.sources.probe_peer import SERVE, PeerAnswer, ask_peer
from collector.sources.probe_tool import ProbeFault, Run, RunFailed, ToolServer, ask, runs_of

_BUSY_SECONDS: Final = 3.0
"""How long a busy NIC at the other end is waited for: the end of a run and the beginning of the next lie close."""
_RETRY_SECONDS: Final = 0.1
_NO_FAULT: Final = frozenset({ProbeFault.BUSY, ProbeFault.STOPPED})
BUCKETS_SECONDS: Final = tuple(2.0**n * 1e-6 for n in range(16))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a peer is told."""

    status: int
    document: Mapping[str, Any]


class NodeProbes:
    """Asked in the threads of the HTTP server and of the timetable."""

    def __init__(
        self, node: str, settings: ProbeSettings, token: str, clock: Callable[[], float], memory: ProbeMemory
    ) -> None:
        self.node, self.settings, self.memory = node, settings, memory
        self._token, self._clock = token, clock
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._stop = threading.Event()
        self.faults: Counter[tuple[str, str]] = Counter()
        """(device, fault) → probes that brought nothing."""
        self.histograms: dict[tuple[str, Operation], Histogram] = {}
        """(device, operation) → medians of its probes."""

    @property
    def nics(self) -> tuple[Nic, ...]:
        """Of this node, by the settings as they stand."""
        host = self.settings.host(self.node)
        return host.nics if host is not None else ()

    def authorized(self, header: str | None) -> bool:
        """Whether an Authorization header carries the shared token. Without a token nobody does."""
        scheme, _, given = (header or "").partition(" ")
        good = hmac.compare_digest(given.strip().encode(), self._token.encode())
        return bool(self._token) and scheme.lower() == "bearer" and good

    def serve(self, asked: object) -> Answer:
        """Starts the server's end of one run for a peer that is authorized."""
        wanted = self._wanted(asked)
        if isinstance(wanted, str):
            return Answer(403, {"message": wanted})
        nic, run = wanted
        if not self._take(nic):
            return Answer(409, {"message": f"{nic.key} is being probed"})
        server = ToolServer(self.settings, nic, run, lambda: self._leave(nic))
        if not server.began():
            return Answer(503, {"message": server.problem})
        return Answer(200, {"port": self.settings.data_port(nic)})

    def probe(self, link: Link) -> LinkProbe:
        """Asks one link whose source is here; remembered unless it was busy or is cut off."""
        source, destination = self.settings.nic(link.source), self.settings.nic(link.destination)
        if source is None or destination is None or source.node != self.node:
            return self._failed(link, RunFailed(ProbeFault.REFUSED, f"{link} is no link of {self.node}"))
        if not self._take(source):
            return self._failed(link, RunFailed(ProbeFault.BUSY, f"{link.source} is being probed"))
        try:
            outcome = self._runs(source, destination)
        finally:
            self._leave(source)
        if isinstance(outcome, RunFailed):
            return self._failed(link, outcome)
        probe = LinkProbe(link, self._clock(), outcome)
        with self._lock:
            self.memory = self.memory.advance(probe)
            if not link.is_loop:
                self._count(source, outcome)
        return probe

    def close(self) -> None:
        """End what is under way."""
        self._stop.set()

    def _wanted(self, asked: object) -> tuple[Nic, Run] | str:
        """The NIC and the run that a peer asks for, or why not."""
        match asked:
            case {"source": str(source), "destination": str(key), "operation": str(name), "quantiles": list(quantiles)}:
                nic = self.settings.nic(key)
                if nic is None or nic.node != self.node:
                    return f"{key[:200]} is no NIC of {self.node} in its list"
                if self.settings.nic(source) is None:
                    return f"{source[:200]} is not in the list of {self.node}"
                for run in runs_of(self.settings.tool):
                    if run.operation == name and list(run.quantiles) == quantiles:
                        return nic, run
                return f"{self.node} measures with {self.settings.tool}, and not that"
        return "expected source, destination, operation and quantiles"

    def _runs(self, source: Nic, destination: Nic) -> Mapping[Quantity, Reading[float]] | RunFailed:
        found: dict[Quantity, Reading[float]] = {}
        for run in runs_of(self.settings.tool):
            opened = self._open(source, destination, run)
            if isinstance(opened, RunFailed):
                return opened
            told = ask(self.settings, source, run, destination, self._stop)
            opened()
            if isinstance(told, RunFailed):
                return told
            found |= {(run.operation, quantile): value for quantile, value in told.items()}
        return found

    def _open(self, source: Nic, destination: Nic, run: Run) -> RunFailed | Callable[[], None]:
        """Has a server started at the destination. Returns what is to be called when the run is over."""
        if source == destination:
            own = ToolServer(self.settings, source, run, lambda: None)
            return own.finish if own.began() else RunFailed(ProbeFault.NO_COMMAND, own.problem)
        answer = self._ask_for_server(source, destination, run)
        if answer.status == 200:
            return lambda: None  # it ends by itself, and at its time at the latest
        fault = {0: ProbeFault.UNREACHABLE, 409: ProbeFault.BUSY, 503: ProbeFault.NO_COMMAND}.get(answer.status)
        return RunFailed(fault or ProbeFault.REFUSED, f"{destination.node}: {answer.message}")

    def _ask_for_server(self, source: Nic, destination: Nic, run: Run) -> PeerAnswer:
        host = self.settings.host(destination.node)
        if host is None:
            return PeerAnswer(problem=f"{destination.node} is not in the list")
        body = {
            "source": source.key,
            "destination": destination.key,
            "operation": run.operation.value,
            "quantiles": list(run.quantiles),
        }
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            answer = ask_peer(host.address, self.settings.port, SERVE, self._token, body)
            if answer.status != 409 or time.monotonic() > deadline or self._stop.wait(_RETRY_SECONDS):
                return answer

    def _failed(self, link: Link, failed: RunFailed) -> LinkProbe:
        quantities = [(run.operation, quantile) for run in runs_of(self.settings.tool) for quantile in run.quantiles]
        latencies = {quantity: Unknown(failed.sentence) for quantity in quantities}
        probe = LinkProbe(link, self._clock(), latencies, failed.fault)
        with self._lock:
            self.faults[link.source.partition("/")[2], failed.fault.value] += 1
            if failed.fault not in _NO_FAULT:
                self.memory = self.memory.advance(probe)
        return probe

    def _count(self, nic: Nic, latencies: Mapping[Quantity, Reading[float]]) -> None:
        for (operation, quantile), value in latencies.items():
            if quantile == 0.5 and isinstance(value, Known):
                key = (nic.device, operation)
                self.histograms.setdefault(key, Histogram(BUCKETS_SECONDS)).observe(value.value)

    def _take(self, nic: Nic) -> bool:
        with self._lock:
            free = nic.key not in self._busy
            self._busy.add(nic.key)
            return free

    def _leave(self, nic: Nic) -> None:
        with self._lock:
            self._busy.discard(nic.key)

"""Walks the timetable of one node's probes, keeps what is usual over restarts, and serves peers; until told to stop.

Loaded only where probes are asked for. A file of settings that was broken while running is said and not taken.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
from starlette.routing import Route

from collector.assemble.probe_graph import is_due, next_pace, own_turns
from collector.assemble.probe_memory import ProbeMemory, memory_document, read_memory
from collector.exporter.node_probes import Answer, NodeProbes
from collector.exporter.probe_families import NodeProbeCollector
from collector.exporter.probe_http import node_routes
from collector.model.probing import Link, LinkProbe, ProbeSettings, Turn, Where
from collector.parse.probe_links import links_document
from collector.sources.drained_nodes import DrainedUnknown
from collector.sources.probe_tool import ProbeFault, load_ratio
from controller.api.errors import InputError
from controller.runtime.probe_file import ProbeFile

_LOG = structlog.get_logger("trimtab.collector")
_PATIENCE_SECONDS: Final = 60.0
_TRY_AGAIN_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class ProbingOptions:
    """What the command line says about probes."""

    file: ProbeFile
    token: str
    state_file: Path | None = None


class NodeProbing:
    """The probes of this node. `run` in a thread of its own; `routes` and `collector` belong to the metrics server."""

    def __init__(self, node: str, options: ProbingOptions, drained: Callable[[], frozenset[str]]) -> None:
        """Raises InputError for a file that is not good from the start."""
        self._options, self._drained = options, drained
        self.probes = NodeProbes(node, options.file.settings(), options.token, time.time, _kept(options.state_file))
        self._pace = 1
        self._told: dict[str, str] = {}

    @property
    def routes(self) -> Sequence[Route]:
        """What peers and people may ask."""
        return node_routes(self.probes, self.run_now, self.document)

    def collector(self, cluster: str) -> NodeProbeCollector:
        """Its metrics."""
        return NodeProbeCollector(cluster, self.probes, lambda: self._pace)

    def document(self) -> Mapping[str, Any]:
        """All links that this node asks."""
        return {"node": self.probes.node, "links": links_document(self.probes.memory.states())}

    def run(self, stop: threading.Event) -> None:
        """Period after period."""
        while not stop.is_set():
            period = self.probes.settings.period_seconds
            epoch = int(time.time() // period)
            self._walk(epoch, stop)
            self._keep()
            stop.wait(max(0.0, (epoch + 1) * period - time.time()))
            self._read_settings()
        self.probes.close()
        self._keep()

    def run_now(self, asked: object) -> Answer:
        """Probes every rail that this node shares with another, and its own NICs, one after the other."""
        match asked:
            case {"destination": str(node)} if (host := self.probes.settings.host(node)) is not None:
                own = self.probes.nics
                links = [Link(mine.key, nic.key) for mine in own for nic in host.nics if nic.rail == mine.rail]
                loops = [Link(mine.key, mine.key) for mine in own]
                told = [self._probe_patiently(link) for link in dict.fromkeys((*links, *loops))]
                states = [self.probes.memory.state_after(probe) for probe in told]
                return Answer(200, {"node": self.probes.node, "links": links_document(states)})
        return Answer(404, {"message": f"expected a destination that is in the list of {self.probes.node}"})

    def _probe_patiently(self, link: Link) -> LinkProbe:
        """A person waits for probes that are under way; the timetable would take the next turn."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            probe = self.probes.probe(link)
            if probe.fault != ProbeFault.BUSY or time.monotonic() > deadline:
                return probe
            time.sleep(_TRY_AGAIN_SECONDS)

    def _walk(self, epoch: int, stop: threading.Event) -> None:
        """The turns of one period that are still to come, each at its time."""
        settings = self.probes.settings
        self._pace = next_pace(self._pace, load_ratio() / settings.full_load)
        chosen = self._chosen(settings)
        begins = epoch * settings.period_seconds
        for turn in own_turns(settings, self.probes.node, epoch):
            wait = begins + turn.offset_seconds - time.time()
            if wait < -self._late(settings) or not chosen(turn) or not is_due(turn.link, epoch, self._pace):
                continue  # what is so late would meet the next slot
            if stop.wait(max(0.0, wait)):
                return
            probe = self.probes.probe(turn.link)
            failed = probe.fault and probe.fault not in (ProbeFault.BUSY, ProbeFault.STOPPED)
            self._say(str(turn.link), _reason(probe) if failed else None, "was not measured")

    def _late(self, settings: ProbeSettings) -> float:
        return max(settings.timeout_seconds, settings.period_seconds / (2 * settings.degree + 2))

    def _chosen(self, settings: ProbeSettings) -> Callable[[Turn], bool]:
        if settings.where is Where.ALL:
            return lambda _: True
        nodes: frozenset[str] = frozenset()
        if settings.where is Where.DRAINED:
            try:
                nodes = self._drained()
                self._say("drained nodes", None, "")
            except DrainedUnknown as unknown:
                self._say("drained nodes", str(unknown), "are not probed")
        return lambda turn: any(end.partition("/")[0] in nodes for end in (turn.link.source, turn.link.destination))

    def _read_settings(self) -> None:
        try:
            self.probes.settings = self._options.file.settings()
            self._say("settings", None, "")
        except InputError as error:
            self._say("settings", "; ".join(map(str, error.mistakes)), "were not taken")

    def _keep(self) -> None:
        """Writes what is usual beside the file and puts it in its place: half a file is never read."""
        file = self._options.state_file
        if file is None:
            return
        draft = file.with_name(f"{file.name}.new")
        try:
            draft.write_text(json.dumps(memory_document(self.probes.memory)), encoding="utf-8")
            draft.replace(file)
            self._say("state", None, "")
        except OSError:
            self._say("state", f"{file} can not be written", "is not kept over a restart")

    def _say(self, what: str, problem: str | None, means: str) -> None:
        """Each problem once, and once when it is over."""
        if problem is not None and self._told.get(what) != problem:
            _LOG.warning("probes", what=what, means=means, problem=problem)
            self._told[what] = problem
        elif problem is None and self._told.pop(what, None) is not None:
            _LOG.info("probes", what=what, means="all is well again")


def _reason(probe: LinkProbe) -> str:
    reasons = (getattr(one, "reason", "") for one in probe.latency_seconds.values())
    return f"{probe.fault}: {next(reasons, '')}"


def _kept(file: Path | None) -> ProbeMemory:
    """What an earlier process left; nothing where there is none or it can not be read."""
    if file is None:
        return ProbeMemory()
    with suppress(OSError, ValueError, RecursionError):
        kept = read_memory(json.loads(file.read_text(encoding="utf-8")))
        if kept is not None:
            _LOG.info("probes", what="state", means="goes on", links=len(kept.links))
            return kept
    return ProbeMemory()

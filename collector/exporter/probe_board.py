"""What the probes of all nodes say together, gathered now and then by the cluster role. Measures nothing itself.

Probes are no source that decisions need: a node that does not answer has an age, and does not make blind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from collector.assemble.link_fabric import LinkFabric, link_fabric
from collector.assemble.probe_verdicts import ProbePicture, judge
from collector.exporter.health import DeviceSeen, Health
from collector.model.probing import LinkState, ProbeSettings
from collector.parse.probe_links import links_document
from collector.sources.probe_gather import Gathered

SOURCE: Final = "probes"
_PERIODS_UNTIL_STALE: Final = 12
"""More than the ten periods that a busy host may leave out."""


class ProbeBoard:
    """Gathers in one thread; its picture may be taken in any."""

    def __init__(
        self,
        settings: Callable[[], ProbeSettings],
        gathered: Callable[[ProbeSettings], Gathered],
        health: Health,
        clock: Callable[[], float],
    ) -> None:
        self._settings, self._gathered, self._health, self._clock = settings, gathered, health, clock
        self.picture = ProbePicture()
        self.fabric = LinkFabric(0.0)
        self._states: dict[str, tuple[LinkState, ...]] = {}

    def read(self) -> Mapping[str, str]:
        """One look at all nodes. Returns the sentence of each that did not answer."""
        settings = self._settings()
        found = self._gathered(settings)
        now = self._clock()
        nics, stale = {nic.key: nic for nic in settings.nics}, stale_after_seconds(settings)
        told: dict[str, list[LinkState]] = {host.node: [] for host in settings.hosts}
        for state in found.states:
            told[state.link.source.partition("/")[0]].append(state)
        # A node that does not answer goes on with what it said, until that is too old.
        self._states = {
            node: self._states.get(node, ()) if node in found.failures and not states else tuple(states)
            for node, states in told.items()
        }
        states = [state for of_node in self._states.values() for state in of_node]
        self.picture, self.fabric = judge(states, nics, now, stale), link_fabric(states, now, stale)
        for node, count in ((node, len(states)) for node, states in told.items()):
            if node in found.failures:
                self._health.unseen(SOURCE, node)
                self._health.error(SOURCE, node, "no answer")
            else:
                self._health.seen(SOURCE, node, DeviceSeen(now, count))
        return {node: f"probes of {node}: {sentence}" for node, sentence in found.failures.items()}

    def document(self) -> Mapping[str, Any]:
        """The matrix: all links with their verdicts, and what the slow ones point at."""
        return picture_document(self.picture)


def stale_after_seconds(settings: ProbeSettings) -> float:
    """How old a probe may be to say something about now."""
    return _PERIODS_UNTIL_STALE * settings.period_seconds


def picture_document(picture: ProbePicture) -> dict[str, Any]:
    """A picture as JSON values."""
    links = links_document(one.state for one in picture.links)
    for entry, one in zip(links, picture.links, strict=True):
        ratio = getattr(one.ratio, "value", None)
        entry |= {
            "hop": one.hop.value,
            "judged": one.judged,
            "ratio": None if ratio is None else round(ratio, 3),
            "unknown": getattr(one.ratio, "reason", ""),
        }
    suspects = [
        {"kind": one.kind.value, "name": one.name, "ratio": round(one.ratio, 3), "links": [str(e) for e in one.links]}
        for one in picture.suspects
    ]
    usual = [
        {"hop": hop.value, "operation": operation.value, "path": operation.path, "usual_seconds": seconds}
        for (hop, operation), seconds in sorted(picture.usual_of_hops.items())
    ]
    return {"links": links, "suspects": suspects, "usual_of_hops": usual}

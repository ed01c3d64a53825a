"""What probes of links said over days: the last ones, and what is usual for each link, operation and quantile. Pure.

A link that left the graph is forgotten after a week; a failed probe changes nothing of what is usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from collector.assemble.fabric import Usual
from collector.model.probing import Link, LinkProbe, LinkQuantity, LinkState, Quantity
from collector.model.reading import Known, Reading, Unknown
from collector.parse.probe_links import links_document, past_document, read_links, read_past

REMEMBERED: Final = 432
"""Three days, at one in ten minutes."""
FORGOTTEN_SECONDS: Final = 7 * 86400.0
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class LinkMemory:
    """One link: its last probe, the success before it, and what is usual."""

    last: LinkProbe
    before: LinkProbe | None = None
    usual: Mapping[Quantity, Usual] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProbeMemory:
    """All links that one node asks. Immutable."""

    links: Mapping[Link, LinkMemory] = field(default_factory=dict)

    def advance(self, probe: LinkProbe) -> ProbeMemory:
        """After one more probe."""
        old = self.links.get(probe.link)
        usual = dict(old.usual) if old is not None else {}
        for quantity, latency in probe.latency_seconds.items():
            if isinstance(latency, Known):
                usual[quantity] = usual.get(quantity, Usual(most=REMEMBERED)).advance(latency.value)
        before = None
        if old is not None:
            before = old.before if old.last.fault else old.last
        memory = LinkMemory(probe, before, MappingProxyType(usual))
        kept = {link: one for link, one in self.links.items() if probe.at - one.last.at < FORGOTTEN_SECONDS}
        return replace(self, links=MappingProxyType({**kept, probe.link: memory}))

    def states(self) -> tuple[LinkState, ...]:
        """Every link as others may read it."""
        return tuple(_state(link, memory) for link, memory in sorted(self.links.items()))

    def state_after(self, probe: LinkProbe) -> LinkState:
        """The link of a probe as that probe left it, whatever came after; one that was busy is told with its fault."""
        memory = self.links.get(probe.link)
        return _state(probe.link, LinkMemory(probe) if memory is None else replace(memory, last=probe))


def memory_document(memory: ProbeMemory) -> dict[str, Any]:
    """Everything, to be kept over a restart, as JSON values."""
    entries = links_document(memory.states())
    for entry, (_, one) in zip(entries, sorted(memory.links.items()), strict=True):
        entry["past"] = past_document({quantity: usual.values for quantity, usual in one.usual.items()})
    return {"version": _VERSION, "links": entries}


def read_memory(document: object) -> ProbeMemory | None:
    """What `memory_document` wrote; None for anything else. A link that is not as it must be is left out."""
    if not isinstance(document, dict) or document.get("version") != _VERSION:
        return None
    found: dict[Link, LinkMemory] = {}
    for entry in document.get("links") or ():
        states, _ = read_links([entry])
        for state in states:
            past = read_past(entry.get("past"))
            usual = {quantity: Usual(values[-REMEMBERED:], most=REMEMBERED) for quantity, values in past.items()}
            latest = {quantity: told.latest for quantity, told in state.quantities.items()}
            found[state.link] = LinkMemory(LinkProbe(state.link, state.at, latest, state.fault), None, usual)
    return ProbeMemory(MappingProxyType(found))


def _state(link: Link, memory: LinkMemory) -> LinkState:
    quantities = sorted({*memory.usual, *memory.last.latency_seconds})
    return LinkState(
        link, memory.last.at, memory.last.fault, {quantity: _quantity(memory, quantity) for quantity in quantities}
    )


def _quantity(memory: LinkMemory, quantity: Quantity) -> LinkQuantity:
    latest = _of(memory.last, quantity)
    before = Unknown("not probed twice yet") if memory.before is None else _of(memory.before, quantity)
    usual = memory.usual.get(quantity, Usual(most=REMEMBERED))
    return LinkQuantity(latest, _better(latest, before), usual.baseline, usual.spread, len(usual.values))


def _of(probe: LinkProbe, quantity: Quantity) -> Reading[float]:
    return probe.latency_seconds.get(quantity, Unknown("the probe did not measure it"))


def _better(latest: Reading[float], before: Reading[float]) -> Reading[float]:
    if isinstance(latest, Unknown):
        return latest
    return before if isinstance(before, Unknown) else Known(min(latest.value, before.value))

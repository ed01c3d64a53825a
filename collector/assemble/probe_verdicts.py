"""Which links are slow against what is usual for them, and what that points at: a host, a NIC, a switch, a link. Pure.

A host is suspected where its NICs are slow with themselves: no network lies between. A NIC (with its cable and its port
of the switch) where nearly all of its links are slow; a switch only where several NICs of several nodes on it are,
since one dead NIC makes half of a small switch look bad; a link where neither end explains it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import Final

from collector.assemble.fabric import LEAST_PROBES
from collector.model.probing import Link, LinkQuantity, LinkState, Nic, Operation
from collector.model.reading import Known, Reading, Unknown

SLOW_RATIO: Final = 2.0
"""Of what is usual; a link also has to leave its own spread."""
_SPREADS: Final = 6 * 1.4826
"""Six standard deviations, were its probes distributed normally."""
_CLASS_SLOW_RATIO: Final = 3.0
"""Of what is usual for links of its kind, for one without a past of its own."""
_NEARLY_ALL: Final = 0.8
_LEAST_LINKS: Final = 2
_LEAST_NICS: Final = 3


class Hop(StrEnum):
    """What lies between the two ends."""

    HOST = "host"
    LEAF = "leaf"
    SPINE = "spine"
    RAIL = "rail"
    """Not told: an end has no leaf in the list of NICs."""


class SuspectKind(StrEnum):
    """What slow links point at."""

    HOST = "host"
    NIC = "nic"
    SWITCH = "switch"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class LinkVerdict:
    """One link, by its worst operation at the median."""

    state: LinkState
    hop: Hop
    ratio: Reading[float]
    """Lasting latency by the usual one."""
    slow: bool
    """False also where the ratio is Unknown."""
    old: bool = False
    """Whether its last probe says nothing about now any more."""

    @property
    def judged(self) -> str:
        """What is known of it, in one word of the catalogue."""
        if isinstance(self.ratio, Known):
            return "slow" if self.slow else "usual"
        return "old" if self.old else "failed" if self.state.fault else "unjudged"


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something that explains slow links."""

    kind: SuspectKind
    name: str
    """Node, NIC, switch, or "source to destination"."""
    links: tuple[Link, ...]
    ratio: float
    """Of its worst link."""


@dataclass(frozen=True, slots=True)
class ProbePicture:
    """All links with their verdicts, the slowest first, and what they point at, the worst first."""

    links: tuple[LinkVerdict, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    usual_of_hops: Mapping[tuple[Hop, Operation], float] = field(default_factory=dict)
    """What is usual for links of a kind, in seconds."""


def hop_of(link: Link, nics: Mapping[str, Nic]) -> Hop:
    """What lies between."""
    if link.is_loop:
        return Hop.HOST
    leaves = [nics[end].leaf if end in nics else "" for end in (link.source, link.destination)]
    if not all(leaves):
        return Hop.RAIL
    return Hop.LEAF if leaves[0] == leaves[1] else Hop.SPINE


def judge(states: Iterable[LinkState], nics: Mapping[str, Nic], now: float, stale_after_seconds: float) -> ProbePicture:
    """Everything that the states of all nodes say together. A link that stands twice counts by its newer state."""
    newest: dict[Link, LinkState] = {}
    for state in states:
        if state.link not in newest or newest[state.link].at < state.at:
            newest[state.link] = state
    kinds = _usual_of_kinds(newest.values(), nics)
    verdicts = [_verdict(state, nics, kinds, now - stale_after_seconds) for state in newest.values()]
    verdicts.sort(key=lambda one: (-(one.ratio.value if isinstance(one.ratio, Known) else 0.0), one.state.link))
    suspects = sorted(_suspects(verdicts, nics), key=lambda one: (-len(one.links), -one.ratio, one.name))
    return ProbePicture(tuple(verdicts), tuple(suspects), kinds)


def _usual_of_kinds(states: Iterable[LinkState], nics: Mapping[str, Nic]) -> Mapping[tuple[Hop, Operation], float]:
    """What is usual for links of a kind, from enough of them that have a past."""
    found: dict[tuple[Hop, Operation], list[float]] = defaultdict(list)
    for state in states:
        for operation, told in _medians(state):
            if isinstance(told.usual, Known):
                found[hop_of(state.link, nics), operation].append(told.usual.value)
    return {kind: median(values) for kind, values in found.items() if len(values) >= LEAST_PROBES}


def _verdict(
    state: LinkState, nics: Mapping[str, Nic], kinds: Mapping[tuple[Hop, Operation], float], since: float
) -> LinkVerdict:
    hop = hop_of(state.link, nics)
    if state.at < since:
        return LinkVerdict(state, hop, Unknown("its last probe is too old"), slow=False, old=True)
    if state.fault:
        return LinkVerdict(state, hop, Unknown(f"its last probe failed: {state.fault}"), slow=False)
    judged = [_ratio(told, kinds.get((hop, operation))) for operation, told in _medians(state)]
    known = [one for one in judged if one is not None]
    if not known:
        return LinkVerdict(state, hop, Unknown(f"fewer than {LEAST_PROBES} probes: nothing is usual yet"), slow=False)
    return LinkVerdict(state, hop, Known(max(ratio for ratio, _ in known)), any(slow for _, slow in known))


def _ratio(told: LinkQuantity, of_kind: float | None) -> tuple[float, bool] | None:
    if not isinstance(told.lasting, Known):
        return None
    lasting = told.lasting.value
    if isinstance(told.usual, Known) and isinstance(told.spread, Known):
        bound = max(SLOW_RATIO * told.usual.value, told.usual.value + _SPREADS * told.spread.value)
        return lasting / told.usual.value, lasting > bound
    return None if of_kind is None else (lasting / of_kind, lasting > _CLASS_SLOW_RATIO * of_kind)


def _medians(state: LinkState) -> Iterator[tuple[Operation, LinkQuantity]]:
    return ((operation, told) for (operation, quantile), told in state.quantities.items() if quantile == 0.5)


def _suspects(verdicts: Sequence[LinkVerdict], nics: Mapping[str, Nic]) -> Iterator[Suspect]:
    known = [one for one in verdicts if isinstance(one.ratio, Known)]
    ratios = {one.state.link: one.ratio.value for one in known if isinstance(one.ratio, Known)}
    slow = {one.state.link for one in known if one.slow}
    hosts = {_node(link.source) for link in slow if link.is_loop}
    for node in sorted(hosts):
        mine = {link for link in slow if node in (_node(link.source), _node(link.destination))}
        yield _suspect(SuspectKind.HOST, node, mine, ratios)
    left = {link for link in slow if hosts.isdisjoint((_node(link.source), _node(link.destination)))}
    crossing = [link for link in ratios if not link.is_loop]
    sick = _sick_nics(crossing, left)
    switches = dict(_sick_switches(sick, crossing, nics))
    for name, members in sorted(switches.items()):
        yield _suspect(SuspectKind.SWITCH, name, {link for link in left if members & _ends(link)}, ratios)
    blamed = frozenset(nic for members in switches.values() for nic in members)
    left = {link for link in left if not blamed & _ends(link)}
    for nic in sorted(sick - blamed):
        mine = {link for link in left if nic in _ends(link)}
        if mine:
            yield _suspect(SuspectKind.NIC, nic, mine, ratios)
    for link in sorted(link for link in left if not sick & _ends(link)):
        yield _suspect(SuspectKind.LINK, str(link), {link}, ratios)


def _sick_nics(crossing: Iterable[Link], slow: set[Link]) -> frozenset[str]:
    """NICs of which nearly all links are slow."""
    of_nic: dict[str, list[Link]] = defaultdict(list)
    for link in crossing:
        for end in _ends(link):
            of_nic[end].append(link)
    return frozenset(
        nic
        for nic, links in of_nic.items()
        if sum(link in slow for link in links) >= max(_LEAST_LINKS, _NEARLY_ALL * len(links))
    )


def _sick_switches(
    sick: frozenset[str], crossing: Iterable[Link], nics: Mapping[str, Nic]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Switches of which most NICs that were judged are sick, several of several nodes."""
    judged: dict[str, set[str]] = defaultdict(set)
    for link in crossing:
        for end in _ends(link):
            if end in nics and nics[end].leaf:
                judged[nics[end].leaf].add(end)
    for leaf, members in judged.items():
        bad = frozenset(members & sick)
        if len(bad) >= max(_LEAST_NICS, _NEARLY_ALL * len(members)) and len({_node(nic) for nic in bad}) > 1:
            yield leaf, bad


def _suspect(kind: SuspectKind, name: str, links: set[Link], ratios: Mapping[Link, float]) -> Suspect:
    return Suspect(kind, name, tuple(sorted(links)), max(ratios[link] for link in links))


def _ends(link: Link) -> frozenset[str]:
    return frozenset((link.source, link.destination))


def _node(nic: str) -> str:
    return nic.partition("/")[0]

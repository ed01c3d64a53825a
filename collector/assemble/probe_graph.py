"""Which NICs are probed against each other, and when: from the list of NICs and the number of the period alone. Pure.

Within a rail the NICs stand in `degree / 2` rings, each in an order of its own that comes from their names: every NIC
has two neighbours in each. One NIC more or less changes its own links and one of each ring, and nothing else, so a link
is the same for weeks and can be measured against itself. Work for one period grows with the number of NICs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final

from collector.model.probing import Link, Nic, ProbeSettings, Turn

_PACES: Final = (1, 2, 4, 10)
"""One period in so many is probed."""
_BUSY_RATIOS: Final = (0.7, 0.85, 1.0)
"""Load by cores at which the next pace is taken."""
_BACK_RATIO: Final = 0.75
"""The load must fall to this part of it before the pace rises again."""


def rails(nics: Iterable[Nic]) -> Mapping[int, tuple[Nic, ...]]:
    """Rail → its NICs, by key."""
    found: dict[int, list[Nic]] = {}
    for nic in sorted(nics, key=lambda nic: nic.key):
        found.setdefault(nic.rail, []).append(nic)
    return {rail: tuple(members) for rail, members in found.items()}


def fixed_links(nics: Sequence[Nic], degree: int) -> frozenset[Link]:
    """The links of one rail that stay: all pairs of a small rail, else about `degree` at each NIC."""
    if len(nics) <= degree + 1:
        return _between(((a, b) for n, a in enumerate(nics) for b in nics[n + 1 :]))
    found: set[Link] = set()
    for ring in range(max(1, degree // 2)):
        order = sorted(nics, key=lambda nic: (_number("ring", ring, nic.key), nic.key))
        found |= _between(zip(order, (*order[1:], order[0]), strict=True))
    return frozenset(found)


def changing_links(nics: Sequence[Nic], epoch: int, fixed: frozenset[Link], ratio: float) -> frozenset[Link]:
    """Links of one rail for this period alone, at most one for each NIC: they see what the fixed ones miss."""
    order = sorted(nics, key=lambda nic: (_number("change", epoch, nic.key), nic.key))
    wanted = round(ratio * len(fixed))
    pairs = _between(zip(order[0::2], order[1::2], strict=False)) - fixed
    return frozenset(sorted(pairs, key=lambda link: _number("pick", epoch, link))[:wanted])


def slots(nics: Sequence[Nic], epoch: int, degree: int, ratio: float) -> tuple[tuple[Link, ...], ...]:
    """The links of one rail in slots: within one no NIC stands twice, at neither end."""
    fixed = fixed_links(nics, degree)
    filled: list[list[Link]] = []
    taken: dict[str, set[int]] = {nic.key: set() for nic in nics}
    for link in (*sorted(fixed), *sorted(changing_links(nics, epoch, fixed, ratio))):
        busy = taken[link.source] | taken[link.destination]
        slot = next(number for number in range(len(busy) + 1) if number not in busy)
        filled.extend([] for _ in range(slot + 1 - len(filled)))
        filled[slot].append(link)
        taken[link.source].add(slot)
        taken[link.destination].add(slot)
    turned = epoch % len(filled) if filled else 0  # so that a job with the same rhythm does not hit the same links
    return (tuple(Link(nic.key, nic.key) for nic in nics), *map(tuple, filled[turned:] + filled[:turned]))


def own_turns(settings: ProbeSettings, node: str, epoch: int) -> tuple[Turn, ...]:
    """What the NICs of one node ask in one period, in the order of time."""
    found: list[Turn] = []
    for nics in rails(settings.nics).values():
        own = {nic.key for nic in nics if nic.node == node}
        if not own:
            continue
        rounds = slots(nics, epoch, settings.degree, settings.changing_ratio)
        length = settings.period_seconds / len(rounds)
        found += [Turn(n * length, link) for n, links in enumerate(rounds) for link in links if link.source in own]
    return tuple(sorted(found, key=lambda turn: (turn.offset_seconds, turn.link)))


def is_due(link: Link, epoch: int, pace: int) -> bool:
    """Whether a link is asked in this period at that pace: each is in one of so many, none in none."""
    return (_number("due", 0, link) + epoch) % pace == 0


def next_pace(pace: int, load_ratio: float) -> int:
    """One period in how many a host of that load (by cores) probes; never none."""
    place = _PACES.index(pace) if pace in _PACES else 0
    wanted = sum(load_ratio >= busy for busy in _BUSY_RATIOS)
    if wanted >= place:
        return _PACES[wanted]
    return _PACES[place - 1] if load_ratio < _BACK_RATIO * _BUSY_RATIOS[place - 1] else pace


def _between(pairs: Iterable[tuple[Nic, Nic]]) -> frozenset[Link]:
    """A link for each pair of two nodes; which of the two asks is drawn by their names, and so the same for ever."""
    found = set()
    for a, b in pairs:
        if a.node != b.node:
            first, second = sorted((a.key, b.key))
            turned = _number("ask", first, second) % 2
            found.add(Link(second, first) if turned else Link(first, second))
    return frozenset(found)


def _number(*parts: object) -> int:
    text = "\0".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")

"""Asks all nodes what they know of their links, some at a time. One that does not answer costs its own links alone."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from collector.model.probing import LinkState, ProbeHost, ProbeSettings
from collector.parse.probe_links import read_links
from collector.sources.probe_peer import LINKS, ask_peer

_AT_A_TIME: Final = 16


@dataclass(frozen=True, slots=True)
class Gathered:
    """The links of every node that answered, and a sentence for each that did not."""

    states: tuple[LinkState, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)


def gather(settings: ProbeSettings, token: str, seconds: float = 5.0) -> Gathered:
    """One look at all nodes; `seconds` is what one may take."""

    def asked(host: ProbeHost) -> tuple[tuple[LinkState, ...], str]:
        answer = ask_peer(host.address, settings.port, LINKS, token, seconds=seconds)
        document = answer.document
        if answer.status != 200 or not isinstance(document, dict):
            return (), answer.message
        states, bad = read_links(document.get("links"))
        # A node tells of its own links: what it says of others' is not taken.
        own = tuple(one for one in states if one.link.source.partition("/")[0] == host.node)
        return own, f"{bad} of its links can not be read" if bad else ""

    with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="probe-gather") as pool:
        answers = list(pool.map(asked, settings.hosts))
    failures = {host.node: said for host, (_, said) in zip(settings.hosts, answers, strict=True) if said}
    return Gathered(tuple(state for states, _ in answers for state in states), failures)

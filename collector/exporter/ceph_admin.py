"""What only an administrator of Ceph can tell, asked beside the pages: whom OSDs wait for, and limits of images.

Only OSDs that do not get on are asked, a few, so that a large cluster in trouble is not troubled more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from collector.assemble.ceph_memory import CephState
from collector.exporter.health import DeviceSeen, Health
from collector.model.reading import Known, Reading, Unknown, mapped
from collector.parse.ceph import ImageReading
from collector.parse.ceph_admin import awaited, hanging_operations, stops_clients
from collector.parse.ceph_names import RbdImage
from collector.sources.ceph_admin import AdminMissing

SOURCE: Final = "ceph-admin"
ASKED_AT_MOST: Final = 8
LIMITS_AT_MOST: Final = 20
_LIMITS_SECONDS: Final = 60.0
_LASTS_SECONDS: Final = 90.0
"""Longer than a round whose every question runs into its time-out."""


class Admin(Protocol):
    """What is needed of a `collector.sources.ceph_admin.CephAdmin`."""

    def flags(self) -> frozenset[str]:
        """Flags that are set in the map of OSDs. Raises AdminMissing."""
        ...

    def operations_in_flight(self, osd: str) -> object | None:
        """What the OSD has in flight; None when it did not answer in time. Raises AdminMissing."""
        ...

    def write_limits(self, images: Iterable[RbdImage]) -> Mapping[RbdImage, float]:
        """Operations a second that librbd lets through. Raises AdminMissing."""
        ...


@dataclass(frozen=True, slots=True)
class AdminFacts:
    """What the last round found."""

    at: float
    clients_stopped: bool
    awaited: Mapping[str, float]
    silent: frozenset[str]
    limits: Mapping[RbdImage, float]


class AdminRounds:
    """Asks in one thread; `state` adds what is known to the pages' state, in any."""

    def __init__(
        self,
        opened: Callable[[], Admin],
        pages: Callable[[float], Reading[CephState]],
        health: Health,
        clock: Callable[[], float],
    ) -> None:
        self._opened, self._pages, self._health, self._clock = opened, pages, health, clock
        self._admin: Admin | None = None
        self._facts: AdminFacts | None = None
        self._problem = "not asked yet"
        self._limits_at = float("-inf")
        health.expect(SOURCE)

    def read(self) -> Mapping[str, str]:
        """One round. Returns the sentence of what failed."""
        state = self._pages(self._clock())
        if isinstance(state, Unknown):
            return {}  # whoever reads the pages says so
        try:
            self._admin = self._admin or self._opened()
            facts = self._round(self._admin, state.value)
        except AdminMissing as missing:
            self._problem, self._facts = str(missing), None
            self._health.error(SOURCE, "", "unreadable")
            return {"": self._problem}
        self._facts = facts
        self._health.success(SOURCE, facts.at)
        self._health.seen(SOURCE, "", DeviceSeen(facts.at, known=1))
        return {}

    def state(self, now: float) -> Reading[CephState]:
        """The cluster as pages and administrator know it."""
        return mapped(self._pages(now), lambda state: self._with_facts(state, now))

    def _with_facts(self, state: CephState, now: float) -> CephState:
        facts = self._facts
        if facts is None or now - facts.at > _LASTS_SECONDS:
            return replace(state, awaited=Unknown(self._problem), limits=Unknown(self._problem))
        age_seconds = max(0.0, now - facts.at)
        return replace(
            state,
            awaited=Known(facts.awaited, age_seconds),
            limits=Known(facts.limits, age_seconds),
            silent_osds=state.silent_osds | facts.silent,
            cluster=replace(state.cluster, clients_stopped=Known(facts.clients_stopped, age_seconds)),
        )

    def _round(self, admin: Admin, state: CephState) -> AdminFacts:
        asked = {osd: admin.operations_in_flight(osd) for osd in _suspects(state)}
        operations = [one for answer in asked.values() if answer is not None for one in hanging_operations(answer)]
        waited_for = awaited(operations)
        # Whom others wait for may be slow, or not answer at all.
        candidates = sorted({name for one in operations for name in one.candidates} - asked.keys())[:ASKED_AT_MOST]
        asked |= {osd: admin.operations_in_flight(osd) for osd in candidates}
        up = {osd.name for osd in state.readings.osds if osd.up == Known(True, state.age_seconds)}
        silent = frozenset(osd for osd, answer in asked.items() if answer is None and osd in up)
        sure = {osd: count for osd, count in waited_for.items() if not silent or osd in silent}
        stopped = stops_clients(admin.flags())
        now = self._clock()
        limits = self._facts.limits if self._facts is not None else {}
        if now - self._limits_at >= _LIMITS_SECONDS:
            limits, self._limits_at = admin.write_limits(_busiest(state.readings.images)), now
        return AdminFacts(now, stopped, sure, silent, limits)


def _suspects(state: CephState) -> list[str]:
    """OSDs that do not get on, those that complain most first."""
    stuck = {name for name, one in state.stalled_osds.items() if isinstance(one, Known) and one.value}
    slow = {
        osd.name: osd.slow_operations.value
        for osd in state.readings.osds
        if isinstance(osd.slow_operations, Known) and osd.slow_operations.value > 0
    }
    return sorted(stuck | slow.keys(), key=lambda name: (-slow.get(name, 0.0), name))[:ASKED_AT_MOST]


def _busiest(images: Iterable[ImageReading]) -> list[RbdImage]:
    moving = [(one.completed.value, one.image) for one in images if isinstance(one.completed, Known)]
    return [image for count, image in sorted(moving, reverse=True)[:LIMITS_AT_MOST] if count > 0]

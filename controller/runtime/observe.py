"""Observe: one immutable snapshot of the world per tick, and the own objects as the API server shows them right now.

The picture comes from a watch and may lag behind our own writes by a moment; the few own objects are therefore listed
anew in each tick, so that what we wrote and what we see never disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from collector.assemble.assemble import assemble
from collector.assemble.capacity import CAP_NAME
from collector.assemble.clocks import WaitClocks
from collector.model.objects import Cohort, Picture, ResourceQuota
from collector.model.snapshot import Evidence, Snapshot
from collector.model.tenancy import Site
from collector.sources.errors import CredentialsProblem, NotFound, SourceError
from controller.knobs import own
from controller.knobs.marks import Mark
from controller.policy.targets import Target


def wait_clocks(time_scale: float) -> WaitClocks:
    """Clocks that have seen nothing yet; how long a resubmission may take is divided by `time_scale`."""
    usual = WaitClocks()
    return replace(usual, resubmission_seconds=usual.resubmission_seconds / time_scale)


class PictureSource(Protocol):
    """Whoever keeps a living picture of the cluster."""

    def picture(self, now: float) -> Picture:
        """The picture at `now`."""


EvidenceSource = Callable[[Site, float], Evidence]


class OwnObjects(Protocol):
    """Reads own objects as they stand right now, not as a watch last heard. Raises SourceError."""

    def cohorts(self) -> Sequence[Cohort]:
        """All Cohorts."""

    def caps(self) -> Sequence[ResourceQuota]:
        """All caps, whatever their namespace."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one tick has to go by."""

    snapshot: Snapshot
    targets: tuple[Target, ...]
    marks: tuple[Mark, ...]
    picture: Picture


@dataclass(slots=True)
class Observer:
    """Looks once per tick; keeps the wait clocks between looks."""

    pictures: PictureSource
    evidence: EvidenceSource
    own_objects: OwnObjects
    clocks: WaitClocks

    def look(self, site: Site, baseline: own.Baseline, now: float) -> Observation:
        """Everything at `now`. A source that can not be read makes the snapshot blind; nothing is raised."""
        picture = self._with_own(self.pictures.picture(now), baseline)
        snapshot, self.clocks = assemble(picture, site, self.evidence(site, now), self.clocks, now)
        return Observation(snapshot, own.targets(baseline, picture, site), own.marks(baseline, picture), picture)

    def _with_own(self, picture: Picture, baseline: own.Baseline) -> Picture:
        if baseline.leaves:
            try:
                picture = replace(picture, cohorts={one.name: one for one in self.own_objects.cohorts()})
            except NotFound:
                pass  # no Kueue here: the targets say so
            except (SourceError, CredentialsProblem) as error:
                picture = replace(picture, unreadable={**picture.unreadable, "cohorts": str(error)})
        if baseline.caps:
            try:
                fresh = {(one.namespace, one.name): one for one in self.own_objects.caps()}
            except (SourceError, CredentialsProblem) as error:
                return replace(picture, unreadable={**picture.unreadable, "resourcequotas": str(error)})
            others = [q for q in picture.resource_quotas if q.name != CAP_NAME]
            picture = replace(picture, resource_quotas=(*others, *fresh.values()))
        return picture

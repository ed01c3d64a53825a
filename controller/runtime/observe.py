"""Observe: one immutable snapshot of the world per tick, and the own objects as the API server shows them right now.

The picture comes from a watch and may lag behind our own writes by a moment; the few own objects are therefore listed
anew in each tick, so that what we wrote and what we see never disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.model.objects import Cohort, Picture
from collector.model.snapshot import Evidence, Snapshot
from collector.model.tenancy import Site
from collector.sources.errors import CredentialsProblem, NotFound, SourceError
from controller.knobs import kueue
from controller.knobs.marks import Mark, marks_of
from controller.policy.targets import Target


class PictureSource(Protocol):
    """Whoever keeps a living picture of the cluster."""

    def picture(self, now: float) -> Picture:
        """The picture at `now`."""


EvidenceSource = Callable[[Site, float], Evidence]
OwnCohorts = Callable[[], Sequence[Cohort]]


@dataclass(frozen=True, slots=True)
class Observation:
    """What one tick has to go by."""

    snapshot: Snapshot
    targets: tuple[Target, ...]
    marks: tuple[Mark, ...]


@dataclass(slots=True)
class Observer:
    """Looks once per tick; keeps the wait clocks between looks."""

    pictures: PictureSource
    evidence: EvidenceSource
    own_cohorts: OwnCohorts
    clocks: WaitClocks

    def look(self, site: Site, baseline: kueue.Baseline, now: float) -> Observation:
        """Everything at `now`. A source that can not be read makes the snapshot blind; nothing is raised."""
        picture = self._with_own(self.pictures.picture(now), baseline)
        snapshot, self.clocks = assemble(picture, site, self.evidence(site, now), self.clocks, now)
        own = [picture.cohorts[leaf.name] for leaf in baseline.leaves if leaf.name in picture.cohorts]
        marks = tuple(mark for cohort in own for mark in marks_of(cohort.name, cohort.annotations))
        return Observation(snapshot, kueue.targets(baseline, picture, site), marks)

    def _with_own(self, picture: Picture, baseline: kueue.Baseline) -> Picture:
        if not baseline.leaves:
            return picture
        try:
            fresh = {cohort.name: cohort for cohort in self.own_cohorts()}
        except NotFound:
            return picture  # no Kueue here: the targets say so
        except (SourceError, CredentialsProblem) as error:
            return replace(picture, unreadable={**picture.unreadable, "cohorts": str(error)})
        return replace(picture, cohorts=fresh)

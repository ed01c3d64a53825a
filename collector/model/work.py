"""Work as a snapshot shows it: one gang of pods with its wait, and groups of such work by tenant and pool. Pure values.

All times are epoch seconds, all amounts whole GPUs unless the name says otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import chain

from collector.model.deadline import Deadline
from collector.model.gangs import Scheduler
from collector.model.tenancy import SizeClass


class WorkPhase(StrEnum):
    """Where a workload stands."""

    SUSPENDED = "suspended"
    """Its own user holds it back: not waiting."""
    WAITING = "waiting"
    """No quota, or pods that no node takes."""
    STARTING = "starting"
    """Admitted, not all of its pods Ready yet: its clock still runs."""
    RUNNING = "running"
    FINISHED = "finished"


class WaitingName(StrEnum):
    """Why a workload waits, in one word (design: waiting, named)."""

    WITHIN_LIMIT = "within-limit"
    STARVED = "starved"
    """Own entitlement used up while relatives borrow."""
    SHORT_OF_CAPACITY = "short-of-capacity"
    """Own entitlement used up and nobody borrows."""
    BLOCKED = "blocked"
    """Entitlement is free but the gang fits on no nodes: fragmentation."""
    BROKEN = "broken"
    """It would fit and nothing was admitted for a while: scheduler, webhook, stuck pod."""
    REFUSED = "refused"
    """Refused before it became a pod."""
    INELIGIBLE = "ineligible"
    """It can not start, whatever the quota; `Work.ineligible` says why."""


@dataclass(frozen=True, slots=True)
class Work:
    """One gang of pods that starts together, with its cumulative wait."""

    key: str
    """Identity of the tenant's work over evictions and resubmissions, not the UID of an object."""
    uid: str
    kind: str
    namespace: str
    name: str
    tenant: str
    tier: str
    pool: str | None
    queue: str
    priority: int
    pods: int
    gpus_per_pod: int
    gpus: int
    size: SizeClass
    phase: WorkPhase
    created_at: float
    waited_seconds: float
    """Summed over evictions; a lower bound when `waited_is_lower_bound`."""
    waited_is_lower_bound: bool = False
    limit_seconds: float | None = None
    """Its tier's limit for its size; None: not judged."""
    ineligible: str | None = None
    waiting: WaitingName | None = None
    """Set while it waits or starts."""
    why: str = ""
    """One sentence for a person: who holds what it needs, and what would help."""
    evictions: int = 0
    evicted_by: str | None = None
    """The tenant whose work evicted it last."""
    evictions_by: Mapping[str, int] = field(default_factory=dict)
    """Tenant → evictions of it that its work caused, as far as they were seen."""
    admitted_at: float | None = None
    ready_at: float | None = None
    nodes: Mapping[str, int] = field(default_factory=dict)
    """Node → GPUs it holds there."""
    pod_names: tuple[str, ...] = ()
    """Its pods that hold GPUs now."""
    borrows: bool = False
    """Native: it runs under the pool's preemptible borrow class, beyond the guarantee."""
    pods_missing: int = 0
    """Native: pods that its controller could not even make."""
    refused: str = ""
    """Why they could not be made, in the words of who refused them; "" where nobody told."""
    sent_from: str | None = None
    """It is a mirror: MultiKueue sent it here from the cluster that it names, where its wait is counted."""
    runs_in: str | None = None
    """MultiKueue sent it to this other cluster, where its GPUs are counted."""
    scheduler: Scheduler | None = None
    """Whose queue `queue` is; None for Kueue and for work without a queue."""
    priority_class: str = ""
    """Kueue: the class that its priority comes from; "" for none."""
    deadline: Deadline | None = None
    """As it declares it itself."""
    counted_at: float | None = None
    """When `waited_seconds` was counted; None: at the moment of the snapshot. Its clock has run on since."""

    def waited_at(self, now: float) -> float:
        """Seconds that it has waited at the moment of the snapshot."""
        return self.waited_seconds if self.counted_at is None else self.waited_seconds + now - self.counted_at

    @property
    def waits(self) -> bool:
        """Its clock runs."""
        return self.phase in (WorkPhase.WAITING, WorkPhase.STARTING)

    @property
    def overdue(self) -> bool:
        """Eligible and waiting longer than its limit."""
        return (
            self.waits
            and self.ineligible is None
            and self.limit_seconds is not None
            and self.waited_seconds > self.limit_seconds
        )

    @property
    def title(self) -> str:
        """How people name it: namespace/name."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)  # no slots: what is derived from its works is kept once it was asked for
class WorkGroup:
    """Some of a tenant's work in one pool. Who keeps a group from look to look keeps all that is derived from it."""

    tenant: str
    pool: str | None
    works: tuple[Work, ...]

    @property
    def overdue(self) -> tuple[Work, ...]:
        """Eligible and waiting longer than its limit."""
        return self._sorted[0]

    @property
    def ineligible(self) -> tuple[Work, ...]:
        """What waits and can not start, whatever the quota."""
        return self._sorted[1]

    @property
    def placed(self) -> tuple[Work, ...]:
        """What holds quota."""
        return self._sorted[2]

    @property
    def evicted(self) -> tuple[Work, ...]:
        """What is known to have been evicted by others."""
        return self._sorted[3]

    @cached_property
    def _sorted(self) -> tuple[tuple[Work, ...], ...]:
        works, running = self.works, WorkPhase.RUNNING
        evicted = tuple([work for work in works if work.evictions_by])
        others = [work for work in works if work.phase is not running]
        if not others:
            return (), (), works, evicted
        overdue = tuple([work for work in others if work.overdue])
        waiting = [work for work in others if work.phase is WorkPhase.WAITING]
        ineligible = tuple([work for work in waiting if work.ineligible is not None])
        if len(waiting) == len(works):
            return overdue, ineligible, (), evicted
        placed = tuple([work for work in works if work.phase in (running, WorkPhase.STARTING)])
        return overdue, ineligible, placed, evicted


class GroupedWorks(tuple[Work, ...]):
    """Works that are already told apart by tenant and pool; several groups may be about the same."""

    groups: tuple[WorkGroup, ...]

    @classmethod
    def of(cls, groups: Iterable[WorkGroup]) -> GroupedWorks:
        """All works of the groups, in their order."""
        groups = tuple(groups)
        made = cls(chain.from_iterable([group.works for group in groups]))
        made.groups = groups
        return made


def grouped(works: tuple[Work, ...]) -> tuple[WorkGroup, ...]:
    """The works by tenant and pool, in order of the first of each."""
    if isinstance(works, GroupedWorks):
        return works.groups
    found: dict[tuple[str, str | None], list[Work]] = defaultdict(list)
    for work in works:
        found[work.tenant, work.pool].append(work)
    return tuple(WorkGroup(tenant, pool, tuple(own)) for (tenant, pool), own in found.items())

"""The simulated cluster: submissions, starts, ends and faults on one clock that its caller moves. Pure, exact.

Between two events nothing happens, so time jumps from one to the next. Equal calls give equal clusters. Who may start
is decided in `admission`, where pods go in `placement`, what the API would show in `picture`.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from controller.api.errors import InvariantError
from controller.simulate.admission import Admit, PassOver, Preempt, cycle, queue_order
from controller.simulate.cluster_spec import ClusterSpec, JobSpec
from controller.simulate.faults import Fault, factor
from controller.simulate.gang import Eviction, Gang, GangPhase
from controller.simulate.placement import Nodes
from controller.simulate.quota import QuotaTree

_CYCLES_PER_GANG = 64
"""Far more than one moment can need; a bound, so that a mistake of ours is an error and not an endless loop."""


@dataclass(frozen=True, slots=True)
class AppliedLeaf:
    """What was last applied to one of Trimtab's own Cohorts, beside its quota."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    version: int = 1


class Cluster:
    """A running cluster. `now` only moves forward, by `advance`."""

    def __init__(self, spec: ClusterSpec, start: float, seed: int = 0) -> None:
        self.spec, self.now, self._seed = spec, start, seed
        self.tree = QuotaTree(spec.quota_nodes())
        self.nodes = Nodes(spec.node_names(), spec.gpus_per_node)
        self.leaves: dict[str, AppliedLeaf] = {}
        self.gangs: dict[str, Gang] = {}
        """By uid: all that did not finish long ago."""
        self.faults: list[Fault] = []
        self._promised: dict[str, str] = {}
        """Queue → uid of the gang that others were evicted for and that is not admitted yet: it stays the head."""
        self._passed_over: set[str] = set()
        """Uids of waiting gangs that are looked at again only when quota has become free."""
        self._freed = False
        """Whether quota has become free, or was moved, since those who wait were looked at."""
        self._names: set[tuple[str, str]] = set()
        self._submitted = 0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._planned = 0
        self._version = 1

    # What people and controllers do

    def submit(self, job: JobSpec, at: float | None = None) -> None:
        """Hand a job in, now or at a later moment. Raises ValueError when it can never start here."""
        if self.spec.tenant(job.tenant) is None:
            raise ValueError(f"job {job.name}: {job.tenant!r} is no tenant of {self.spec.name}")
        if job.pods < 1 or not 1 <= job.gpus_per_pod <= self.spec.gpus_per_node:
            raise ValueError(
                f"job {job.name}: {job.pods} pods of {job.gpus_per_pod} GPUs, expected at least one pod of "
                f"1 to {self.spec.gpus_per_node} GPUs"
            )
        if not job.run_seconds > 0:
            raise ValueError(f"job {job.name}: runs {job.run_seconds} s, expected more than 0")
        if (job.tenant, job.name) in self._names:
            raise ValueError(f"job {job.name}: {job.tenant} has one of that name already")
        self._names.add((job.tenant, job.name))
        self._at(self.now if at is None else at, lambda: self._arrive(job))
        if at is None:
            self.advance(self.now)

    def withdraw(self, tenant: str, name: str) -> None:
        """Its user deletes a job, wherever it stands; nothing happens for one that is not there. The name is free."""
        found = next((one for one in self.gangs.values() if (one.spec.tenant, one.spec.name) == (tenant, name)), None)
        if found is None:
            return
        if found.phase in (GangPhase.ADMITTED, GangPhase.RUNNING):
            self._leave(found, GangPhase.FINISHED)
        found.round += 1
        del self.gangs[found.uid]
        self._names.discard((tenant, name))
        if self._promised.get(tenant) == found.uid:
            del self._promised[tenant]
        self._settle()
        self.advance(self.now)

    def apply_leaf(self, name: str, gpus: int, annotations: Mapping[str, str]) -> int:
        """Set one of Trimtab's own Cohorts. Returns its new version. Raises KeyError for a name that is none."""
        node = self.tree.nodes[name]
        if (node.nominal, dict(annotations)) == (gpus, dict(self.leaf(name).annotations)):
            return self.leaf(name).version
        self._version += 1
        self.tree.replace(replace(node, nominal=gpus))
        self._freed = True
        self.leaves[name] = AppliedLeaf(dict(annotations), self._version)
        self._settle()
        return self._version

    def leaf(self, name: str) -> AppliedLeaf:
        """What stands on an own Cohort beside its quota."""
        return self.leaves.get(name, AppliedLeaf())

    def begin_fault(self, fault: Fault) -> None:
        """From now on the fault slows jobs down."""
        self.faults.append(fault)
        self._new_speeds()

    def end_fault(self, fault: Fault) -> None:
        """The fault is over."""
        self.faults.remove(fault)
        self._new_speeds()

    def advance(self, to_seconds: float) -> None:
        """Let time pass. Raises ValueError when it would run backwards."""
        if to_seconds < self.now:
            raise ValueError(f"time would run backwards, from {self.now} to {to_seconds}")
        while self._events and self._events[0][0] <= to_seconds:
            at, _, event = heapq.heappop(self._events)
            self.now = max(self.now, at)
            event()
            self._settle()
        self.now = to_seconds

    # What can be seen

    def of_phase(self, *phases: GangPhase) -> list[Gang]:
        """Gangs in these phases, in the order they were handed in."""
        return sorted((gang for gang in self.gangs.values() if gang.phase in phases), key=lambda gang: gang.number)

    def holders(self) -> Mapping[str, Gang]:
        """Bound pod → its gang."""
        return {gang.pod_key(pod): gang for gang in self.gangs.values() for pod in gang.bound}

    # Events

    def _at(self, at: float, event: Callable[[], None]) -> None:
        self._planned += 1
        heapq.heappush(self._events, (max(at, self.now), self._planned, event))

    def _arrive(self, job: JobSpec) -> None:
        self._submitted += 1
        number = self._submitted
        gang = Gang(job, number, self.now, self._uid("workload", number), self._uid("job", number))
        self.gangs[gang.uid] = gang

    def _uid(self, kind: str, number: int) -> str:
        text = blake2b(f"{self._seed}/{kind}/{number}".encode(), digest_size=16).hexdigest()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def _settle(self) -> None:
        """Scheduling cycles until nothing more can start, then nodes for the pods of what was admitted."""
        bound, delay = _CYCLES_PER_GANG * (1 + len(self.gangs)), self.spec.timings.look_again_seconds
        while True:
            bound -= self._cycles(self._waiting(), bound)
            if not self._freed:
                break
            self._freed = False
            if delay:
                self._at(self.now + delay, self._passed_over.clear)
                break
            self._passed_over.clear()
        self._bind()

    def _cycles(self, waiting: dict[str, deque[Gang]], bound: int) -> int:
        """Until each of these was admitted or passed over. Returns how many cycles it took."""
        holding = self.of_phase(GangPhase.ADMITTED, GangPhase.RUNNING)
        for number in range(bound):
            heads = [queue[0] for queue in waiting.values() if queue]
            if not heads:
                return number
            steps = cycle(self.tree, heads, holding)
            for step in steps:
                if isinstance(step, Preempt):
                    self._promised[step.gang.spec.tenant] = step.gang.uid
                    for victim in step.victims:
                        self._evict(victim, step.gang)
                    continue
                waiting[step.gang.spec.tenant].popleft()
                if isinstance(step, Admit):
                    self._admit(step.gang)
                else:
                    self._passed_over.add(step.gang.uid)
            if not all(isinstance(step, PassOver) for step in steps):
                holding = self.of_phase(GangPhase.ADMITTED, GangPhase.RUNNING)
        raise InvariantError(f"no end of scheduling cycles at {self.now}")

    def _waiting(self) -> dict[str, deque[Gang]]:
        """Queue → its gangs that are to be looked at, the one that room was made for first."""
        waiting: dict[str, deque[Gang]] = {}
        pending = [gang for gang in self.of_phase(GangPhase.PENDING) if gang.eligible_at <= self.now]
        for gang in queue_order(gang for gang in pending if gang.uid not in self._passed_over):
            queue = waiting.setdefault(gang.spec.tenant, deque())
            if self._promised.get(gang.spec.tenant) == gang.uid:
                queue.appendleft(gang)
            else:
                queue.append(gang)
        return waiting

    def _admit(self, gang: Gang) -> None:
        self.tree.hold(gang.spec.tenant, gang.spec.gpus)
        if self._promised.get(gang.spec.tenant) == gang.uid:
            del self._promised[gang.spec.tenant]
        gang.phase, gang.admitted_at, gang.round = GangPhase.ADMITTED, self.now, gang.round + 1

    def _bind(self) -> None:
        """Highest priority first, each pod by itself as the scheduler of Kubernetes does."""
        starting = [gang for gang in self.of_phase(GangPhase.ADMITTED) if len(gang.bound) < gang.spec.pods]
        for gang in sorted(starting, key=lambda gang: (-gang.spec.priority, gang.admitted_at or 0.0, gang.number)):
            for pod in gang.pod_names:
                if pod not in gang.bound and self.nodes.bind(gang.pod_key(pod), gang.spec.gpus_per_pod):
                    gang.bound.add(pod)
            if len(gang.bound) == gang.spec.pods:
                self._after(self.spec.timings.start_seconds, gang, self._start)

    def _start(self, gang: Gang) -> None:
        gang.phase, gang.ready_at, gang.measured_at = GangPhase.RUNNING, self.now, self.now
        gang.speed = self._speed(gang)
        self._plan_end(gang)

    def _plan_end(self, gang: Gang) -> None:
        gang.round += 1
        self._after(gang.left_seconds / gang.speed, gang, self._finish)

    def _finish(self, gang: Gang) -> None:
        gang.measure(self.now)
        self._leave(gang, GangPhase.FINISHED)
        gang.finished_at = self.now
        self._after(self.spec.timings.keep_finished_seconds, gang, lambda old: self.gangs.pop(old.uid, None))

    def _evict(self, gang: Gang, preemptor: Gang) -> None:
        gang.measure(self.now)
        if gang.ready_at is not None:
            gang.lose_unsaved(self.spec.timings.restart_seconds)
        self._leave(gang, GangPhase.PENDING)
        gang.ready_at = gang.admitted_at = None
        gang.evictions, gang.incarnation = gang.evictions + 1, gang.incarnation + 1
        gang.eligible_at = self.now + self.spec.timings.requeue_seconds
        self._at(gang.eligible_at, lambda: None)  # time to look again
        gang.eviction = Eviction(
            self.now,
            preemptor.uid,
            preemptor.job_uid,
            within_queue=gang.spec.tenant == preemptor.spec.tenant,
            preemptor_path=self._cohort_path(preemptor.spec.tenant),
            preemptee_path=self._cohort_path(gang.spec.tenant),
        )

    def _leave(self, gang: Gang, phase: GangPhase) -> None:
        self.tree.hold(gang.spec.tenant, -gang.spec.gpus)
        self._freed = True
        for pod in gang.bound:
            self.nodes.release(gang.pod_key(pod))
        gang.bound = set()
        gang.phase, gang.round = phase, gang.round + 1

    def _after(self, seconds: float, gang: Gang, event: Callable[[Gang], object]) -> None:
        """Plan something for a gang; it is dropped when the gang's fortune has changed by then."""
        planned_in = gang.round

        def happen() -> None:
            if gang.round == planned_in:
                event(gang)

        self._at(self.now + seconds, happen)

    def _speed(self, gang: Gang) -> float:
        speed = 1.0
        for fault in self.faults:
            speed *= factor(fault, gang, self.nodes)
        return max(speed, 0.001)

    def _new_speeds(self) -> None:
        for gang in self.of_phase(GangPhase.RUNNING):
            speed = self._speed(gang)
            if speed != gang.speed:
                gang.measure(self.now)
                gang.speed = speed
                self._plan_end(gang)

    def _cohort_path(self, queue: str) -> str:
        return "/" + "/".join(reversed(list(self.tree.path(queue))))

"""One job of the simulated cluster on its way through the queue: what it did, what is left, when its pods changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from controller.simulate.cluster_spec import JobSpec
from controller.simulate.losses import Checkpoints, saved_seconds


class GangPhase(Enum):
    """Where it stands."""

    PENDING = "pending"
    """Waits for quota."""
    ADMITTED = "admitted"
    """Has quota; its pods wait for nodes, or start."""
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Eviction:
    """Why it lost its place last."""

    at: float
    preemptor_uid: str
    preemptor_job_uid: str
    within_queue: bool
    preemptor_path: str
    preemptee_path: str


@dataclass(slots=True)
class Gang:
    """A submitted job. Mutable: `Cluster` alone changes it."""

    spec: JobSpec
    number: int
    created_at: float
    uid: str
    job_uid: str
    phase: GangPhase = GangPhase.PENDING
    admitted_at: float | None = None
    ready_at: float | None = None
    finished_at: float | None = None
    eviction: Eviction | None = None
    evictions: int = 0
    eligible_at: float = 0.0
    """Not admitted before: it is still being evicted."""
    done_seconds: float = 0.0
    """Work that counts, at full speed."""
    owed_seconds: float = 0.0
    """Work that evictions added."""
    lost_gpu_seconds: float = 0.0
    speed: float = 1.0
    measured_at: float = 0.0
    """Until when `done_seconds` is counted."""
    round: int = 0
    """Grows whenever what was planned for it no longer holds."""
    incarnation: int = 0
    """Which set of pods this is: an evicted gang comes back with new ones."""
    bound: set[str] = field(default_factory=set)
    """Names of its pods that have a node."""

    @property
    def pod_names(self) -> tuple[str, ...]:
        """Its present pods."""
        stem = f"{self.spec.name}-{self.incarnation}" if self.incarnation else self.spec.name
        return tuple(f"{stem}-{index}" for index in range(self.spec.pods))

    def pod_key(self, pod: str) -> str:
        """What a pod is called among all pods of the cluster."""
        return f"{self.spec.tenant}/{pod}"

    @property
    def left_seconds(self) -> float:
        """Work that is left, at full speed."""
        return max(0.0, self.spec.run_seconds + self.owed_seconds - self.done_seconds)

    def measure(self, now: float) -> None:
        """Count what was done until `now` at the present speed."""
        if self.phase is GangPhase.RUNNING:
            self.done_seconds += max(0.0, now - self.measured_at) * self.speed
        self.measured_at = now

    def lose_unsaved(self, restart_seconds: float) -> None:
        """Go back to the last checkpoint, and owe the restart."""
        interval = self.spec.checkpoint_seconds
        saved = saved_seconds(self.done_seconds, None if interval is None else Checkpoints(interval))
        self.lost_gpu_seconds += (self.done_seconds - saved) * self.spec.gpus
        self.done_seconds = saved
        self.owed_seconds += restart_seconds

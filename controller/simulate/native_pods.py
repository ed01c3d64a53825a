"""Plain Kubernetes without coscheduling: each pod finds its place by itself; a gang in parts holds GPUs for nothing.

A gang works while all its pods have a place. Who loses one pod goes back to its last checkpoint and keeps the others,
which wait. Two gangs in parts may wait for each other for ever. Pure, exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappush

from controller.simulate.batch_setting import NEVER, Fates, Saves
from controller.simulate.job_table import JobTable
from controller.simulate.losses import saved_seconds
from controller.simulate.native import NativeBatch, NativeSetting


def pod_sizes(gpus: int, largest: int) -> Iterator[int]:
    """GPUs of each pod of a gang: as few pods as its GPUs need."""
    yield from [largest] * (gpus // largest)
    if gpus % largest:
        yield gpus % largest


class PodByPod(NativeBatch):
    """A running trace. `fates`, sightings and evictions are of pods; `gangs` is what became of the jobs."""

    def __init__(self, jobs: JobTable, setting: NativeSetting, pod_gpus: int, saves: Saves | None = None) -> None:
        """A pod has `pod_gpus` at most."""
        sizes = [list(pod_sizes(gpus, pod_gpus)) for gpus in jobs.gpus]
        self._gang_of = [row for row, pods in enumerate(sizes) for _ in pods]
        self._pods_of: list[list[int]] = [[] for _ in sizes]
        for pod, gang in enumerate(self._gang_of):
            self._pods_of[gang].append(pod)
        classes = setting.classes
        super().__init__(
            JobTable(
                jobs.tenants,
                [jobs.submit_seconds[row] for row in self._gang_of],
                [jobs.run_seconds[row] for row in self._gang_of],
                [gpus for pods in sizes for gpus in pods],
                [jobs.tenant[row] for row in self._gang_of],
                [jobs.priority[row] for row in self._gang_of],
                [jobs.deadline_seconds[row] for row in self._gang_of],
            ),
            replace(setting, classes=None if classes is None else [classes[row] for row in self._gang_of]),
        )
        self.gangs = Fates.none_yet(len(jobs))
        self._whole, self._gang_saves = jobs, saves or (lambda row: None)
        self._gang_done, self._gang_owed = [0.0] * len(jobs), [0.0] * len(jobs)
        self._works_since, self._idle_since = [NEVER] * len(jobs), [*jobs.submit_seconds]

    def held_in_parts(self) -> int:
        """GPUs of pods that have a place while their gang can not work."""
        return sum(self._jobs.gpus[pod] for pod in self._began if self._works_since[self._gang_of[pod]] == NEVER)

    def _work(self, row: int) -> None:
        gang = self._gang_of[row]
        pods = self._pods_of[gang]
        if any(pod not in self._began for pod in pods):
            return
        now, gangs = self.now, self.gangs
        end = now + self._whole.run_seconds[gang] + self._gang_owed[gang] - self._gang_done[gang]
        for pod in pods:
            self._ends_at[pod] = end
            heappush(self._events, (end, pod))
        self._works_since[gang] = now
        gangs.wait_seconds[gang] += now - self._idle_since[gang]
        if gangs.first_start_seconds[gang] == NEVER:
            gangs.first_start_seconds[gang] = now

    def _leave(self, row: int) -> None:
        gang = self._gang_of[row]
        if self._ends_at[row] == self.now and self.gangs.end_seconds[gang] == NEVER:
            self.gangs.end_seconds[gang] = self.now
            self.gangs.stays.append((gang, self._works_since[gang], self.now))
        super()._leave(row)

    def _lose(self, row: int) -> None:
        gang, now = self._gang_of[row], self.now
        since = self._works_since[gang]
        if since == NEVER:
            return
        done = self._gang_done[gang] + now - since
        self._gang_done[gang] = saved_seconds(done, self._gang_saves(gang))
        self._gang_owed[gang] += self._setting.restart_seconds if now > since else 0.0
        self.gangs.lost_gpu_seconds[gang] += (done - self._gang_done[gang]) * self._whole.gpus[gang]
        self.gangs.evictions[gang] += 1
        self.gangs.stays.append((gang, since, now))
        self._works_since[gang], self._idle_since[gang] = NEVER, now
        for pod in self._pods_of[gang]:
            self._ends_at[pod] = NEVER

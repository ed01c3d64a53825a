"""Strict first come, first served in each tenant's own part of the cluster: nobody passes, lends, evicts. Pure, exact.

The plainest of all schedulers, and the one whose published averages this simulator is checked against.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from controller.simulate.job_table import JobTable
from controller.simulate.packing import Held, Packing


def fifo_starts(jobs: JobTable, quota_gpus: Sequence[int], gpus_per_node: int | None = None) -> list[float]:
    """When each job starts. `quota_gpus` is by tenant; with `gpus_per_node` gangs are packed onto whole nodes.

    Raises ValueError for a job that is larger than its tenant's part: everything behind it would wait for ever.
    """
    starts = [0.0] * len(jobs)
    rows_of: list[list[int]] = [[] for _ in jobs.tenants]
    for row, tenant in enumerate(jobs.tenant):
        rows_of[tenant].append(row)
    for tenant, rows in enumerate(rows_of):
        largest = max((jobs.gpus[row] for row in rows), default=0)
        if largest > quota_gpus[tenant]:
            raise ValueError(f"{jobs.tenants[tenant]} has a job of {largest} GPUs and {quota_gpus[tenant]} GPUs in all")
        if gpus_per_node is None:
            _by_count(jobs, rows, quota_gpus[tenant], starts)
        else:
            _on_nodes(jobs, rows, Packing(quota_gpus[tenant] // gpus_per_node, gpus_per_node), starts)
    return starts


def _by_count(jobs: JobTable, rows: Sequence[int], free: int, starts: list[float]) -> None:
    submits, runs, sizes = jobs.submit_seconds, jobs.run_seconds, jobs.gpus
    ends: list[tuple[float, int]] = []
    now = 0.0
    for row in rows:
        if submits[row] > now:
            now = submits[row]
        gpus = sizes[row]
        while free < gpus:
            end, freed = heappop(ends)
            free += freed
            if end > now:
                now = end
        starts[row] = now
        free -= gpus
        heappush(ends, (now + runs[row], gpus))


def _on_nodes(jobs: JobTable, rows: Sequence[int], nodes: Packing, starts: list[float]) -> None:
    ends: list[tuple[float, int, Held]] = []
    now = 0.0
    for row in rows:
        now = max(now, jobs.submit_seconds[row])
        gpus = jobs.gpus[row]
        # What has ended by now is free, whether or not this job needs it: where it goes depends on that.
        while ends and (ends[0][0] <= now or not nodes.fits(gpus)):
            end, _, held = heappop(ends)
            nodes.give(held)
            now = max(now, end)
        starts[row] = now
        heappush(ends, (now + jobs.run_seconds[row], row, nodes.take(gpus)))

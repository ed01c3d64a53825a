"""Entitled-demand attainment of a simulated trace: each minute, how much of what it may ask for waited too long.

D = min(GPUs running + GPUs waiting, burst); bad = max(0, min(D - running, GPUs waiting longer than their limit));
attainment = 1 - sum of bad / sum of D. A wait goes on after an eviction where it stood. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import ceil

from controller.simulate.batch_setting import Fates
from controller.simulate.job_table import JobTable
from controller.simulate.shares import Share

LIMIT_SECONDS: Mapping[str, float] = {"critical": 300.0, "standard": 3600.0}
"""Tier → how long its work may wait. A tier without a limit is not judged."""

_MINUTE = 60.0


class _Minutes:
    """GPUs of one tenant at the begin of each minute, kept as the changes from one minute to the next."""

    def __init__(self, begin: float, minutes: int) -> None:
        self._begin, self._changes = begin, [0] * (minutes + 2)

    def add(self, gpus: int, begin: float, end: float) -> None:
        """So many GPUs from a moment on until before another."""
        if end > begin:
            self._changes[ceil((begin - self._begin) / _MINUTE)] += gpus
            self._changes[ceil((end - self._begin) / _MINUTE)] -= gpus

    def values(self) -> Iterable[int]:
        """Minute by minute."""
        return accumulate(self._changes)


def attainments(
    jobs: JobTable, fates: Fates, shares: Sequence[Share], limits: Mapping[str, float] = LIMIT_SECONDS
) -> dict[str, float | None]:
    """Tenant → its attainment over the whole run; None: its tier has no limit, or it never asked for anything.

    A job larger than its tenant's burst is not judged. Jobs that never ended are counted until the run's last event.
    """
    begin = min(jobs.submit_seconds, default=0.0)
    end = max(fates.end_seconds, default=begin)
    found: dict[str, float | None] = dict.fromkeys((share.tenant for share in shares), None)
    judged = {number: share for number, share in enumerate(shares) if share.tier in limits}
    series = {number: [_Minutes(begin, ceil((end - begin) / _MINUTE)) for _ in range(3)] for number in judged}
    stays: dict[int, list[tuple[float, float]]] = {}
    for row, start, stop in fates.stays:
        stays.setdefault(row, []).append((start, stop))
    for row, tenant in enumerate(jobs.tenant):
        if tenant in judged and jobs.gpus[row] <= judged[tenant].counted:
            _enter(series[tenant], jobs, row, stays.get(row, []), limits[judged[tenant].tier], end)
    for number, share in judged.items():
        running, waiting, late = (one.values() for one in series[number])
        found[share.tenant] = _ratio(running, waiting, late, share.counted)
    return found


def _enter(
    series: Sequence[_Minutes], jobs: JobTable, row: int, stays: list[tuple[float, float]], limit: float, last: float
) -> None:
    running, waiting, late = series
    gpus, since, waited = jobs.gpus[row], jobs.submit_seconds[row], 0.0
    ended = False
    for start, stop in stays:
        waiting.add(gpus, since, start)
        late.add(gpus, since + max(0.0, limit - waited), start)
        running.add(gpus, start, stop)
        waited, since, ended = waited + start - since, stop, True
    if not ended:
        waiting.add(gpus, since, last)
        late.add(gpus, since + limit, last)


def _ratio(running: Iterable[int], waiting: Iterable[int], late: Iterable[int], burst: int) -> float | None:
    demand = bad = 0
    for runs, waits, overdue in zip(running, waiting, late, strict=True):
        asked = min(runs + waits, burst)
        demand += asked
        bad += max(0, min(asked - runs, overdue))
    return 1.0 - bad / demand if demand else None

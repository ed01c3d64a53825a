"""Entitled-demand attainment of a simulated trace: each minute, how much of what it may ask for waited too long.

D = min(GPUs running + GPUs waiting, burst); bad = max(0, min(D - running, GPUs waiting longer than their limit));
attainment = 1 - sum of bad / sum of D. A wait goes on after an eviction where it stood. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil
from operator import itemgetter

from controller.simulate.batch_setting import Fates
from controller.simulate.job_table import JobTable
from controller.simulate.shares import Share

LIMIT_SECONDS: Mapping[str, float] = {"critical": 300.0, "standard": 3600.0}
"""Tier → how long its work may wait. A tier without a limit is not judged."""

_MINUTE = 60.0
_RUNNING, _WAITING, _LATE = 0, 1, 2


class _Minutes:
    """GPUs of one tenant at the begin of each minute (running, waiting, late), as changes at minutes that have any."""

    def __init__(self, begin: float) -> None:
        self._begin = begin
        self._changes: dict[int, list[int]] = {}

    def add(self, kind: int, gpus: int, begin: float, end: float) -> None:
        """So many GPUs more of a kind from a moment on until before another."""
        if end > begin:
            for at, change in ((begin, gpus), (end, -gpus)):
                minute = ceil((at - self._begin) / _MINUTE)
                self._changes.setdefault(minute, [0, 0, 0])[kind] += change

    def stretches(self) -> Iterator[tuple[int, int, int, int]]:
        """(minutes, running, waiting, late) for each stretch of equal minutes, in order of time."""
        running = waiting = late = 0
        minutes = sorted(self._changes)
        for minute, following in pairwise(minutes):
            more = self._changes[minute]
            running, waiting, late = running + more[_RUNNING], waiting + more[_WAITING], late + more[_LATE]
            yield following - minute, running, waiting, late


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
    minutes = {number: _Minutes(begin) for number in judged}
    stays, at = sorted(fates.stays, key=itemgetter(0)), 0  # of a million jobs no second copy
    for row, tenant in enumerate(jobs.tenant):
        first = at
        while at < len(stays) and stays[at][0] == row:
            at += 1
        if tenant in judged and jobs.gpus[row] <= judged[tenant].counted:
            _enter(minutes[tenant], jobs, row, stays[first:at], limits[judged[tenant].tier], end)
    for number, share in judged.items():
        found[share.tenant] = _ratio(minutes[number], share.counted)
    return found


def _enter(
    minutes: _Minutes, jobs: JobTable, row: int, stays: list[tuple[int, float, float]], limit: float, last: float
) -> None:
    gpus, since, waited = jobs.gpus[row], jobs.submit_seconds[row], 0.0
    for _, start, stop in stays:
        minutes.add(_WAITING, gpus, since, start)
        minutes.add(_LATE, gpus, since + max(0.0, limit - waited), start)
        minutes.add(_RUNNING, gpus, start, stop)
        waited, since = waited + start - since, stop
    if not stays:
        minutes.add(_WAITING, gpus, since, last)
        minutes.add(_LATE, gpus, since + limit, last)


def _ratio(minutes: _Minutes, burst: int) -> float | None:
    demand = bad = 0
    for count, running, waiting, late in minutes.stretches():
        asked = min(running + waiting, burst)
        demand += count * asked
        bad += count * max(0, min(asked - running, late))
    return 1.0 - bad / demand if demand else None

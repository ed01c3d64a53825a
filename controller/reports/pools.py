"""Where the GPU-hours of each pool went: every slot counts once, and what was not seen is not idle. Pure.

The parts come from different series, so that whether they close is a finding and not a matter of course.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pandas as pd

from collector.model.reading import Known, Unknown
from controller.reports.model import PoolSplit, Window
from controller.reports.samples import CAPACITY, FREE, HELD, RESERVED, RUNNING, UNUSABLE, Key, Samples


class PoolHistory:
    """What is known of one pool in each slot."""

    def __init__(self, name: str, history: History) -> None:
        self.name = name
        self.nothing: pd.Series[float] = pd.Series(np.nan, index=history.samples.index)
        self.capacity = history.capacity.get((name,), self.nothing)
        self.free = history.free.get((name,), self.nothing)
        self.unusable = {key[1]: values for key, values in history.unusable.items() if key[0] == name}
        self.held = {key[0]: values for key, values in history.held.items() if key[1] == name}

    @cached_property
    def seen(self) -> pd.Series[bool]:
        """Slots in which every part was known."""
        known = self.capacity.notna() & self.free.notna()
        known &= pd.Series(bool(self.unusable), index=known.index)
        for values in self.unusable.values():
            known &= values.notna()
        held = pd.Series(False, index=known.index)
        for values in self.held.values():
            held |= values.notna()
        return known & held


class History:
    """The series of all pools, each read once."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        self.capacity, self.free = samples.gauges(CAPACITY), samples.gauges(FREE)
        self.unusable, self.held = samples.gauges(UNUSABLE), samples.gauges(HELD)
        self.running, self.reserved = samples.gauges(RUNNING), samples.gauges(RESERVED)
        self._pools: dict[str, PoolHistory] = {}

    def pool(self, name: str) -> PoolHistory:
        """One pool of it."""
        if name not in self._pools:
            self._pools[name] = PoolHistory(name, self)
        return self._pools[name]

    @property
    def pools(self) -> tuple[str, ...]:
        """Pools of which there is any sample, in order."""
        return tuple(sorted({key[0] for key in (*self.capacity, *self.free, *self.unusable)}))


def pool_split(history: History, name: str, window: Window) -> PoolSplit:
    """The GPU-hours of one pool."""
    pool, hours = history.pool(name), window.slot_seconds / 3600
    seen = pool.seen
    if not seen.any():
        return PoolSplit(name, window.hours, 0.0, Unknown("nothing was seen of this pool in the window"))
    # As before the gap: nodes come and go seldom; before anything was seen, as it was seen first.
    offered = pool.capacity.where(seen).ffill().bfill()
    phases = [phase_hours(history, pool, tenant, hours) for tenant in pool.held]
    held = summed(pool.held)
    unusable = {reason: float(values[seen].sum()) * hours for reason, values in sorted(pool.unusable.items())}
    rest = (pool.capacity - held - pool.free - summed(pool.unusable))[seen]
    return PoolSplit(
        pool=name,
        hours=window.hours,
        seen_hours=int(seen.sum()) * hours,
        capacity=Known(float(offered.sum()) * hours),
        running=sum(running for running, _, _ in phases),
        starting=sum(starting for _, starting, _ in phases),
        phase_unknown=sum(unknown for _, _, unknown in phases),
        free=float(pool.free[seen].sum()) * hours,
        admitted_without_node=_admitted_without_node(history, pool) * hours,
        unusable=unusable,
        not_seen=float(offered[~seen].sum()) * hours,
        difference=float(rest.sum()) * hours,
        misfit=float(rest.abs().sum()) * hours,
    )


def phase_hours(history: History, pool: PoolHistory, tenant: str, hours: float) -> tuple[float, float, float]:
    """GPU-hours that a tenant held in the slots seen: running, starting or ending, not known which of these."""
    held = pool.held[tenant][pool.seen].dropna()
    running = history.running.get((tenant, pool.name), pool.nothing).reindex(held.index)
    known = running.notna()
    runs = running[known].clip(upper=held[known])
    starts = held[known] - runs
    return float(runs.sum()) * hours, float(starts.sum()) * hours, float(held[~known].sum()) * hours


def summed(parts: Mapping[str, pd.Series[float]]) -> pd.Series[float]:
    """The sum in each slot. Of one scrape a series that is absent is of somebody who was not there."""
    return pd.concat(list(parts.values()), axis=1).sum(axis=1)


def _admitted_without_node(history: History, pool: PoolHistory) -> float:
    """GPU-slots that were free on nodes while quota had given them away."""
    promised: dict[str, pd.Series[float]] = {}
    for tenant, held in pool.held.items():
        key: Key = (tenant, pool.name)
        if key in history.reserved:
            promised[tenant] = (history.reserved[key] - held).clip(lower=0.0)
    if not promised:
        return 0.0
    return float(summed(promised).clip(upper=pool.free)[pool.seen].sum())

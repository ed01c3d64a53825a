"""History as tables: one column per series, one row per slot, nothing (NaN) where no sample was. Reads nothing.

Two replicas of a collector are two sources of the same fact. Of each slot one source is taken whole: the greatest of
two replicas for each series apart would mix two moments, and the parts would no longer add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from collector.catalogue.index import find

CAPACITY: Final = "trimtab_pool_capacity_gpus"
FREE: Final = "trimtab_pool_free_gpus"
UNUSABLE: Final = "trimtab_pool_unusable_gpus"
HELD: Final = "trimtab_tenant_held_gpus"
UNJUDGED: Final = "trimtab_tenant_unjudged_gpus"
RUNNING: Final = "trimtab_tenant_running_gpus"
RESERVED: Final = "trimtab_tenant_reserved_gpus"
GUARANTEE: Final = "trimtab_tenant_guarantee_gpus"
FLOATING: Final = "trimtab_tenant_floating_gpus"
IDLE_HELD: Final = "trimtab_tenant_idle_held_gpus"
ENTITLED: Final = "trimtab_tenant_entitled_gpus"
SHORTFALL: Final = "trimtab_tenant_shortfall_gpus"
OLDEST: Final = "trimtab_queue_oldest_pending_seconds"
WAITED: Final = "trimtab_workload_wait_seconds_total"
EVICTIONS: Final = "trimtab_workload_evictions_total"

IDENTITY: Final = (CAPACITY, FREE, UNUSABLE, HELD)
"""A slot is seen when one source has all of these."""
SERIES: Final = (
    *IDENTITY,
    UNJUDGED,
    RUNNING,
    RESERVED,
    GUARANTEE,
    FLOATING,
    IDLE_HELD,
    ENTITLED,
    SHORTFALL,
    OLDEST,
    WAITED,
    EVICTIONS,
)

Key = tuple[str, ...]
"""Values of a series' labels in the order of the catalogue, without the cluster."""
Column = tuple[str, Key]
"""(source, key): who said it, and about what."""
Values = npt.NDArray[np.float64]
"""One value per moment, NaN where there is none."""


def key_labels(name: str) -> tuple[str, ...]:
    """The labels that tell the series of a metric apart within one cluster. Raises KeyError for an unknown metric."""
    entry = find(name)
    if entry is None:
        raise KeyError(f"{name} is not in the catalogue")
    return tuple(label for label in entry.labels if label != "cluster")


@dataclass(frozen=True)
class Samples:
    """All series of one cluster and window: metric → (source, key) → values at each of `slots + 1` moments.

    The first moment is the window's start: gauges do not count it, counters start from it.
    """

    slots: int
    series: Mapping[str, Mapping[Column, Values]]

    @cached_property
    def index(self) -> pd.RangeIndex:
        """The slots, each named by the number of the moment at its end."""
        return pd.RangeIndex(1, self.slots + 1)

    @cached_property
    def chosen(self) -> pd.Series[str]:
        """Slot → the source that is taken, the first by name that saw it whole; slots that nobody saw are left out."""
        whole = pd.DataFrame(True, index=self.index, columns=pd.Index(sorted(self._sources())))
        for name in IDENTITY:
            present = pd.DataFrame(False, index=whole.index, columns=whole.columns)
            for (source, _), values in self.series.get(name, {}).items():
                present[source] |= ~np.isnan(values[1:])
            whole &= present
        seen = whole.loc[whole.any(axis=1)]
        names = [str(seen.columns[number]) for number in seen.to_numpy().argmax(axis=1)] if len(seen) else []
        return pd.Series(names, index=seen.index, dtype="str")

    def gauges(self, name: str) -> Mapping[Key, pd.Series[float]]:
        """Key → value in each slot as the chosen source has it."""
        parts: dict[Key, list[pd.Series[float]]] = {}
        for (source, key), values in self.series.get(name, {}).items():
            own = self.chosen.index[self.chosen == source]
            parts.setdefault(key, []).append(pd.Series(values[own.to_numpy()], index=own))
        return {key: pd.concat(found).reindex(self.index) for key, found in sorted(parts.items())}

    def increases(self, name: str) -> Mapping[Key, float]:
        """Key → growth of a counter over the window; keys of which there are no two samples are left out.

        A counter that falls began again at zero. Over a gap growth is spread evenly; of several sources the one that
        grew most counts in each slot, so that replicas count once and a successor goes on where the last one ended.
        """
        parts: dict[Key, list[pd.Series[float]]] = {}
        for (_, key), values in self.series.get(name, {}).items():
            growth = self._growth(values)
            if growth.notna().any():
                parts.setdefault(key, []).append(growth)
        return {key: float(pd.concat(found, axis=1).max(axis=1).sum()) for key, found in sorted(parts.items())}

    def peaks(self, name: str) -> Mapping[Key, float]:
        """Key → the greatest value that any source had; keys without a sample are left out."""
        found: dict[Key, float] = {}
        for (_, key), values in sorted(self.series.get(name, {}).items()):
            if not np.isnan(values[1:]).all():
                found[key] = max(found.get(key, -np.inf), float(np.nanmax(values[1:])))
        return found

    def _growth(self, values: Values) -> pd.Series[float]:
        seen = pd.Series(values).dropna()
        moments = seen.index.to_numpy()
        if len(seen) < 2:
            return pd.Series(np.nan, index=self.index)
        steps = np.diff(seen.to_numpy())
        steps = np.where(steps < 0, seen.to_numpy()[1:], steps) / np.diff(moments)
        spread = pd.Series(steps, index=moments[1:]).reindex(self.index).bfill()
        return spread.where(self.index > moments[0])

    def _sources(self) -> Iterable[str]:
        return {source for columns in self.series.values() for source, _ in columns}

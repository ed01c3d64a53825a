"""How long work of a tenant and a size usually runs, out of what ended before. Pure; draws by a seed.

Nothing of it ever decides: it only answers what may come.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from controller.simulate.chance import Chance

FEWEST: Final = 5
"""So many ended jobs say something about the next one."""

Run: TypeAlias = tuple[str, int, float]
"""(tenant, GPUs, seconds) of one job that ended."""


@dataclass(frozen=True, slots=True)
class LearnedRuns:
    """Run times in order, of each tenant and size, of each tenant, and of all."""

    by_size: Mapping[tuple[str, int], Sequence[float]]
    by_tenant: Mapping[str, Sequence[float]]
    all: Sequence[float]

    @classmethod
    def of(cls, runs: Iterable[Run]) -> LearnedRuns:
        """Learn."""
        by_size: dict[tuple[str, int], list[float]] = defaultdict(list)
        by_tenant: dict[str, list[float]] = defaultdict(list)
        for tenant, gpus, seconds in runs:
            by_size[tenant, gpus].append(seconds)
            by_tenant[tenant].append(seconds)
        everything = sorted(seconds for own in by_tenant.values() for seconds in own)
        sizes = {key: sorted(own) for key, own in by_size.items()}
        return cls(sizes, {tenant: sorted(own) for tenant, own in by_tenant.items()}, everything)

    def knows(self, tenant: str) -> bool:
        """Whether anything can be said of this tenant's own work."""
        return len(self.by_tenant.get(tenant, ())) >= FEWEST

    def draw(self, tenant: str, gpus: int, chance: Chance, so_far: float = 0.0) -> float:
        """How long a job still runs that has run `so_far`: one of those that ran longer, of the nearest kind known.

        Where nothing ever ran so long, as long again. Raises ValueError when nothing was learned at all.
        """
        if not self.all:
            raise ValueError("no job ever ended")
        for known in (self.by_size.get((tenant, gpus), ()), self.by_tenant.get(tenant, ()), self.all):
            longer = bisect_right(known, so_far)
            if len(known) >= FEWEST and longer < len(known):
                return known[longer + int(chance.uniform() * (len(known) - longer))] - so_far
        return max(so_far, self.all[0])

"""What each tenant of a simulated trace is promised, and the same on a cluster of another size. Plain values. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil

GPUS_PER_NODE = 8


@dataclass(frozen=True, slots=True)
class Share:
    """A tenant's part of the cluster, in GPUs: what is Git's (`guarantee`) and what may be moved (`floating`)."""

    tenant: str
    guarantee: int
    floating: int = 0
    burst: int | None = None
    """Up to here waits count; None: guarantee + floating."""
    ceiling: int | None = None
    """Never above; None: no limit."""
    tier: str = "standard"
    rank: int = 0
    """Of its tier: higher is served first."""

    @property
    def quota(self) -> int:
        """Its own entitlement as agreed."""
        return self.guarantee + self.floating

    @property
    def counted(self) -> int:
        """The most GPUs whose waiting counts."""
        return self.quota if self.burst is None else self.burst


def share_of(
    tenant: str, quota: int, guarantee: int = GPUS_PER_NODE, tier: str = "standard", rank: int = 0, bursts: int = 1
) -> Share:
    """A quota split as recipes do: so much is Git's, the rest may be moved; waits count up to `bursts` times it."""
    firm = min(guarantee, quota)
    return Share(tenant, firm, quota - firm, bursts * quota, None, tier, rank)


def scaled(
    shares: Iterable[Share], capacity_ratio: float, largest_job: Mapping[str, int], gpus_per_node: int = GPUS_PER_NODE
) -> tuple[Share, ...]:
    """The same tenants on a cluster of that size: whole nodes each, and no fewer than its largest job needs.

    `largest_job` is tenant → GPUs. Raises ValueError for a ratio that is not above 0.
    """
    if not capacity_ratio > 0:
        raise ValueError(f"capacity ratio {capacity_ratio}, expected more than 0")
    return tuple(_scaled(one, capacity_ratio, largest_job.get(one.tenant, 0), gpus_per_node) for one in shares)


def _scaled(share: Share, ratio: float, largest: int, gpus_per_node: int) -> Share:
    nodes = max(round(share.quota / gpus_per_node * ratio), ceil(largest / gpus_per_node))
    quota = nodes * gpus_per_node
    by = quota / share.quota if share.quota else 1.0
    firm = min(quota, ceil(share.guarantee / gpus_per_node * ratio) * gpus_per_node)
    return replace(
        share,
        guarantee=firm,
        floating=quota - firm,
        burst=None if share.burst is None else max(quota, round(share.burst * by)),
        ceiling=None if share.ceiling is None else max(quota, round(share.ceiling * by)),
    )


def shares_by_demand(
    mean_gpus: Mapping[str, float], largest_job: Mapping[str, int], gpus_per_node: int = GPUS_PER_NODE
) -> tuple[Share, ...]:
    """Quotas for a trace that comes without: whole nodes for each tenant's mean demand at a load of 0.7.

    `mean_gpus` is tenant → GPUs that it needs on average.
    """
    nodes = {name: ceil(mean / _USUAL_LOAD / gpus_per_node) for name, mean in mean_gpus.items()}
    return tuple(
        share_of(name, max(nodes[name], ceil(largest_job[name] / gpus_per_node), 1) * gpus_per_node, gpus_per_node)
        for name in sorted(nodes)
    )


_USUAL_LOAD = 0.7

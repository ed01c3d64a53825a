"""What really happened, as something that can be asked again: jobs of a trace file or of the history, and the quotas.

Quotas come from a file, else from the documents, else from each tenant's demand, and it is said which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from collector.accounting.schema.rows import Transition
from collector.model.quantities import format_time
from collector.model.tenancy import Site
from controller.api.errors import InputError, Mistake
from controller.evaluate.trace_run import by_demand
from controller.simulate.shares import GPUS_PER_NODE, Share, scaled
from controller.traces.history import jobs_of_transitions
from controller.traces.quota_file import read_quotas
from controller.traces.read import read_trace
from controller.traces.table import largest_jobs, within
from controller.traces.trace import TraceJob

WARM_UP_SECONDS: Final = 14 * 86400.0
"""So long before a span jobs are handed in that are not counted: a cluster is not empty when a week begins."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Jobs in order of time, and an account of all that was read."""

    jobs: Sequence[TraceJob]
    left_out: Mapping[str, int]
    """Reason → rows that gave no job, and jobs out of the span."""
    source: str
    """Where from, in words."""
    end: float
    """Up to when it is known what happened."""

    def during(self, begin: float, end: float) -> Recording:
        """What was handed in before `end`, from `begin` on and in the time before that fills the cluster.

        Raises InputError when nothing was handed in from `begin` on.
        """
        jobs = within(self.jobs, begin - WARM_UP_SECONDS, end)
        if not jobs or jobs[-1].submitted_seconds < begin:
            first, last = (format_time(job.submitted_seconds) for job in (self.jobs[0], self.jobs[-1]))
            raise InputError((Mistake("--from, --to", "no job in this span", f"a span within {first} and {last}"),))
        outside = len(self.jobs) - len(jobs)
        left_out = {**self.left_out, **({"outside of the span and the time before": outside} if outside else {})}
        return Recording(jobs, left_out, self.source, self.end)


@dataclass(frozen=True, slots=True)
class Quotas:
    """Who is promised what, and who said so."""

    shares: tuple[Share, ...]
    source: str


def recorded_in_file(path: Path, form: str | None) -> Recording:
    """A trace. Raises InputError."""
    trace = read_trace(path, form)
    return Recording(trace.jobs, trace.skipped, f"{path.name} ({trace.format})", trace.jobs[-1].submitted_seconds + 1.0)


def recorded_in_history(rows: Iterable[Transition], pool: str | None, until: float) -> Recording:
    """The collector's history of one pool up to now. Raises InputError when no job or no single pool is in it."""
    kept = list(rows)
    pools = sorted({row.pool for row in kept if row.pool})
    if pool is None and len(pools) > 1:
        raise InputError((Mistake("--pool", "nothing", f"one of {', '.join(pools)}: the history has several"),))
    chosen = pool or (pools[0] if pools else "")
    if pool is not None and pool not in pools:
        raise InputError((Mistake("--pool", pool, f"one of {', '.join(pools) or 'none yet'}"),))
    uids = {row.uid for row in kept if row.pool == chosen}
    skipped = Counter[str]({"of another pool": sum(row.uid not in uids for row in kept)})
    jobs = sorted(
        jobs_of_transitions((row for row in kept if row.uid in uids), skipped, until),
        key=lambda job: job.submitted_seconds,
    )
    if not jobs:
        found = "; ".join(f"{count} rows: {reason}" for reason, count in skipped.items() if count) or "no rows"
        raise InputError((Mistake("--accounting", f"no job that can be read ({found})", "at least one job"),))
    left_out = {reason: count for reason, count in skipped.items() if count}
    return Recording(jobs, left_out, f"history of pool {chosen}" if chosen else "history", until)


def quotas_for(
    jobs: Sequence[TraceJob], file: Path | None, site: Site | None, pool: str | None, capacity_ratio: float = 1.0
) -> Quotas:
    """The first of file, documents and demand that there is, on a cluster of that size. Raises InputError."""
    if file is not None:
        found = Quotas(read_quotas(file), f"quotas of {file.name}")
    elif site is not None and site.tenants:
        found = Quotas(shares_of_site(site, pool), "quotas of the documents")
    else:
        found = Quotas(by_demand(jobs, GPUS_PER_NODE), "quotas made up from each tenant's mean demand")
    if capacity_ratio == 1.0:
        return found
    known = {share.tenant for share in found.shares}
    largest = {tenant: gpus for tenant, gpus in largest_jobs(jobs).items() if tenant in known}
    return Quotas(scaled(found.shares, capacity_ratio, largest), f"{found.source}, times {capacity_ratio:g}")


def shares_of_site(site: Site, pool: str | None) -> tuple[Share, ...]:
    """What the documents promise in a pool; None: the only one. Raises InputError when several could be meant."""
    names = [one.name for one in site.pools]
    if pool is None and len(names) != 1:
        raise InputError((Mistake("--pool", "nothing", f"one of {', '.join(names)}: the documents have several"),))
    chosen = names[0] if pool is None else pool
    ranks = {tier.name: tier.rank for tier in site.tiers}
    shares = tuple(
        Share(
            tenant.name,
            one.guarantee,
            one.floating,
            one.burst,
            one.ceiling,
            tenant.tier,
            ranks.get(tenant.tier, 0),
        )
        for tenant in site.tenants
        for one in tenant.entitlements
        if one.pool == chosen
    )
    if not shares:
        raise InputError((Mistake("--pool", chosen, "a pool in which a Tenant is promised GPUs"),))
    return shares

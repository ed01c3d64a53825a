"""The benchmark window of the Philly trace, as recipes use it: two months of 2017, eleven tenants, three tiers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from controller.evaluate.folder import TraceFolder
from controller.simulate.job_table import JobTable
from controller.simulate.shares import Share, scaled
from controller.traces.quota_file import read_quotas
from controller.traces.read import read_trace
from controller.traces.table import largest_jobs, selected, within
from controller.traces.trace import TraceJob

BEGIN: Final = datetime(2017, 10, 1, tzinfo=UTC).timestamp()
NOVEMBER: Final = datetime(2017, 11, 1, tzinfo=UTC).timestamp()
"""From here on nothing may have been fitted."""
END: Final = datetime(2017, 12, 1, tzinfo=UTC).timestamp()

CRITICAL: Final = frozenset({"b436b2", "e13805", "103959"})
BEST_EFFORT: Final = frozenset({"6214e9", "11cb48"})
"""All other tenants are standard."""


@dataclass(frozen=True, slots=True)
class Philly:
    """The window's jobs and its tenants at full size."""

    trace_jobs: tuple[TraceJob, ...]
    shares: tuple[Share, ...]

    def at(self, capacity_ratio: float) -> tuple[Share, ...]:
        """The tenants on a cluster of that size."""
        return scaled(self.shares, capacity_ratio, largest_jobs(self.trace_jobs))

    def table(self) -> JobTable:
        """The jobs as columns; a job that is larger than its tenant's quota never occurs in `at`."""
        return selected(self.trace_jobs, self.shares, {share.tenant: share.quota for share in self.shares}).jobs


def load_philly(folder: TraceFolder) -> Philly:
    """Read it. Raises InputError when it is not there."""
    shares = tuple(_with_tier(share) for share in read_quotas(folder.file("philly/philly_vc.csv")))
    known = {share.tenant for share in shares}
    jobs = within(read_trace(folder.file("philly/philly.csv"), "philly").jobs, BEGIN, END)
    return Philly(tuple(job for job in jobs if job.tenant in known), shares)


def _with_tier(share: Share) -> Share:
    if share.tenant in CRITICAL:
        return replace(share, tier="critical", rank=100, burst=2 * share.quota)
    if share.tenant in BEST_EFFORT:
        return replace(share, tier="best-effort", rank=0, burst=share.quota)
    return replace(share, tier="standard", rank=50, burst=share.quota)

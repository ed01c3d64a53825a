"""Recipe `fidelity`: first come, first served on the Philly trace, against the averages of the Helios simulator."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import Final

from controller.evaluate.folder import TraceFolder
from controller.evaluate.philly import load_philly
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell
from controller.simulate.fifo import fifo_starts
from controller.simulate.shares import GPUS_PER_NODE

HELIOS_MEAN_WAIT_SECONDS: Final = {
    "0e4a51": 0.0,
    "103959": 246.21,
    "11cb48": 240.98,
    "2869ce": 11343.37,
    "6214e9": 5.76,
    "6c71a0": 0.5,
    "7f04ca": 0.0,
    "b436b2": 22.76,
    "e13805": 0.0,
    "ed69ec": 4.08,
    "ee9e8c": 0.0,
}
"""Tenant → mean wait, as their simulator prints it, to two digits."""


def _load(folder: TraceFolder) -> Run:
    philly = load_philly(folder)
    jobs, quotas = philly.table(), [share.quota for share in philly.shares]

    def run(seeds: int, tell: Tell) -> Outcome:
        del seeds  # no chance is involved
        tell(0.1, "first come, first served on nodes")
        waits: dict[str, list[float]] = defaultdict(list)
        for tenant, begin, submitted in zip(
            jobs.tenant, fifo_starts(jobs, quotas, GPUS_PER_NODE), jobs.submit_seconds, strict=True
        ):
            waits[jobs.tenants[tenant]].append(begin - submitted)
        means = {tenant: fmean(waits[tenant]) for tenant in HELIOS_MEAN_WAIT_SECONDS}
        error = max(abs(means[tenant] - known) for tenant, known in HELIOS_MEAN_WAIT_SECONDS.items())
        results = {"max_abs_error_seconds": error}
        details = {"jobs": float(len(jobs)), **{f"mean_wait_seconds_{name}": mean for name, mean in means.items()}}
        return Outcome(results, (SeedResult(0, results, "nodes"),), details)

    return run


FIDELITY: Final = Recipe(
    "fidelity",
    "Mean wait per tenant, first come, first served on whole nodes: Philly, October and November 2017.",
    "the Helios simulator, eleven tenants, 68,503 jobs",
    (Goal("max_abs_error_seconds", Sense.AT_MOST, 0.01),),
    _load,
    seeds=1,
)

"""The board of one tenant: what is wrong, why, and what Trimtab did; the first line answers all three. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from grafanalib.core import Annotations, Dashboard, Templating, Time

from alerts.rules.attainment import attainment, coverage
from alerts.rules.objectives import BUDGET, DEFAULT_WINDOW_SECONDS
from alerts.rules.timing import DAY, HOUR, promql_duration
from dashboards.boards.tenant_storage import storage_band
from dashboards.house import BAD_ABOVE_NONE, Band, Colour, Query, Step, Told, Unit, series, stacked_bands, stat, table
from dashboards.variables import OF_TENANT, OF_TENANT_POOL, PER_CLUSTER, tenant_variables

KEY: Final = "tenant"
_BY_POOL: Final = "max by (cluster, tenant, pool)"
_BY_TENANT: Final = "sum by (cluster, tenant)"
_BY_QUEUE: Final = "max by (cluster, tenant, tier, queue)"
_BY_OBJECTIVE: Final = "max by (cluster, tenant, pool, objective, window)"
_BY_CHANGE: Final = "max by (cluster, tenant, pool, direction, stage)"
_FINDING: Final = "max by (cluster, tenant, pool, finding, cause, outcome, refusal)"
_RECENT_SECONDS: Final = (HOUR, DAY)
_LITTLE_BUDGET_RATIO: Final = 0.25


def build(windows_seconds: Sequence[float] = (DEFAULT_WINDOW_SECONDS,)) -> Dashboard:
    """The board for a site whose queue-wait objectives are kept over these windows (`objective_windows(site)`)."""
    return Dashboard(
        title="Trimtab / Tenant",
        description="Whether a tenant gets what it was promised; if not, why, and what Trimtab did about it.",
        panels=stacked_bands(
            Band(4, (_lacks(), _oldest_wait(), _why(), _did(), _budget_left(windows_seconds), _blind())),
            Band(8, (_demand(), _quota()), title="What it wants, gets and holds"),
            Band(8, (_waits(), _waiting(), _evictions()), title="Why work waits"),
            Band(8, (_troubled(), _devices(), _power()), title="What its GPUs do"),
            storage_band(),
            Band(8, (_changes(), _findings(), _decisions()), title="What Trimtab did"),
            Band(8, (_attainment(windows_seconds), _coverage(), _ages()), title="Promise, and how much of it was seen"),
        ),
        templating=Templating(tenant_variables("trimtab_tenant_guarantee_gpus")),
        annotations=Annotations([_change_annotation()]),
        time=Time("now-6h", "now"),
        refresh="30s",
    )


def _gpus(name: str) -> str:
    return f"{_BY_POOL} (trimtab_tenant_{name}_gpus{OF_TENANT_POOL})"


def _lacks() -> Any:
    told = Told(
        "Lacks now", "GPUs of entitled demand that wait longer than their limit. 0: promised is kept.", Unit.GPUS
    )
    return stat(told, Query(f"{_BY_TENANT} ({_gpus('shortfall')})", "lacks"), steps=BAD_ABOVE_NONE)


def _oldest_wait() -> Any:
    told = Told("Oldest wait", "Longest wait of any eligible workload, summed over its evictions.", Unit.SECONDS)
    expr = f"max by (cluster, tenant) (trimtab_queue_oldest_pending_seconds{OF_TENANT})"
    return stat(told, Query(expr, "oldest wait"))


def _why() -> Any:
    told = Told(
        "Why",
        "What the last tick found wrong, and the cause. Quota is moved for the cause scheduling alone.",
        Unit.COUNT,
    )
    expr = f"max by (cluster, tenant, finding, cause) (trimtab_tenant_finding{OF_TENANT})"
    return stat(
        told, Query(expr, "{{finding}}: {{cause}}"), steps=BAD_ABOVE_NONE, names="name", nothing="nothing found"
    )


def _did() -> Any:
    told = Told(
        "Trimtab moved",
        "GPUs that changes in force have given to the tenant or taken from it, and where these changes stand.",
        Unit.GPUS,
    )
    expr = f"sum by (cluster, tenant, direction, stage) ({_changed()}) > 0"
    return stat(told, Query(expr, "{{direction}}, {{stage}}"), names="value_and_name", nothing="no change")


def _budget_left(windows_seconds: Sequence[float]) -> Any:
    told = Told(
        "Error budget left",
        "Of each objective about waiting: 100 % is untouched, below 0 it is missed. Unknown while over 5 % of its "
        "window was not seen or nothing was wanted in it.",
        Unit.RATIO,
    )
    steps = (Step(None, Colour.BAD), Step(0.0, Colour.WATCH), Step(_LITTLE_BUDGET_RATIO, Colour.GOOD))
    queries = [
        Query(
            f"1 - (1 - {_BY_POOL} ({attainment(seconds)}{OF_TENANT_POOL}))\n"
            "  / on (cluster, tenant, pool) group_right ()\n"
            f"  {_BY_OBJECTIVE} ({BUDGET}{_of_objective(seconds)})",
            "{{objective}} {{pool}} {{window}}",
        )
        for seconds in windows_seconds
    ]
    return stat(told, *queries, steps=steps)


def _of_objective(window_seconds: float) -> str:
    return f'{OF_TENANT_POOL[:-1]},window="{promql_duration(window_seconds)}"}}'


def _blind() -> Any:
    told = Told(
        "Blind", "Yes: the picture is too old or too thin to decide on, and Trimtab changes nothing.", Unit.YES_NO
    )
    expr = f"max by (cluster) (trimtab_controller_blind{PER_CLUSTER})"
    return stat(told, Query(expr, "blind"), steps=BAD_ABOVE_NONE, nothing="no controller")


def _demand() -> Any:
    told = Told(
        "Demand and service",
        "Entitled demand (running and waiting eligible work, up to the burst), what of it runs, and what waits beyond "
        "its limit.",
        Unit.GPUS,
    )
    return series(
        told,
        Query(_gpus("entitled"), "entitled demand {{pool}}", Colour.PROMISED),
        Query(_gpus("running"), "running {{pool}}", Colour.GOOD),
        Query(_gpus("shortfall"), "lacks {{pool}}", Colour.BAD),
    )


def _quota() -> Any:
    told = Told(
        "Guaranteed, used, borrowed",
        "The guarantee of Git and the floating part as it stands now, against quota held by admitted work, the part of "
        "it beyond both (borrowed), and GPUs that are held and compute nothing.",
        Unit.GPUS,
    )
    return series(
        told,
        Query(_gpus("guarantee"), "guarantee {{pool}}", Colour.PROMISED),
        Query(_gpus("floating"), "floating {{pool}}"),
        Query(_gpus("reserved"), "used {{pool}}", Colour.USED),
        Query(_gpus("borrowed"), "borrowed {{pool}}", Colour.WATCH),
        Query(_gpus("idle_held"), "held idle {{pool}}", Colour.BAD),
        steps_only=True,
    )


def _waits() -> Any:
    told = Told(
        "Oldest wait by queue",
        "Longest wait of any eligible workload of the queue, summed over its evictions.",
        Unit.SECONDS,
    )
    expr = f"max by (cluster, tenant, queue) (trimtab_queue_oldest_pending_seconds{OF_TENANT})"
    return series(told, Query(expr, "{{queue}}"))


def _waiting() -> Any:
    told = Told(
        "Waiting, by name",
        "Workloads that wait. starved: others borrow its quota; short-of-capacity: nobody does; blocked: fits on no "
        "node; broken: would fit; refused: by a quota, before there was a pod; ineligible: not to be served.",
        Unit.COUNT,
    )
    each = f"max by (cluster, tenant, tier, queue, waiting) (trimtab_queue_pending_workloads{OF_TENANT})"
    return series(told, Query(f"sum by (cluster, tenant, waiting) ({each})", "{{waiting}}"), stacked=True)


def _evictions() -> Any:
    told = Told(
        "Evictions",
        "Admitted workloads that lost their quota or a pod to preemption or reclaim, by the queue of the victim.",
        Unit.COUNT,
    )
    each = f"{_BY_QUEUE} (increase(trimtab_workload_evictions_total{OF_TENANT}[$__rate_interval]))"
    return series(told, Query(f"sum by (cluster, tenant, queue) ({each})", "{{queue}}"), steps_only=True)


def _troubled() -> Any:
    told = Told(
        "GPUs in trouble",
        "GPUs of gangs that hang, may hang or wait for one rank, and single GPUs that are sick, lost or throttled; one "
        "may count twice. unjudged: gangs of which a needed signal is missing.",
        Unit.GPUS,
    )
    each = f"max by (cluster, tenant, pool, gpu_trouble) (trimtab_tenant_troubled_gpus{OF_TENANT_POOL})"
    return series(told, Query(f"sum by (cluster, tenant, gpu_trouble) ({each})", "{{gpu_trouble}}"), steps_only=True)


def _devices() -> Any:
    told = Told(
        "Activity of its GPUs",
        "Mean share of time in which its GPUs and slices worked, by node; only of those that it holds alone, from the "
        "series of dcgm-exporter.",
        Unit.RATIO,
    )
    expr = f"max by (cluster, tenant, node) (trimtab:tenant_activity_ratio{OF_TENANT})"
    return series(told, Query(expr, "{{node}}"))


def _power() -> Any:
    told = Told("Power of its GPUs", "Drawn by the whole GPUs that it holds alone.", Unit.WATTS)
    expr = f"sum by (cluster, tenant) (max by (cluster, tenant, node) (trimtab:tenant_power_watts{OF_TENANT}))"
    return series(told, Query(expr, "power"))


def _changed() -> str:
    return f"{_BY_CHANGE} (trimtab_tenant_change_gpus{OF_TENANT_POOL})"


def _changes() -> Any:
    told = Told(
        "GPUs moved by changes",
        "GPUs given and taken by changes in force, at any stage. The shaded times on every panel are the same changes.",
        Unit.GPUS,
    )
    expr = f"sum by (cluster, tenant, pool, direction) ({_changed()})"
    return series(told, Query(expr, "{{direction}} {{pool}}"), steps_only=True)


def _findings() -> Any:
    told = Told(
        "Findings and answers",
        "Each thing that the last tick found wrong, and what came of it: changed, or refused with the guard's code. "
        "`trimtab explain` tells it in sentences.",
        Unit.COUNT,
    )
    query = Query(f"{_FINDING} (trimtab_tenant_finding{OF_TENANT})", "")
    return table(told, query, hidden=("cluster", "tenant", "Value"))


def _decisions() -> Any:
    told = Told(
        "Decisions of the cluster's controller",
        "Decisions for all tenants, by what came of them and by the guard that refused.",
        Unit.COUNT,
    )
    each = f"increase(trimtab_controller_decisions_total{PER_CLUSTER}[$__rate_interval])"
    expr = f"sum by (cluster, outcome, refusal) ({each})"
    return series(told, Query(expr, "{{outcome}} {{refusal}}"), stacked=True)


def _attainment(windows_seconds: Sequence[float]) -> Any:
    told = Told(
        "Attainment against target",
        "Entitled demand served in time, as a share of all entitled demand of the window. A gap: nothing was wanted, "
        "or over 5 % of the window was not seen.",
        Unit.RATIO,
    )
    attained = [
        Query(f"{_BY_POOL} ({attainment(seconds)}{OF_TENANT_POOL})", f"{promql_duration(seconds)} {{{{pool}}}}")
        for seconds in dict.fromkeys((*_RECENT_SECONDS, *windows_seconds))
    ]
    target = Query(f"1 - {_BY_OBJECTIVE} ({BUDGET}{OF_TENANT_POOL})", "target {{objective}} {{pool}}", Colour.PROMISED)
    return series(told, *attained, target)


def _coverage() -> Any:
    told = Told("Seen", "Share of the minutes of each window that were seen. Below 95 %: no verdict.", Unit.RATIO)
    queries = [
        Query(f"{_BY_POOL} ({coverage(seconds)}{OF_TENANT_POOL})", f"{promql_duration(seconds)} {{{{pool}}}}")
        for seconds in _RECENT_SECONDS
    ]
    return series(told, *queries)


def _ages() -> Any:
    told = Told("Age of what is read", "Time since each source was last read well enough to rely on.", Unit.SECONDS)
    last = f"max by (cluster, source) (trimtab_collector_last_success_timestamp_seconds{PER_CLUSTER})"
    return series(told, Query(f"time() - {last}", "{{source}}"))


def _change_annotation() -> dict[str, Any]:
    """Grafana shades the times at which the value is above 0; values can not be shown, labels can."""
    return {
        "name": "Changes",
        "enable": True,
        "iconColor": Colour.USED.value,
        "expr": f"{_changed()} > 0",
        "step": "30s",
        "titleFormat": "Trimtab: GPUs {{direction}}",
        "textFormat": "{{tenant}}, pool {{pool}}: change {{stage}}",
        "tagKeys": "direction,stage",
    }

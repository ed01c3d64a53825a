"""The series that the generated recording rules make. Entries only; the expressions stand in `alerts.rules`."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_TENANT_POOL: Final = ("cluster", "tenant", "pool")
_NOMINAL: Final = "the window in the name is the nominal one; a time scale shortens what it covers, not its name"


_DEVICE: Final = ("cluster", "node", "device", "GPU_I_ID")
_TENANT_NODE: Final = ("cluster", "tenant", "node")
_OF_DEVICES: Final = (
    "only from devices that one container holds alone, and absent where one of them has no such reading"
)
_NEEDS_CLUSTER: Final = "where Prometheus has several clusters, the scrape of dcgm-exporter must name the collector's"


def _entry(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    kind = Kind.INFO if name.endswith("_info") else Kind.GAUGE
    return Metric(name, kind, unit, labels, Source.RECORDED, meaning, traps)


_TENANT_STORAGE: Final = ("cluster", "tenant", "storage")

RECORDED: Final = (
    _entry(
        "trimtab:tenant_storage_read_ratio",
        Unit.RATIO,
        _TENANT_STORAGE,
        "Share of reads in the operations of all volumes of the tenant.",
        "no sample where nothing moves",
    ),
    _entry(
        "trimtab:tenant_storage_merged_ratio",
        Unit.RATIO,
        _TENANT_STORAGE,
        "Share of the requests of the tenant's mapped images that kernels merged with a neighbour: 0.5 and more is "
        "sequential, 0.05 and less random.",
        "no sample without the node role of the collector on the nodes, and for what librbd does",
    ),
    *(
        _entry(
            f"trimtab:tenant_storage_{way}_size_bytes",
            Unit.BYTES,
            _TENANT_STORAGE,
            f"Mean size of a {way}.",
            "large is no proof of sequential: that is told by disk statistics of the node, or not at all",
        )
        for way in ("read", "write")
    ),
    _entry(
        "trimtab:tenant_entitled_gpus:minute",
        Unit.GPUS,
        _TENANT_POOL,
        "Entitled demand of the minute, replicas counted once; present only when the shortfall is known too.",
        "a minute without any reading has no sample: it is blind, not idle",
    ),
    _entry("trimtab:tenant_shortfall_gpus:minute", Unit.GPUS, _TENANT_POOL, "Shortfall of the minute."),
    _entry("trimtab:tenant_demand:minute", Unit.TRUTH, _TENANT_POOL, "Whether the tenant wanted service."),
    _entry(
        "trimtab:tenant_coverage_ratio:<window>",
        Unit.RATIO,
        _TENANT_POOL,
        "Share of the window's minutes that were seen.",
        "a tenant that is younger than the window has low coverage: what was not there was not seen",
        _NOMINAL,
    ),
    _entry(
        "trimtab:tenant_demand_ratio:<window>",
        Unit.RATIO,
        _TENANT_POOL,
        "Share of the minutes seen in which the tenant wanted service.",
        _NOMINAL,
    ),
    _entry(
        "trimtab:tenant_attainment_ratio:<window>",
        Unit.RATIO,
        _TENANT_POOL,
        "Entitled-demand attainment: 1 − Σ shortfall / Σ entitled demand over the window's minutes.",
        "no sample without demand in the window, and none when over 5 % of it is blind: no verdict is not a good one",
        _NOMINAL,
    ),
    _entry(
        "trimtab:tenant_objective_budget_ratio",
        Unit.RATIO,
        (*_TENANT_POOL, "objective", "window"),
        "Error budget of the objective: 1 − target.",
        "for a site whose documents were not given to the generator: 0.01 for every tenant and pool seen",
    ),
    _entry(
        "trimtab:scraped_cluster_info",
        Unit.TRUTH,
        ("cluster", "named"),
        "The name of each cluster as scrapes give it; an empty one too where there is but one cluster.",
    ),
    _entry(
        "trimtab:device_holder_info",
        Unit.TRUTH,
        (*_DEVICE, "namespace", "pod", "container", "replica"),
        "Which container holds a GPU or slice, whatever exporter tells it and however it spells its labels.",
    ),
    _entry(
        "trimtab:device_tenant_info",
        Unit.TRUTH,
        (*_DEVICE, "tenant", "attribution"),
        "Which tenant holds a GPU or slice; what belongs to none is `unassigned`.",
        "a shared device has a series for each of its tenants: do not sum what it does",
        _NEEDS_CLUSTER,
    ),
    _entry(
        "trimtab:device_activity_ratio",
        Unit.RATIO,
        _DEVICE,
        "Share of time in which the engine worked; where that is not exported, mean share of busy multiprocessors.",
        "never made of GPU_UTIL, which is no load",
    ),
    _entry(
        "trimtab:device_memory_used_bytes",
        Unit.BYTES,
        _DEVICE,
        "Memory in use.",
        "absent where series of one scrape disagree",
    ),
    _entry("trimtab:device_power_watts", Unit.WATTS, _DEVICE, "Power drawn.", "of whole GPUs alone, never of a slice"),
    _entry(
        "trimtab:tenant_devices",
        Unit.DEVICES,
        (*_TENANT_NODE, "attribution"),
        "GPUs and slices that pods of the tenant hold.",
        "shared ones count once for each tenant that has a part",
        _NEEDS_CLUSTER,
    ),
    _entry(
        "trimtab:tenant_activity_ratio",
        Unit.RATIO,
        _TENANT_NODE,
        "Mean activity of the tenant's devices.",
        _OF_DEVICES,
    ),
    _entry(
        "trimtab:tenant_memory_used_bytes",
        Unit.BYTES,
        _TENANT_NODE,
        "Memory in use on the tenant's devices.",
        _OF_DEVICES,
    ),
    _entry("trimtab:tenant_power_watts", Unit.WATTS, _TENANT_NODE, "Power of the tenant's GPUs.", _OF_DEVICES),
)

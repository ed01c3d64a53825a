"""A small cluster as the exporter sees it, and how to read what it says about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.core import Metric as Family

from collector.assemble.clocks import WaitClocks
from collector.assemble.idle_held import GpuUse
from collector.exporter.families import Published, cluster_families
from collector.model.gangs import Scheduler, ShareQueue
from collector.model.reading import Known, Unknown
from collector.model.snapshot import NodeState, PoolState, Snapshot, TenantPool, WaitingName, Work, WorkPhase
from collector.model.strays import Bystanders, OffPool, Strays, StuckPod
from collector.model.tenancy import Engine, Entitlement, Pool, Site, SizeClass, Tenant, Tier

NOW = 1_700_000_000.0
POOL = Pool("h100", "nvidia.com/gpu", {}, Engine.KUEUE, flavor="h100")
SITE = Site(
    "c1",
    pools=(POOL,),
    tiers=(Tier("critical", 100, {SizeClass.SINGLE_NODE: 300.0}),),
    tenants=(Tenant("vision", "critical", entitlements=(Entitlement("h100", 16, floating=8),)),),
)
GPU = "nvidia.com/gpu"
SHARES = ShareQueue(
    Scheduler.VOLCANO,
    "research",
    "root",
    guaranteed={GPU: 4},
    deserved={GPU: 8},
    ceiling={GPU: 16},
    allocated={GPU: 12},
)
QUEUE = ("vision", "critical", "vision-train/vision")


def work(name: str, phase: WorkPhase = WorkPhase.WAITING, waited_seconds: float = 0.0, **more: object) -> Work:
    """A gang of one pod with eight GPUs."""
    fields: dict[str, object] = {
        "key": name,
        "uid": name,
        "kind": "Job",
        "namespace": "vision-train",
        "name": name,
        "tenant": "vision",
        "tier": "critical",
        "pool": "h100",
        "queue": "vision",
        "priority": 0,
        "pods": 1,
        "gpus_per_pod": 8,
        "gpus": 8,
        "size": SizeClass.SINGLE_NODE,
        "phase": phase,
        "created_at": NOW - waited_seconds,
        "waited_seconds": waited_seconds,
        "waiting": WaitingName.STARVED if phase is WorkPhase.WAITING else None,
    }
    return Work(**(fields | more))  # type: ignore[arg-type]  # a test's shorthand


def tenant_pool(**more: object) -> TenantPool:
    """The tenant vision: 16 guaranteed, 8 floating, 24 running, 8 overdue."""
    fields: dict[str, object] = {
        "tenant": "vision",
        "tier": "critical",
        "pool": "h100",
        "entitlement": Entitlement("h100", 16, floating=8, burst=32),
        "floating_now": Known(4, 1.0),
        "reserved": 24,
        "running": 24,
        "waiting": 8,
        "overdue": 8,
        "idle_held": Known(2.0),
    }
    return TenantPool(**(fields | more))  # type: ignore[arg-type]  # a test's shorthand


def snapshot(works: Iterable[Work] = (), tenants: Iterable[TenantPool] = (tenant_pool(),)) -> Snapshot:
    nodes = (NodeState("n1", 8, 8, withdrawn=1), NodeState("n2", 8, 3), NodeState("n3", 8, 0, unusable="cordoned"))
    return Snapshot(
        taken_at=NOW,
        site=SITE,
        pools={"h100": PoolState(POOL, nodes, Unknown("no quota read"))},
        tenants=tuple(tenants),
        works=tuple(works),
        namespace_tenants={"vision-train": "vision", "kube-system": "unassigned"},
        strays=Strays(
            stuck=(
                StuckPod("vision-train", "old-0", "vision", "h100", "n1", 2, 900.0),
                StuckPod("vision-train", "old-1", "vision", "h100", "n1", 1, 700.0),
            ),
            off_pool=(OffPool("nlp", "h100", 4),),
            bystanders=(Bystanders("unassigned", "h100", pods=5, nodes=2),),
        ),
        share_queues=(SHARES,),
    )


def published(taken: Snapshot | None = None, **more: object) -> Published:
    clocks = WaitClocks(wait_seconds_total={QUEUE: 1234.5}, evictions_total={QUEUE: 3})
    fields: dict[str, object] = {
        "cluster": "c1",
        "snapshot": taken or snapshot([work("a", waited_seconds=700.0), work("b", waited_seconds=60.0)]),
        "clocks": clocks,
        "queues": frozenset({QUEUE}),
        "uses": {("vision", "h100"): GpuUse(held=11, idle=2, unknown=1, sick=1)},
    }
    return Published(**(fields | more))  # type: ignore[arg-type]  # a test's shorthand


Samples = Mapping[str, Mapping[tuple[str, ...], float]]


def samples(families: Iterable[Family]) -> Samples:
    """Series name → label values in the order of label names in the family → value. Families without samples too."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in families:
        found.setdefault(family.name, {})
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return {name: rows for name, rows in found.items() if rows}


def scraped(shown: Published, now: float = NOW, stale_after_seconds: float = 90.0) -> Samples:
    """What a scrape at `now` would say about the cluster."""
    return samples(cluster_families(shown, now, stale_after_seconds))

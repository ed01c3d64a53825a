"""How long one decision takes on a large cluster: 10 000 workloads of 200 tenants on 1 250 nodes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import Final

from collector.model.reading import Known
from collector.model.snapshot import NodeState, PoolState, Snapshot, TenantPool, WaitingName, Work, WorkPhase
from collector.model.tenancy import Engine, Entitlement, Members, Pool, Site, SizeClass, Tenant, Tier
from controller.api.policy import Mode, Policy
from controller.policy.engine import decide
from controller.policy.ledger import Ledger
from controller.policy.targets import Target

MEASURES: Final = {"decide_seconds": "s", "decide_all_starved_seconds": "s"}
TENANTS, WORKS, NODES, ROUNDS = 200, 10_000, 1_250, 5
POOL: Final = Pool("h100", "nvidia.com/gpu", {}, Engine.KUEUE, flavor="h100")
NOW: Final = 1_750_000_000.0
ENFORCE: Final = Policy(mode=Mode.ENFORCE)


def measure() -> Mapping[str, float]:
    """Seconds of this process for one tick's decision, the median of some: with five tenants starved, and with all."""
    return {"decide_seconds": _seconds(starved=5), "decide_all_starved_seconds": _seconds(starved=TENANTS)}


def _seconds(starved: int) -> float:
    snapshot, targets, ledger = crowded(starved), _targets(), Ledger()
    spent: list[float] = []
    for number in range(ROUNDS):
        begin = time.process_time()  # the machine is shared: waiting for a core is not deciding
        look = replace(snapshot, taken_at=NOW + 30.0 * number)
        ledger = decide(look, ENFORCE, Mode.ENFORCE, ledger, targets).ledger
        spent.append(time.process_time() - begin)
    return median(spent)


def crowded(starved: int) -> Snapshot:
    """Six in ten workloads run; those of the first so many tenants that wait are late."""
    names = [f"tenant-{number:03}" for number in range(TENANTS)]
    entitlement = Entitlement("h100", 32, 16, burst=96)
    tenants = tuple(Tenant(name, "standard", Members(frozenset({name})), (entitlement,)) for name in names)
    states = tuple(_state(name, entitlement, late=number < starved) for number, name in enumerate(names))
    nodes = tuple(NodeState(f"node-{number}", 8, 5) for number in range(NODES))
    tier = Tier("standard", 50, {SizeClass.SINGLE_NODE: 900.0})
    return Snapshot(
        NOW,
        Site("large", (POOL,), (tier,), tenants),
        {"h100": PoolState(POOL, nodes, Known(8 * NODES), 6 * WORKS // 10)},
        states,
        tuple(_work(number, names) for number in range(WORKS)),
    )


def _state(name: str, entitlement: Entitlement, *, late: bool) -> TenantPool:
    overdue = 20 if late else 0
    state = TenantPool(name, "standard", "h100", entitlement, Known(16), reserved=40, running=30)
    return replace(state, waiting=20, queued=20, overdue=overdue)


def _work(number: int, names: list[str]) -> Work:
    tenant, runs = names[number % TENANTS], number // TENANTS % 10 < 6
    return Work(
        key=f"work-{number}",
        uid=f"uid-{number}",
        kind="Job",
        namespace=tenant,
        name=f"job-{number}",
        tenant=tenant,
        tier="standard",
        pool="h100",
        queue="gpus",
        priority=0,
        pods=1,
        gpus_per_pod=1,
        gpus=1,
        size=SizeClass.SINGLE_NODE,
        phase=WorkPhase.RUNNING if runs else WorkPhase.WAITING,
        created_at=NOW - 7200.0 - number,
        waited_seconds=0.0 if runs else 1000.0,
        limit_seconds=900.0,
        waiting=None if runs else WaitingName.STARVED,
        evictions_by={names[(number + 1) % TENANTS]: 1} if number % 9 == 0 else {},
        admitted_at=NOW - 3600.0 if runs else None,
        ready_at=NOW - 3600.0 if runs else None,
        nodes={f"node-{number % NODES}": 1} if runs else {},
    )


def _targets() -> tuple[Target, ...]:
    own = (
        Target(f"trimtab-tenant-{number:03}", "h100", f"tenant-{number:03}", 16, Known(16)) for number in range(TENANTS)
    )
    return (*own, Target("trimtab-shared", "h100", None, 400, Known(400)))

"""Faults that make jobs slow and are no matter of scheduling: storage, network, a bad GPU, a hang. Values. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from controller.simulate.gang import Gang
from controller.simulate.placement import Nodes


@dataclass(frozen=True, slots=True)
class StorageFault:
    """The storage behind a tenant's images is slow: its jobs run at `speed` (1 is full speed)."""

    tenant: str
    speed: float


@dataclass(frozen=True, slots=True)
class NetworkNoise:
    """RDMA between nodes is slow: gangs that span nodes run at `speed`."""

    speed: float


@dataclass(frozen=True, slots=True)
class SickGpu:
    """One GPU is sick: the gang that holds it runs at `speed`. `xid` is what its driver reports."""

    node: str
    index: int
    speed: float
    xid: int = 79


@dataclass(frozen=True, slots=True)
class HungGang:
    """A gang whose ranks wait for each other for ever: it holds its GPUs and gets nowhere."""

    tenant: str
    job: str


Fault: TypeAlias = StorageFault | NetworkNoise | SickGpu | HungGang


def factor(fault: Fault, gang: Gang, nodes: Nodes) -> float:
    """What the fault leaves of the gang's speed."""
    pods = [gang.pod_key(pod) for pod in gang.pod_names]
    match fault:
        case StorageFault(tenant=tenant, speed=speed):
            return speed if gang.spec.tenant == tenant else 1.0
        case NetworkNoise(speed=speed):
            return speed if len({nodes.node_of(pod) for pod in pods}) > 1 else 1.0
        case SickGpu(node=node, index=index, speed=speed):
            return speed if nodes.slots[node][index] in pods else 1.0
        case HungGang(tenant=tenant, job=job):
            return 0.0 if (gang.spec.tenant, gang.spec.name) == (tenant, job) else 1.0

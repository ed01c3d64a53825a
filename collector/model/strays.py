"""Pods that stand where they should not, or that do not go away. Pure values; amounts are GPUs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StuckPod:
    """A pod that was deleted, whose grace period is over, and that still holds GPUs."""

    namespace: str
    name: str
    tenant: str
    pool: str
    node: str
    gpus: int
    stuck_seconds: float
    """Since the end of its grace period."""


@dataclass(frozen=True, slots=True)
class OffPool:
    """GPUs that a tenant's pods hold in a pool in which nothing was agreed with it."""

    tenant: str
    pool: str
    gpus: int


@dataclass(frozen=True, slots=True)
class Bystanders:
    """Pods without GPUs, of one tenant, on the nodes of a pool: they take CPU and memory from those that need them."""

    tenant: str
    pool: str
    pods: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Strays:
    """All of them at one moment, each in a total order."""

    stuck: tuple[StuckPod, ...] = ()
    """The longest first."""
    off_pool: tuple[OffPool, ...] = ()
    bystanders: tuple[Bystanders, ...] = ()

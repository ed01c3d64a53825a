"""Which pod has which RDMA device of a node, where the device plugin allows to know it. Pure.

A plugin that hands out a device by its PCI address names it; one that hands out shares of all devices names none: its
pods hold RDMA, and nobody can say which device. Both are counted, so that the unknown share is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

_RDMA: Final = re.compile(r"rdma|hca|roce|infiniband", re.IGNORECASE)


class Held(Protocol):
    """One device in the hands of one container, as the kubelet tells it."""

    @property
    def device(self) -> str:
        """As the device plugin calls it."""
        ...

    @property
    def resource(self) -> str:
        """The extended resource."""
        ...

    @property
    def namespace(self) -> str:
        """Of the pod."""
        ...

    @property
    def pod(self) -> str:
        """Its name."""
        ...


@dataclass(frozen=True, slots=True)
class RdmaHolders:
    """Devices of a node that pods hold."""

    named: tuple[tuple[str, str, str], ...] = ()
    """(device, namespace, pod), each once."""
    unnamed: int = 0
    """Held, and nobody can say which device it is."""


def rdma_holders(held: Iterable[Held], addresses: Mapping[str, str]) -> RdmaHolders:
    """Who has which. `addresses`: PCI address → RDMA device."""
    named: set[tuple[str, str, str]] = set()
    unnamed: set[tuple[str, str]] = set()
    for one in held:
        device = addresses.get(one.device)
        if device is not None:
            named.add((device, one.namespace, one.pod))
        elif _RDMA.search(one.resource):
            unnamed.add((one.resource, one.device))
    return RdmaHolders(tuple(sorted(named)), len(unnamed))

"""Quota in a tree of Cohorts as Kueue counts it: what a queue may still use, who borrows, how high up. Pure.

Each node keeps to itself what its lending limit does not let out (its local quota); usage beyond that is passed on to
its parent. One flavor of one resource, in GPUs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuotaNode:
    """A ClusterQueue or a Cohort with its own quota."""

    name: str
    parent: str | None
    nominal: int = 0
    lending_limit: int | None = None
    """How much of its subtree's quota others may use (None: all)."""
    borrowing_limit: int | None = None
    """How much more than its subtree's quota it may use (None: no limit)."""
    is_queue: bool = False
    """Whether work is handed in here; otherwise it is a Cohort."""


class QuotaTree:
    """The tree with what is in use. Nodes may be replaced at any time; usage stays and nobody is evicted by it."""

    def __init__(self, nodes: Iterable[QuotaNode]) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._held: dict[str, int] = {}
        """Queue → GPUs of admitted work."""
        self._children: dict[str, list[str]] = {}
        self._heights: dict[str, int] = {}
        self._subtree: dict[str, int] = {}
        self._usage: dict[str, int] = {}
        self._count()

    @property
    def nodes(self) -> Mapping[str, QuotaNode]:
        """All nodes by name."""
        return self._nodes

    def replace(self, node: QuotaNode) -> None:
        """Put a node in the place of the one with its name, or add it."""
        self._nodes[node.name] = node
        self._count()

    def hold(self, queue: str, gpus: int) -> None:
        """Count admitted work of a queue; a negative number takes it away."""
        self._held[queue] = self._held.get(queue, 0) + gpus
        if self._held[queue] < 0:
            raise ValueError(f"{queue} would hold {self._held[queue]} GPUs")
        self._add(queue, gpus)

    def held(self, queue: str) -> int:
        """GPUs of the queue's admitted work."""
        return self._held.get(queue, 0)

    def usage(self, name: str) -> int:
        """What stands on this node: its own, and what its children could not keep to themselves."""
        return self._usage[name]

    def quota(self, name: str) -> int:
        """All quota of the node and what its children let out."""
        return self._subtree[name]

    def available(self, name: str) -> int:
        """GPUs that could be used from here on; may be negative where quota was lowered."""
        parent = self._parent(name)
        if parent is None:
            return self._subtree[name] - self._usage[name]
        from_above, limit = self.available(parent), self._nodes[name].borrowing_limit
        if limit is not None:
            let_out, local = self._subtree[name] - self._local(name), self._local(name)
            from_above = min(from_above, let_out - max(0, self._usage[name] - local) + limit)
        return self.kept_free(name) + from_above

    def most(self, name: str) -> int:
        """GPUs that could be used from here on if nobody used any."""
        parent = self._parent(name)
        if parent is None:
            return self._subtree[name]
        most, limit = self._local(name) + self.most(parent), self._nodes[name].borrowing_limit
        return most if limit is None else min(most, self._subtree[name] + limit)

    def is_borrowing(self, name: str, more: int = 0) -> bool:
        """Whether the node uses more than its subtree's quota, with `more` GPUs added."""
        return self._usage[name] + more > self._subtree[name]

    def path(self, name: str) -> Iterator[str]:
        """The node and all above it."""
        step: str | None = name
        while step is not None and step in self._nodes:
            yield step
            step = self._nodes[step].parent

    def children(self, name: str) -> Sequence[str]:
        """Queues and Cohorts directly under a Cohort."""
        return self._children.get(name, ())

    def smallest_cover(self, queue: str, gpus: int) -> str | None:
        """The lowest node from the queue up whose quota would cover `gpus` more; None: not even all of it."""
        remaining = gpus
        for name in self.path(queue):
            if not self.is_borrowing(name, remaining):
                return name
            remaining -= self.kept_free(name)
        return None

    def borrowing_height(self, queue: str, gpus: int) -> int:
        """How tall the smallest subtree is whose quota would cover `gpus` more; 0: the queue itself.

        Where none would, that of the whole tree.
        """
        cover = self.smallest_cover(queue, gpus)
        return self._heights[list(self.path(queue))[-1] if cover is None else cover]

    def kept_free(self, name: str) -> int:
        """Local quota of the node that nobody uses."""
        return max(0, self._local(name) - self._usage[name])

    def _parent(self, name: str) -> str | None:
        parent = self._nodes[name].parent
        return parent if parent in self._nodes else None

    def _local(self, name: str) -> int:
        """Quota that is not let out."""
        limit = self._nodes[name].lending_limit
        return 0 if limit is None else max(0, self._subtree[name] - limit)

    def _add(self, name: str, gpus: int) -> None:
        parent = self._parent(name)
        beyond_before = max(0, self._usage[name] - self._local(name))
        self._usage[name] += gpus
        passed_on = max(0, self._usage[name] - self._local(name)) - beyond_before
        if passed_on and parent is not None:
            self._add(parent, passed_on)

    def _count(self) -> None:
        """Everything anew, from the leaves up."""
        self._subtree = {name: node.nominal for name, node in self._nodes.items()}
        self._heights, self._children = dict.fromkeys(self._nodes, 0), {}
        for name in self._leaves_first():
            parent = self._parent(name)
            if parent is not None:
                self._subtree[parent] += self._subtree[name] - self._local(name)
                self._heights[parent] = max(self._heights[parent], self._heights[name] + 1)
                self._children.setdefault(parent, []).append(name)
        self._usage = dict.fromkeys(self._nodes, 0)
        for queue, gpus in self._held.items():
            self._add(queue, gpus)

    def _leaves_first(self) -> list[str]:
        return sorted(self._nodes, key=lambda name: (-sum(1 for _ in self.path(name)), name))

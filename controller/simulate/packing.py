"""Equal nodes and how gangs are packed onto them: whole nodes first, the rest on the fullest node that takes it. Pure.

For simulations of whole traces: nodes are numbers and nobody asks which GPU of a node it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Held: TypeAlias = tuple[tuple[int, int], ...]
"""(node, GPUs on it) for each node that a gang uses."""


class Packing:
    """Free GPUs of equal nodes, kept by how many are free, so that the best node is found without a search."""

    def __init__(self, nodes: int, gpus_per_node: int) -> None:
        self._size = gpus_per_node
        self._free = [gpus_per_node] * nodes
        # Dictionaries keep their order, so equal runs choose equal nodes.
        self._with_free: list[dict[int, None]] = [{} for _ in range(gpus_per_node + 1)]
        self._with_free[gpus_per_node] = dict.fromkeys(range(nodes))

    @property
    def free(self) -> Sequence[int]:
        """Free GPUs by node."""
        return self._free

    def fits(self, gpus: int) -> bool:
        """Whether such a gang finds its nodes now."""
        whole, rest = divmod(gpus, self._size)
        empty = len(self._with_free[self._size])
        if whole > empty:
            return False
        if not rest or whole < empty:
            return True
        return any(self._with_free[free] for free in range(rest, self._size))

    def take(self, gpus: int) -> Held:
        """Give a gang its nodes. Raises ValueError when it does not fit."""
        if not self.fits(gpus):
            raise ValueError(f"no room for {gpus} GPUs")
        whole, rest = divmod(gpus, self._size)
        empty = self._with_free[self._size]
        chosen = [(node, self._size) for node, _ in zip(empty, range(whole), strict=False)]
        self.hold(chosen)
        if rest:
            fullest = next(nodes for nodes in self._with_free[rest:] if nodes)
            last = (next(iter(fullest)), rest)
            self.hold((last,))
            chosen.append(last)
        return tuple(chosen)

    def hold(self, held: Sequence[tuple[int, int]]) -> None:
        """Take exactly these GPUs, which have to be free."""
        for node, gpus in held:
            self._move(node, self._free[node] - gpus)

    def give(self, held: Sequence[tuple[int, int]]) -> None:
        """Take them back."""
        for node, gpus in held:
            self._move(node, self._free[node] + gpus)

    def _move(self, node: int, free: int) -> None:
        del self._with_free[self._free[node]][node]
        self._free[node] = free
        self._with_free[free][node] = None

"""Which pod holds which GPU of which node. A pod takes all its GPUs on one node, the fullest that can take it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class Nodes:
    """The GPUs of all nodes, each free or held by one pod."""

    def __init__(self, names: Iterable[str], gpus_per_node: int) -> None:
        self._slots: dict[str, list[str | None]] = {name: [None] * gpus_per_node for name in names}
        self._node_of: dict[str, str] = {}

    @property
    def slots(self) -> Mapping[str, Sequence[str | None]]:
        """Node → the holder of each of its GPUs, by index."""
        return self._slots

    def node_of(self, pod: str) -> str | None:
        """Where a pod is bound."""
        return self._node_of.get(pod)

    def free(self, node: str) -> int:
        """GPUs that nobody holds there."""
        return self._slots[node].count(None)

    def bind(self, pod: str, gpus: int) -> bool:
        """Give a pod its GPUs; False when no node has so many free."""
        if pod in self._node_of:
            raise ValueError(f"{pod} is bound to {self._node_of[pod]} already")
        fitting = [(self.free(name), name) for name in self._slots if self.free(name) >= gpus]
        if not fitting:
            return False
        _, node = min(fitting)
        slots = self._slots[node]
        for index in [index for index, holder in enumerate(slots) if holder is None][:gpus]:
            slots[index] = pod
        self._node_of[pod] = node
        return True

    def release(self, pod: str) -> None:
        """Take the pod's GPUs back; nothing happens for one that has none."""
        node = self._node_of.pop(pod, None)
        if node is not None:
            self._slots[node] = [None if holder == pod else holder for holder in self._slots[node]]

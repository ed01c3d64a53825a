"""Room on a plain cluster for two classes of work: counted GPUs, or nodes; who makes way for normal work. Pure.

On nodes each pod of a gang goes where the fewest gangs, and of these the youngest, make way, as kube-scheduler chooses;
on one node the oldest are spared first. A gang of whose pods one makes way makes way as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from controller.simulate.packing import Held, Packing


class Counted:
    """So many GPUs."""

    def __init__(self, gpus: int) -> None:
        self._free = gpus
        self._held: dict[int, int] = {}
        self._extra: dict[int, int] = {}
        """Extra work: row → GPUs, the oldest first."""
        self._extra_gpus = 0

    def fits(self, gpus: int) -> bool:
        """Whether a gang finds room now."""
        return gpus <= self._free

    def fits_by_force(self, gpus: int) -> bool:
        """Whether it would if all extra work made way."""
        return gpus <= self._free + self._extra_gpus

    def forced(self, gpus: int, began: Mapping[int, float]) -> tuple[Sequence[int], Held]:
        """Who makes way for a gang that fits by force: the newest, but nobody whose GPUs are not needed. No nodes."""
        del began  # they are in order
        missing, chosen = gpus - self._free, list[int]()
        for row in reversed(self._extra):
            if missing <= 0:
                break
            chosen.append(row)
            missing -= self._extra[row]
        for row in reversed(chosen[:-1]):
            if missing + self._extra[row] <= 0:
                missing += self._extra[row]
                chosen.remove(row)
        return chosen, ()

    def take(self, row: int, gpus: int, held: Held, *, extra: bool) -> None:
        """It takes its GPUs."""
        del held
        self._free -= gpus
        self._held[row] = gpus
        if extra:
            self._extra[row] = gpus
            self._extra_gpus += gpus

    def give(self, row: int) -> None:
        """It gives them back."""
        self._free += self._held.pop(row)
        self._extra_gpus -= self._extra.pop(row, 0)

    def places(self, row: int) -> Held:
        """Nobody asked for nodes."""
        del row
        return ()


class OnNodes:
    """Equal nodes."""

    def __init__(self, nodes: int, gpus_per_node: int) -> None:
        self._size = gpus_per_node
        self._all, self._firm = Packing(nodes, gpus_per_node), Packing(nodes, gpus_per_node)
        """With all work, and with normal work alone."""
        self._held: dict[int, Held] = {}
        self._extra: list[dict[int, int]] = [{} for _ in range(nodes)]
        """Node → extra work there: row → GPUs."""

    def fits(self, gpus: int) -> bool:
        """Whether a gang finds its nodes now."""
        return self._all.fits(gpus)

    def fits_by_force(self, gpus: int) -> bool:
        """Whether it would if all extra work made way."""
        return self._firm.fits(gpus)

    def forced(self, gpus: int, began: Mapping[int, float]) -> tuple[Sequence[int], Held]:
        """Who makes way for a gang that fits by force, and the nodes that it takes."""
        whole, rest = divmod(gpus, self._size)
        gone: dict[int, None] = {}
        held: list[tuple[int, int]] = []
        for need in [self._size] * whole + ([rest] if rest else []):
            taken = {node for node, _ in held}
            node, victims = self._best(need, taken, gone, began)
            gone.update(dict.fromkeys(victims))
            held.append((node, need))
        return tuple(gone), tuple(held)

    def _best(
        self, need: int, taken: set[int], gone: Mapping[int, None], began: Mapping[int, float]
    ) -> tuple[int, Sequence[int]]:
        best: tuple[tuple[int, float, int, int], Sequence[int]] | None = None
        for node, firm in enumerate(self._firm.free):
            if firm < need or node in taken:
                continue
            victims = self._victims(node, need, gone, began)
            youth = -min((began[row] for row in victims), default=inf)
            key = (len(victims), youth, firm, node)
            if best is None or key < best[0]:
                best = key, victims
        if best is None:
            raise ValueError(f"no node for {need} GPUs, even by force")
        return best[0][3], best[1]

    def _victims(self, node: int, need: int, gone: Mapping[int, None], began: Mapping[int, float]) -> Sequence[int]:
        spare = self._firm.free[node] - need
        victims: list[int] = []
        there = self._extra[node]
        for row in sorted((row for row in there if row not in gone), key=lambda row: (began[row], row)):
            if there[row] <= spare:
                spare -= there[row]
            else:
                victims.append(row)
        return victims

    def take(self, row: int, gpus: int, held: Held, *, extra: bool) -> None:
        """It takes its nodes: those it was promised, or the best that are free."""
        if held:
            self._all.hold(held)
        else:
            held = self._all.take(gpus)
        self._held[row] = held
        if not extra:
            self._firm.hold(held)
            return
        for node, part in held:
            self._extra[node][row] = part

    def give(self, row: int) -> None:
        """It gives them back."""
        held = self._held.pop(row)
        self._all.give(held)
        if row not in self._extra[held[0][0]]:
            self._firm.give(held)
            return
        for node, _ in held:
            del self._extra[node][row]

    def places(self, row: int) -> Held:
        """The nodes of a job that runs."""
        return self._held.get(row, ())

    @property
    def free(self) -> Sequence[int]:
        """Free GPUs by node."""
        return self._all.free

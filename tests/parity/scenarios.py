"""Random small scenarios from a seed: a tree of quota, and work that comes and goes one by one. Plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from controller.simulate.chance import Chance
from controller.simulate.quota import QuotaNode

STEPS = 12


@dataclass(frozen=True)
class Arrival:
    """Work is handed in to a queue."""

    name: str
    queue: str
    pods: int
    gpus_per_pod: int
    priority: int


@dataclass(frozen=True)
class End:
    """Work is over, wherever it stands."""

    name: str


@dataclass(frozen=True)
class Scenario:
    """All names begin with the scenario's own, so that many can stand in one cluster."""

    name: str
    nodes: tuple[QuotaNode, ...]
    steps: tuple[Arrival | End, ...]

    @property
    def queues(self) -> tuple[QuotaNode, ...]:
        """The nodes that work is handed in to."""
        return tuple(node for node in self.nodes if node.is_queue)


def scenario(seed: int) -> Scenario:
    """The scenario of a seed: Trimtab's own layout, flat queues with limits, or Cohorts several levels deep."""
    chance, name = Chance(seed).apart("parity"), f"parity-{seed}"
    shape = (_trimtab, _flat, _deep)[seed % 3]
    nodes = tuple(shape(name, chance.apart("tree")))
    queues = [node.name for node in nodes if node.is_queue]
    return Scenario(name, nodes, tuple(_steps(name, queues, chance.apart("work"))))


def _trimtab(root: str, chance: Chance) -> Iterator[QuotaNode]:
    """Per tenant a Cohort with a floor, a queue without quota and a leaf; beside them what all may borrow."""
    yield QuotaNode(root, None)
    for number in range(_whole(chance, 2, 4)):
        cohort, floor = f"{root}-tenant{number}", _whole(chance, 0, 8)
        yield QuotaNode(cohort, root, floor, lending_limit=floor)
        yield QuotaNode(f"{root}-queue{number}", cohort, is_queue=True)
        yield QuotaNode(f"{root}-leaf{number}", cohort, _whole(chance, 0, 6))
    yield QuotaNode(f"{root}-shared", root, _whole(chance, 0, 8))


def _flat(root: str, chance: Chance) -> Iterator[QuotaNode]:
    """Queues with quota of their own, some of it not lent, some not allowed to borrow much."""
    yield QuotaNode(root, None, _whole(chance, 0, 4))
    for number in range(_whole(chance, 2, 4)):
        yield _limited(chance, f"{root}-queue{number}", root, _whole(chance, 0, 8), is_queue=True)


def _deep(root: str, chance: Chance) -> Iterator[QuotaNode]:
    """Departments, some with groups in them, and queues on each level."""
    yield QuotaNode(root, None, _whole(chance, 0, 4))
    for number in range(2):
        department = f"{root}-department{number}"
        yield _limited(chance, department, root, _whole(chance, 0, 6))
        for place in range(_whole(chance, 1, 2)):
            group = department
            if chance.uniform() < 0.5:
                group = f"{root}-group{number}{place}"
                yield _limited(chance, group, department, _whole(chance, 0, 4))
            yield _limited(chance, f"{root}-queue{number}{place}", group, _whole(chance, 0, 6), is_queue=True)


def _limited(chance: Chance, name: str, parent: str, nominal: int, is_queue: bool = False) -> QuotaNode:
    lends = _whole(chance, 0, nominal) if chance.uniform() < 0.4 else None
    borrows = _whole(chance, 0, 8) if chance.uniform() < 0.3 else None
    return QuotaNode(name, parent, nominal, lends, borrows, is_queue)


def _steps(root: str, queues: list[str], chance: Chance) -> Iterator[Arrival | End]:
    there: list[str] = []
    for number in range(STEPS):
        if there and number > 3 and chance.uniform() < 0.3:
            yield End(there.pop(_whole(chance, 0, len(there) - 1)))
            continue
        name, queue = f"{root}-work{number}", queues[_whole(chance, 0, len(queues) - 1)]
        pods = chance.pick(((1, 3.0), (2, 1.0)))
        gpus = _whole(chance, 1, 8 if pods == 1 else 4)
        there.append(name)
        yield Arrival(name, queue, pods, gpus, chance.pick(((0, 2.0), (5, 1.0), (10, 1.0))))


def _whole(chance: Chance, low: int, high: int) -> int:
    return low + int(chance.uniform() * (high - low + 1))

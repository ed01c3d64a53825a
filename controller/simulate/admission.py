"""One scheduling cycle as Kueue runs it: a head per queue, not borrowing first, then priority, then time; preemption.

A head that does not fit may reclaim: only with hierarchical advantage, which is when some Cohort above it would cover
the request with its own quota. Victims are gangs of queues that borrow: lowest priority first, then newest admission;
afterwards those that turn out not to be needed are spared, last chosen first. Decides; changes nothing for good. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from controller.simulate.gang import Gang
from controller.simulate.quota import QuotaTree

Name = TypeVar("Name", int, str)


@dataclass(frozen=True, slots=True)
class Admit:
    """The gang gets its quota."""

    gang: Gang


@dataclass(frozen=True, slots=True)
class Preempt:
    """Gangs lose their quota for another one, which is served in a later cycle."""

    gang: Gang
    victims: tuple[Gang, ...]


def queue_order(gangs: Iterable[Gang]) -> list[Gang]:
    """As a queue serves its work: priority, then age in whole seconds as the API keeps it, then uid."""
    return sorted(gangs, key=lambda gang: (-gang.spec.priority, math.floor(gang.created_at), gang.uid))


def cycle(
    tree: QuotaTree, waiting: Mapping[str, Sequence[Gang]], admitted: Sequence[Gang]
) -> Sequence[Admit | Preempt]:
    """What one cycle does. `waiting`: queue → its gangs in their order.

    BestEffortFIFO: the head is the first gang that fits or can make room; those before it are passed over. Empty: no
    gang can start now.
    """
    heads = [head for queue in sorted(waiting) if (head := _head(tree, waiting[queue], admitted)) is not None]
    for gang, victims in sorted(heads, key=lambda head: _entry_order(tree, head[0])):
        # Only the first is carried out: the others are looked at again in what it leaves behind.
        return (Preempt(gang, victims),) if victims else (Admit(gang),)
    return ()


def _entry_order(tree: QuotaTree, gang: Gang) -> tuple[int, int, int, str]:
    height = tree.borrowing_height(gang.spec.tenant, gang.spec.gpus)
    return (height, -gang.spec.priority, math.floor(gang.created_at), gang.uid)


def _head(tree: QuotaTree, gangs: Sequence[Gang], admitted: Sequence[Gang]) -> tuple[Gang, tuple[Gang, ...]] | None:
    refused: set[tuple[int, int]] = set()
    for gang in gangs:
        shape = (gang.spec.gpus, gang.spec.priority)
        if shape in refused:
            continue  # what stopped the one before it stops this one
        if tree.available(gang.spec.tenant) >= gang.spec.gpus:
            return gang, ()
        victims = victims_for(tree, gang, admitted)
        if victims:
            return gang, victims
        refused.add(shape)
    return None


def victims_for(tree: QuotaTree, gang: Gang, admitted: Sequence[Gang]) -> tuple[Gang, ...]:
    """Whom the gang would evict; empty when nothing can be done for it."""
    queue, chosen = gang.spec.tenant, list[Gang]()
    try:
        for candidate in _candidates(tree, gang, admitted):
            if candidate.spec.tenant != queue and not _may_be_reclaimed(tree, candidate, queue):
                continue
            tree.hold(candidate.spec.tenant, -candidate.spec.gpus)
            chosen.append(candidate)
            if tree.available(queue) >= gang.spec.gpus:
                return _without_needless(tree, gang, chosen)
    finally:
        for victim in chosen:
            tree.hold(victim.spec.tenant, victim.spec.gpus)
    return ()


def _candidates(tree: QuotaTree, gang: Gang, admitted: Sequence[Gang]) -> list[Gang]:
    queue = gang.spec.tenant
    reach = _reach(tree, gang)
    found = [
        other
        for other in admitted
        if (other.spec.tenant in reach if other.spec.tenant != queue else other.spec.priority < gang.spec.priority)
    ]
    return sorted(
        found, key=lambda g: victim_order(g.spec.tenant == queue, g.spec.priority, g.admitted_at or 0.0, g.uid)
    )


def victim_order(same_queue: bool, priority: int, admitted_at: float, name: Name) -> tuple[bool, int, int, Name]:
    """Who gives way first: other queues', then lower priority, then newest admission in whole seconds, then by name."""
    return (same_queue, priority, -math.floor(admitted_at), name)


def _reach(tree: QuotaTree, gang: Gang) -> frozenset[str]:
    """Queues in subtrees that stand above a node whose own quota covers the request."""
    remaining = gang.spec.gpus
    for name in tree.path(gang.spec.tenant):
        if not tree.is_borrowing(name, remaining):
            inside = {queue for queue in tree.nodes if name in tree.path(queue)}
            top = list(tree.path(name))[-1]
            return frozenset(queue for queue in tree.nodes if top in tree.path(queue) and queue not in inside)
        remaining -= tree.kept_free(name)
    return frozenset()


def _may_be_reclaimed(tree: QuotaTree, candidate: Gang, queue: str) -> bool:
    """Every node between the candidate and the Cohort it shares with the preemptor must be borrowing."""
    above = set(tree.path(queue))
    return all(tree.is_borrowing(name) for name in tree.path(candidate.spec.tenant) if name not in above)


def _without_needless(tree: QuotaTree, gang: Gang, chosen: list[Gang]) -> tuple[Gang, ...]:
    """Fill back: the one chosen last is needed; of the others those that fit beside the gang stay."""
    for victim in list(reversed(chosen[:-1])):
        tree.hold(victim.spec.tenant, victim.spec.gpus)
        if tree.available(gang.spec.tenant) >= gang.spec.gpus:
            chosen.remove(victim)
        else:
            tree.hold(victim.spec.tenant, -victim.spec.gpus)
    return tuple(chosen)

"""One scheduling cycle as Kueue runs it: a head per queue, not borrowing first, then priority, then time; preemption.

All heads are judged by what was there when the cycle began, then taken in that order: who no longer fits beside those
before it, or wants a victim of theirs, is looked at again in the next cycle. A head that does not fit may evict only
where a subtree smaller than the whole tree would cover it with its own quota, as Kueue has it: beyond that there is
nothing it could reclaim, not even from lower priority in its own queue.

Victims are, in this order: gangs of queues that borrow from a subtree that covers the request, gangs of other queues
that borrow (only if the request then needs no borrowing), lower priority in the own queue; among each lowest priority
first, then newest admission. Afterwards those that turn out not to be needed are spared, last chosen first.
Decides; changes nothing for good. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

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


@dataclass(frozen=True, slots=True)
class PassOver:
    """Nothing can be done for the gang until quota becomes free."""

    gang: Gang


Step: TypeAlias = Admit | Preempt | PassOver


@dataclass(frozen=True, slots=True)
class _Head:
    """The first of a queue, with whom it would evict and how high it would borrow; victims None: it is passed over."""

    gang: Gang
    victims: tuple[Gang, ...] | None
    height: int

    @property
    def order(self) -> tuple[int, int, int, str]:
        gang = self.gang
        return (self.height, -gang.spec.priority, math.floor(gang.created_at), gang.uid)


def queue_order(gangs: Iterable[Gang]) -> list[Gang]:
    """As a queue serves its work: priority, then age in whole seconds as the API keeps it, then uid."""
    return sorted(gangs, key=lambda gang: (-gang.spec.priority, math.floor(gang.created_at), gang.uid))


def cycle(tree: QuotaTree, heads: Iterable[Gang], admitted: Sequence[Gang]) -> Sequence[Step]:
    """What one cycle does with the heads of all queues. Those without a step stay heads; at least one has a step."""
    steps, gone, held = list[Step](), dict[str, Gang](), list[Gang]()
    try:
        for head in sorted((_judged(tree, gang, admitted) for gang in heads), key=lambda one: one.order):
            if head.victims is None:
                steps.append(PassOver(head.gang))
                continue
            leaving = {victim.uid: victim for victim in head.victims}
            if leaving.keys() & gone.keys() or not _fits_without(tree, head.gang, [*gone.values(), *head.victims]):
                continue
            gone |= leaving
            tree.hold(head.gang.spec.tenant, head.gang.spec.gpus)
            held.append(head.gang)
            steps.append(Preempt(head.gang, head.victims) if head.victims else Admit(head.gang))
    finally:
        for gang in held:
            tree.hold(gang.spec.tenant, -gang.spec.gpus)
    return steps


def _judged(tree: QuotaTree, gang: Gang, admitted: Sequence[Gang]) -> _Head:
    queue, gpus = gang.spec.tenant, gang.spec.gpus
    height = tree.borrowing_height(queue, gpus)
    if gpus <= tree.available(queue):
        return _Head(gang, (), height)
    victims = victims_for(tree, gang, admitted)
    if not victims:
        return _Head(gang, None, height)
    with_them_gone = _Lifted(tree, victims)
    height = tree.borrowing_height(queue, gpus)
    with_them_gone.put_back()
    return _Head(gang, victims, height)


def _fits_without(tree: QuotaTree, gang: Gang, victims: Sequence[Gang]) -> bool:
    lifted = _Lifted(tree, victims)
    fits = tree.available(gang.spec.tenant) >= gang.spec.gpus
    lifted.put_back()
    return fits


class _Lifted:
    """Gangs whose quota counts as free for a moment."""

    def __init__(self, tree: QuotaTree, gangs: Iterable[Gang] = ()) -> None:
        self._tree, self.gangs = tree, list[Gang]()
        for gang in gangs:
            self.lift(gang)

    def lift(self, gang: Gang) -> None:
        self._tree.hold(gang.spec.tenant, -gang.spec.gpus)
        self.gangs.append(gang)

    def put_back(self, *gangs: Gang) -> None:
        """These; without any, all."""
        for gang in gangs or tuple(self.gangs):
            self._tree.hold(gang.spec.tenant, gang.spec.gpus)
            self.gangs.remove(gang)


def victims_for(tree: QuotaTree, gang: Gang, admitted: Sequence[Gang]) -> tuple[Gang, ...]:
    """Whom a gang that does not fit would evict; empty when nothing can be done for it."""
    queue, gpus = gang.spec.tenant, gang.spec.gpus
    cover = tree.smallest_cover(queue, gpus)
    smaller_than_all = cover is not None and tree.nodes[cover].parent in tree.nodes
    if gpus > tree.most(queue) or not (gpus <= tree.nodes[queue].nominal or smaller_than_all):
        return ()
    candidates = _Candidates(tree, gang, admitted)
    for may_borrow in candidates.attempts():
        lifted = _Lifted(tree)
        for candidate in candidates.in_order(may_borrow):
            lifted.lift(candidate)
            if _fits(tree, gang, may_borrow):
                _spare_needless(tree, gang, may_borrow, lifted)
                victims = tuple(lifted.gangs)
                lifted.put_back()
                return victims
        lifted.put_back()
    return ()


def _fits(tree: QuotaTree, gang: Gang, may_borrow: bool) -> bool:
    queue, gpus = gang.spec.tenant, gang.spec.gpus
    return (may_borrow or not tree.is_borrowing(queue, gpus)) and tree.available(queue) >= gpus


def _spare_needless(tree: QuotaTree, gang: Gang, may_borrow: bool, lifted: _Lifted) -> None:
    """Fill back: the one chosen last is needed; of the others those that fit beside the gang stay."""
    for victim in list(reversed(lifted.gangs[:-1])):
        lifted.put_back(victim)
        if not _fits(tree, gang, may_borrow):
            lifted.lift(victim)


class _Candidates:
    """Who could be evicted for a gang: of other queues from a level on which it has the better claim, the rest of those
    who borrow, and lower priority in its own queue."""

    def __init__(self, tree: QuotaTree, gang: Gang, admitted: Sequence[Gang]) -> None:
        self._tree, self._queue = tree, gang.spec.tenant
        self._above = frozenset(tree.path(self._queue))
        by_claim, without_claim = self._borrowers(gang.spec.gpus)
        self._by_claim = _victims_first(one for one in admitted if one.spec.tenant in by_claim)
        self._without_claim = _victims_first(one for one in admitted if one.spec.tenant in without_claim)
        self._own = _victims_first(
            one for one in admitted if one.spec.tenant == self._queue and one.spec.priority < gang.spec.priority
        )

    def attempts(self) -> tuple[bool, ...]:
        """Whether the gang may borrow, in the order in which it is tried."""
        under_nominal = self._tree.usage(self._queue) < self._tree.nodes[self._queue].nominal
        if not (self._by_claim or self._without_claim) or not under_nominal:
            return (True,)
        return (True, False) if self._by_claim else (False, True)

    def in_order(self, may_borrow: bool) -> Iterator[Gang]:
        """One after the other; each is judged when its turn comes, with those before it gone."""
        yield from (one for one in self._by_claim if self._still_borrows(one.spec.tenant))
        if not may_borrow:
            yield from (one for one in self._without_claim if self._still_borrows(one.spec.tenant))
        yield from self._own

    def _still_borrows(self, queue: str) -> bool:
        """Every node between it and the Cohort that it shares with the gang must be borrowing."""
        return all(self._tree.is_borrowing(name) for name in self._tree.path(queue) if name not in self._above)

    def _borrowers(self, gpus: int) -> tuple[frozenset[str], frozenset[str]]:
        """Other queues that borrow: those above a node that covers the request by its own quota, and those below."""
        tree, by_claim, without_claim = self._tree, set[str](), set[str]()
        has_claim, remaining, below = False, gpus, ""
        for name in tree.path(self._queue):
            for child in tree.children(name):
                if child != below:
                    (by_claim if has_claim else without_claim).update(self._borrowing_queues(child))
            has_claim = has_claim or not tree.is_borrowing(name, remaining)
            remaining, below = max(0, remaining - tree.kept_free(name)), name
        return frozenset(by_claim), frozenset(without_claim)

    def _borrowing_queues(self, name: str) -> Iterator[str]:
        if self._tree.is_borrowing(name):
            if self._tree.nodes[name].is_queue:
                yield name
            for child in self._tree.children(name):
                yield from self._borrowing_queues(child)


def _victims_first(gangs: Iterable[Gang]) -> list[Gang]:
    return sorted(gangs, key=lambda one: victim_order(False, one.spec.priority, one.admitted_at or 0.0, one.uid))


def victim_order(same_queue: bool, priority: int, admitted_at: float, name: Name) -> tuple[bool, int, int, Name]:
    """Who gives way first: other queues', then lower priority, then newest admission in whole seconds, then by name."""
    return (same_queue, priority, -math.floor(admitted_at), name)

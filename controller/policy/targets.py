"""Own objects as the policy sees them: name, baseline, observed level; and which levels the ledger asks for. Pure.

`level(target) = baseline - sum(taken from it) + sum(given to it)`: levels are derived from the ledger, never kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from collector.model.reading import Known, Reading
from controller.api.errors import InvariantError
from controller.policy.change import IDLE, Change, Stage


@dataclass(frozen=True, slots=True)
class Target:
    """The part of one pool that one own object holds."""

    name: str
    """Name of the object, such as `trimtab-vision`."""
    pool: str
    tenant: str | None
    """Whose floating part it is; None: the part lent to everybody."""
    baseline: int
    observed: Reading[int]
    change_ids: tuple[str, ...] = ()
    """Ids that the object's own annotation names, of all its pools: the authority on what is in force."""
    foreign_manager: str | None = None
    """Another field manager that owns part of its spec."""
    limit: int | None = None
    """Native: GPUs of the pool, which its caps together may not exceed. None: levels add up to the baselines."""


TargetKey = tuple[str, str]
"""(object name, pool)"""


def by_key(targets: Iterable[Target]) -> Mapping[TargetKey, Target]:
    """Targets by name and pool."""
    return {(target.name, target.pool): target for target in targets}


def level(target: Target, changes: Iterable[Change]) -> int:
    """GPUs that the object should hold, by the ledger."""
    name, pool, amount = target.name, target.pool, target.baseline
    for change in changes:
        if name in (change.source, change.destination) and change.pool == pool and change.stage is not Stage.ENDED:
            amount -= change.taken if change.source == name else 0
            amount += change.given if change.destination == name else 0
    return amount


def available(targets: Iterable[Target], in_force: Sequence[Change]) -> tuple[Target, ...]:
    """The targets as a new change may count on them beside the active changes `in_force`.

    A leaf without what is already intended to be taken from it, nor what was only given to it: that goes back some day,
    whoever holds it then. A cap with what is already intended to be allowed.
    """
    moving = {(name, change.pool) for change in in_force for name in (change.source, change.destination)}
    return tuple([_promised(target, in_force if (target.name, target.pool) in moving else ()) for target in targets])


def _promised(target: Target, changes: Sequence[Change]) -> Target:
    if not isinstance(target.observed, Known) or (not changes and target.observed.value == target.baseline):
        return target
    held, intended = target.observed.value, level(target, changes)
    given = sum(one.given for one in changes if (one.destination, one.pool) == (target.name, target.pool))
    left = max(held, intended) if target.limit is not None else max(0, min(held, intended - given))
    return target if left == held else replace(target, observed=replace(target.observed, value=left))


def check_levels(targets: Sequence[Target], changes: Sequence[Change]) -> None:
    """Raise InvariantError unless every level is possible and no pool holds more than its baselines together.

    Where people or lost nodes have left it with more, it may at least not grow.
    """
    for pool in sorted({target.pool for target in targets}):
        inside = [target for target in targets if target.pool == pool]
        levels = {target.name: level(target, changes) for target in inside}
        below = {name: amount for name, amount in levels.items() if amount < 0}
        if below:
            raise InvariantError(f"pool {pool}: levels below zero: {below}")
        held = sum(t.observed.value if isinstance(t.observed, Known) else levels[t.name] for t in inside)
        most = max(held, sum(target.baseline for target in inside), *(target.limit or 0 for target in inside))
        if sum(levels.values()) > most:
            raise InvariantError(f"pool {pool}: levels {levels} add up to more than {most}")


def moved(change: Change, name: str) -> int:
    """GPUs by which an active change moves the object of that name, in either direction."""
    if not change.active:
        return 0
    if name == change.destination:
        return change.given
    return change.taken if name == change.source else 0


def holds_level(target: Target | None, changes: Iterable[Change]) -> bool:
    """Whether the object was seen to hold what the ledger asks for, whoever wrote it."""
    return target is not None and isinstance(target.observed, Known) and target.observed.value == level(target, changes)


def at_level(target: Target | None, changes: Sequence[Change]) -> bool:
    """Whether the object was seen as the ledger asks for it, with the marks of just the changes that move it.

    Another write may by chance leave the same amount: only the marks tell that it was ours.
    """
    if target is None or not holds_level(target, changes):
        return False
    return set(target.change_ids) == {change.id for change in changes if moved(change, target.name)}


def advanced(change: Change, targets: Mapping[TargetKey, Target], changes: Sequence[Change]) -> Change:
    """The next intent of a change: take first, then give; on the way back give back first, then return.

    A second step is intended only once the first was seen on the object itself.
    """
    source = targets.get((change.source, change.pool))
    destination = targets.get((change.destination, change.pool))
    if change.stage is Stage.RETURNING or change.taken > change.amount:
        return _backward(change, destination, changes)
    if change.stage is Stage.ENDED or change.given == change.amount:
        return change
    if change.source == IDLE:
        return replace(change, taken=change.amount, given=change.amount)
    if change.taken < change.amount:
        return replace(change, taken=change.amount)
    return replace(change, given=change.amount) if at_level(source, changes) else change


def _backward(change: Change, destination: Target | None, changes: Sequence[Change]) -> Change:
    """`amount` is what may stay for now; it only ever falls."""
    if change.given > change.amount:
        return replace(change, given=change.amount)
    if change.taken > change.given and at_level(destination, changes):
        return replace(change, taken=change.given)
    return change


def recorded(change: Change, targets: Mapping[TargetKey, Target], changes: Sequence[Change], now: float) -> Change:
    """The change with what the objects themselves confirm: how much is really taken and given, and its next stage."""
    settled = (change.taken, change.given) == (change.taken_written, change.given_written)
    if not change.active or (settled and change.stage in (Stage.ON_TRIAL, Stage.KEPT)):
        return change
    source = targets.get((change.source, change.pool))
    destination = targets.get((change.destination, change.pool))
    nobody = change.source == IDLE
    taken, given = change.taken_written, change.given_written
    if taken != change.taken and (nobody or at_level(source, changes)):
        taken = change.taken
    if given != change.given and at_level(destination, changes):
        given = change.given
    if change.stage is Stage.RETURNING and (gone := left_baseline(change, targets)):
        # Nothing can be written there any more.
        taken, given = (0 if change.source in gone else taken), (0 if change.destination in gone else given)
    if (taken, given) != (change.taken_written, change.given_written):
        change = replace(change, taken_written=taken, given_written=given)
    if change.stage is Stage.INTENDED and given == change.amount:
        waited = now - change.created_at
        forecast = replace(change.forecast, ready_by=change.forecast.ready_by + waited)
        return replace(change, stage=Stage.ON_TRIAL, applied_at=now, forecast=forecast)
    if change.stage is Stage.RETURNING and change.taken == change.given == taken == given == 0:
        return change.ended(now)
    return change


def left_baseline(change: Change, targets: Mapping[TargetKey, Target]) -> tuple[str, ...]:
    """Objects of the change that people took out of the baseline.

    A pool without any object has lost its baseline altogether, which tells nothing.
    """
    if all(pool != change.pool for _, pool in targets):
        return ()
    names = (change.source, change.destination)
    return tuple(name for name in names if name != IDLE and (name, change.pool) not in targets)


def lagging(targets: Sequence[Target], changes: Sequence[Change]) -> tuple[Target, ...]:
    """Targets of active changes whose object is not at its level: what to write, those to be lowered first.

    An object that no active change touches is left as it is: the baseline is written by people. But one that is marked
    with a change that has ended is ours: a write that crossed the kill switch on its way.
    """
    touched = {(name, c.pool) for c in changes if c.active for name in (c.source, c.destination)}
    ended = {change.id for change in changes if not change.active}
    wrong = [
        target
        for target in targets
        if ((target.name, target.pool) in touched or ended.intersection(target.change_ids))
        and isinstance(target.observed, Known)
        and not at_level(target, changes)
    ]

    def rise(target: Target) -> int:
        return level(target, changes) - (target.observed.value if isinstance(target.observed, Known) else 0)

    return tuple(sorted(wrong, key=lambda target: (rise(target) > 0, target.name, target.pool)))

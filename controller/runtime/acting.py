"""Writes own objects until they agree with the ledger: intent first, take before give, each step seen before the next.

A crash between any two steps leaves either an intent that is completed or sent back at the next start, or an object
whose mark says what is in force on it. An object is written over just what the tick saw of it: what somebody else wrote
since then stays, and the next tick decides anew. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from collector.model.objects import Picture
from collector.model.reading import Known
from collector.model.tenancy import Site
from controller.actuators.port import OUTDATED, Actuator
from controller.api.errors import ApplyError, InvariantError
from controller.knobs import own
from controller.policy.change import IDLE, Change, Stage
from controller.policy.ledger import Ledger
from controller.policy.targets import Target, advanced, at_level, by_key, check_levels, lagging, recorded

_MOST_STEPS_EACH = 8
"""Per change and target, far more than a tick can need; a bound, so that a mistake of ours can not write for ever."""
_MOST_LOOKS = 5
"""At an object whose status changes faster than it can be written."""
_ALTERED = "ALTERED"
_CROSSED = "CROSSED"
_OF_ONE_OBJECT = frozenset({"CONFLICT", OUTDATED, "FORBIDDEN", "REJECTED", "NOT_SERVED", _ALTERED, _CROSSED})
"""Codes that speak of one object and say nothing of the others."""


class LedgerWriter(Protocol):
    """Where intents and outcomes are kept."""

    def save(self, ledger: Ledger) -> None:
        """Write the ledger if it differs from what is kept; returns once it is durable."""


class Fence(Protocol):
    """Says, before each write, whether we may still write."""

    def check(self) -> None:
        """Raise FenceError when the lease is no longer ours."""


@dataclass(frozen=True, slots=True)
class Written:
    """One write that the API server took, for the audit trail."""

    target: str
    pool: str
    before: int | None
    after: int
    change_ids: tuple[str, ...]


@dataclass(slots=True)
class Acting:
    """One tick's writing. `written` and `problems` tell afterwards what was done and what was refused."""

    actuator: Actuator
    ledger_writer: LedgerWriter
    fence: Fence
    baseline: own.Baseline
    picture: Picture
    site: Site
    clock: Callable[[], float]
    written: list[Written] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def bring_about(self, ledger: Ledger, targets: Sequence[Target]) -> Ledger:
        """Write until nothing is left to do. Returns the ledger as it is then.

        An object that is refused waits for the next tick and holds up no other; a server that does not answer does.
        """
        current, refused = list(targets), set[str]()
        ledger = self._previewed(ledger, current)
        most_steps = _MOST_STEPS_EACH * (1 + len(ledger.active) + len(current))
        for _ in range(most_steps):
            intended = self._intended(ledger, current)
            check_levels(current, intended.changes)
            wrong = [target for target in lagging(current, intended.changes) if target.name not in refused]
            if wrong:
                self.fence.check()
            self.ledger_writer.save(intended)
            refusal = self._write(wrong[0], intended, current) if wrong else None
            if refusal is not None and refusal.code not in _OF_ONE_OBJECT:
                return intended
            if refusal is not None:
                refused.add(wrong[0].name)
            confirmed = self._recorded(intended, current)
            self.ledger_writer.save(confirmed)
            if confirmed == ledger and not wrong:
                return ledger
            ledger = confirmed
        raise InvariantError(f"{most_steps} steps did not bring the objects to their levels")

    def _intended(self, ledger: Ledger, current: Sequence[Target]) -> Ledger:
        """The next intents of all changes. A change whose objects can not be read waits."""
        places = by_key(current)
        for change in ledger.active:
            ledger = ledger.with_change(advanced(change, places, ledger.active))
        return ledger

    def _recorded(self, ledger: Ledger, current: Sequence[Target]) -> Ledger:
        places = by_key(current)
        for change in ledger.active:
            ledger = ledger.with_change(recorded(change, places, ledger.active, self.clock()))
        return ledger

    def _previewed(self, ledger: Ledger, current: Sequence[Target]) -> Ledger:
        """New changes are shown to the API server first; what it would refuse is never begun.

        One that it did not answer for is left out of the ledger, as if it had not been decided: the next tick does that
        anew where it is still right, and no budget is used up.
        """
        for change in ledger.active:
            if change.stage is not Stage.INTENDED or change.taken:
                continue
            whole = replace(change, taken=change.amount, given=change.amount)
            changes = [whole if item.id == change.id else item for item in ledger.changes]
            try:
                for name in (change.source, change.destination) if change.source != IDLE else (change.destination,):
                    self.actuator.preview(*self._manifest(name, current, changes))
            except ApplyError as error:
                self.problems.append(f"change {change.id} was not begun: {error}")
                ledger = self._not_begun(ledger, change, error)
        return ledger

    def _not_begun(self, ledger: Ledger, change: Change, error: ApplyError) -> Ledger:
        if error.code in _OF_ONE_OBJECT:
            return ledger.with_change(change.ended(self.clock(), f"refused in preview: {error.code}"))
        return replace(ledger, changes=tuple(item for item in ledger.changes if item.id != change.id))

    def _manifest(
        self, name: str, current: Sequence[Target], changes: Sequence[Change]
    ) -> tuple[str, Mapping[str, Any]]:
        return own.manifest(self.baseline, name, self.site, current, changes)

    def _write(self, target: Target, ledger: Ledger, current: list[Target]) -> ApplyError | None:
        """Write one own object. What refused it, or None."""
        path, manifest = self._manifest(target.name, current, ledger.changes)
        try:
            answer = self._applied(target, path, manifest, current)
        except ApplyError as error:
            self.problems.append(str(error))
            return error
        for number, item in enumerate(current):
            if item.name == target.name:
                current[number] = self._seen(item, answer)
                self._note(item, current[number])
        if not at_level(by_key(current)[target.name, target.pool], ledger.changes):
            altered = ApplyError(target.name, _ALTERED, "the API server keeps something else than it was sent")
            self.problems.append(str(altered))
            return altered
        return None

    def _applied(
        self, target: Target, path: str, manifest: Mapping[str, Any], current: Sequence[Target]
    ) -> Mapping[str, Any]:
        """Write over the version that was seen, or over a later one that differs in nothing of ours."""
        before = [item for item in current if item.name == target.name]
        for look in range(1, _MOST_LOOKS + 1):
            try:
                return self.actuator.apply(path, own.at_version(manifest, self.picture))
            except ApplyError as error:
                if error.code != OUTDATED or look == _MOST_LOOKS:
                    raise
            answer = self.actuator.shown(path)
            if [self._seen(item, answer) for item in before] != before:
                raise ApplyError(target.name, _CROSSED, "somebody else wrote it since this tick looked at it")
        raise AssertionError("the loop above returns or raises")

    def _seen(self, item: Target, answer: Mapping[str, Any]) -> Target:
        self.picture = own.with_answer(self.picture, answer)
        return by_key(own.targets(self.baseline, self.picture, self.site))[item.name, item.pool]

    def _note(self, before: Target, after: Target) -> None:
        if isinstance(after.observed, Known) and before.observed != after.observed:
            was = before.observed.value if isinstance(before.observed, Known) else None
            self.written.append(Written(after.name, after.pool, was, after.observed.value, after.change_ids))

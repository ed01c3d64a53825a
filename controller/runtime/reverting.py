"""The kill switch, and the janitor: both undo, with no Prometheus, no webhook and no running controller.

A person may ask for everything at once (the baseline is written, which may evict) or for changes to go back softly
(usage is followed down). Neither needs documents: only the baseline, the ledger and the API server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from collector.model.objects import Picture
from controller.actuators.port import Actuator
from controller.api.errors import ApplyError
from controller.knobs import own
from controller.policy.change import Change, Verdict
from controller.policy.ledger import Ledger
from controller.runtime.ledger_store import LedgerStore


@dataclass(frozen=True, slots=True)
class Reverted:
    """What a revert did."""

    written: tuple[str, ...]
    """Own objects that now hold their baseline."""
    ended: tuple[str, ...]
    returning: tuple[str, ...]
    """Changes that go back softly; the controller or the janitor follows them down."""
    problems: tuple[str, ...]


Wanted = Callable[[Change], bool]


@dataclass(frozen=True, slots=True)
class Because:
    """Who asked, why, and when."""

    reason: str
    now: float


def sent_back(store: LedgerStore, wanted: Wanted, because: Because, *, hard: bool) -> Reverted:
    """Mark changes as going back: the next tick of controller or janitor does it, softly or (may evict) at once."""
    ledger = store.load()
    chosen = [change for change in ledger.active if wanted(change)]
    for change in chosen:
        ledger = ledger.with_change(change.returning(because.now, because.reason, hard=hard))
    store.save(ledger)
    return Reverted((), (), tuple(change.id for change in chosen), ())


def lifted_latch(store: LedgerStore) -> str:
    """Lift the latch, and say why it was there; "" when there was none. Raises LedgerLost, SourceError."""
    ledger = store.load()
    if ledger.latched:
        store.save(replace(ledger, latched=""))
    return ledger.latched


def everything_back(
    picture: Picture,
    baseline: own.Baseline,
    store: LedgerStore,
    actuator: Actuator,
    because: Because,
) -> Reverted:
    """Write the whole baseline at once, lowering before raising, and end all changes. This may evict.

    Every own object is written, whatever the ledger says: after this nothing of ours is in force. `picture`: the
    own objects as they stand, so that what holds too much is lowered before anything is raised.
    """
    written: list[str] = []
    problems: list[str] = []
    for item in own.lowered_first(baseline, picture):
        try:
            actuator.apply(*own.baseline_manifest(item))
            written.append(item.name)
        except ApplyError as error:
            problems.append(str(error))
    if problems:
        return Reverted(tuple(written), (), (), tuple(problems))
    ledger = store.load()
    ended = [change.id for change in ledger.active]
    store.save(_all_ended(ledger, because))
    return Reverted(tuple(written), tuple(ended), (), ())


def _all_ended(ledger: Ledger, because: Because) -> Ledger:
    for change in ledger.active:
        ended = change.ended(because.now)
        unjudged = Verdict.CANNOT_TELL if ended.verdict is None else ended.verdict
        ledger = ledger.with_change(replace(ended, return_reason=because.reason, verdict=unjudged))
    return ledger

"""Which changes of the ledger belong to a window, and what there is to say about each. Pure."""

from __future__ import annotations

from collector.model.reading import Known, Reading, Unknown
from controller.policy.change import Change, Stage
from controller.policy.ledger import KEEP_ENDED, Ledger
from controller.reports.model import ChangeLine, Window


def change_lines(ledger: Reading[Ledger], window: Window) -> Reading[tuple[ChangeLine, ...]]:
    """Changes made or in force within the window, oldest first."""
    if isinstance(ledger, Unknown):
        return ledger
    changes = sorted(ledger.value.changes, key=lambda change: (change.created_at, change.id))
    return Known(tuple(_line(change, window) for change in changes if _belongs(change, window)))


def what_is_forgotten(ledger: Reading[Ledger], window: Window) -> str:
    """A sentence when the ledger, which keeps only so many ended changes, may have dropped some of the window."""
    if isinstance(ledger, Unknown):
        return ""
    ended = [change for change in ledger.value.changes if not change.active]
    oldest = min((change.created_at for change in ended), default=window.start)
    if len(ended) < KEEP_ENDED or oldest <= window.start:
        return ""
    return f"the ledger keeps the last {KEEP_ENDED} ended changes: older ones of this window may be missing"


def _belongs(change: Change, window: Window) -> bool:
    ended_at = change.ended_at if change.ended_at is not None else window.end
    return change.created_at < window.end and ended_at >= window.start


def _line(change: Change, window: Window) -> ChangeLine:
    return ChangeLine(
        id=change.id,
        made_at=change.created_at,
        tenant=change.tenant,
        pool=change.pool,
        gpus=change.amount,
        source=change.source,
        destination=change.destination,
        reason=change.reason,
        expected_ready=tuple(work.title for work in change.forecast.ready),
        expected_by=change.forecast.ready_by,
        may_evict=tuple(work.title for work in change.forecast.evicted),
        lost_gpu_hours=change.forecast.lost_gpu_hours,
        verdict=change.verdict.value if change.verdict is not None else None,
        verdict_reason=change.verdict_reason,
        stage=change.stage.value,
        ended_at=change.ended_at if change.stage is Stage.ENDED else None,
        before_window=change.created_at < window.start,
    )

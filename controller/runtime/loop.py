"""The outermost frame: ticks by timer and doorbell until told to stop, one log line per tick, no error that ends it.

Only here may everything be caught: a bug must leave the loop watching, latched, and saying so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from collector.sources.errors import CredentialsProblem, SourceError
from controller.runtime.doorbell import Doorbell
from controller.runtime.lease import FenceError
from controller.runtime.ledger_store import LedgerLost
from controller.runtime.ports import Leadership, StatusKeeper
from controller.runtime.status import StatusBoard
from controller.runtime.tick import Controller, TickReport

_LOG = structlog.get_logger("trimtab.controller")


def least_gap_seconds(time_scale: float) -> float:
    """The shortest pause between two ticks, however often the doorbell rings."""
    return max(0.5, min(5.0, 5.0 / time_scale))


@dataclass(slots=True)
class Loop:
    """Ticks a controller while its lease is held."""

    controller: Controller
    lease: Leadership
    board: StatusBoard
    doorbell: Doorbell
    status_store: StatusKeeper
    monotonic: Callable[[], float]
    """Pauses are measured by it: the clock on the wall may be set."""
    least_gap_seconds: float = 1.0
    """Doorbells can not make it tick faster than this."""

    def run(self, stop: threading.Event, ticks: int | None = None) -> None:
        """Tick until `stop` is set (or `ticks` are done). Raises FenceError when the lease is lost during a write."""
        done = 0
        while not stop.is_set() and (ticks is None or done < ticks):
            if not self._may_tick():
                stop.wait(min(5.0, self.lease.duration_seconds / 6))
                continue
            started = self.monotonic()
            report = self._tick()
            done += 1
            self._rest(stop, started + report.wake_at - report.at)

    def _may_tick(self) -> bool:
        ours = self.lease.acquire()
        self.board.waiting = "" if ours else f"the lease is not ours: {self.lease.obstacle}"
        if not ours:
            _LOG.info("waiting for the lease", holder_wanted=self.lease.identity, reason=self.lease.obstacle)
        return ours

    def _tick(self) -> TickReport:
        signals = self.doorbell.taken()
        self.board.ring(signals, self.controller.clock())
        for signal in signals:
            _LOG.info("signal", alert=signal.alert, tenant=signal.tenant, pool=signal.pool, status=signal.status.value)
        try:
            report = self.controller.tick()
        except FenceError:
            raise
        except Exception as error:
            _LOG.exception("tick failed")
            report = self.controller.latch(f"a tick failed unexpectedly: {type(error).__name__}: {error}")
        try:
            self.board.take(report)
            self._say(report)
        except Exception:
            _LOG.exception("tick not told")
        self._keep_latch()
        return report

    def _keep_latch(self) -> None:
        """Last of all, since what latched it may be a ledger that can not be read."""
        try:
            self.controller.keep_latch()
        except (SourceError, CredentialsProblem, LedgerLost) as error:
            _LOG.warning("latch not written", reason=str(error))
        except Exception:
            _LOG.exception("latch not written")

    def _say(self, report: TickReport) -> None:
        _LOG.info(
            "tick",
            sentence=report.sentence,
            mode=report.mode.word,
            paused=report.paused,
            active_changes=[change.id for change in report.ledger.active],
            problems=list(report.problems),
        )
        for written in report.written:
            _LOG.info(
                "written",
                target=written.target,
                pool=written.pool,
                before_gpus=written.before,
                after_gpus=written.after,
                changes=list(written.change_ids),
            )
        try:
            self.status_store.write(self.board.document())
        except (SourceError, CredentialsProblem) as error:
            _LOG.warning("status not written", reason=str(error))

    def _rest(self, stop: threading.Event, until: float) -> None:
        """Sleep until the next tick is due (by `monotonic`) or a doorbell rings; renew the lease meanwhile."""
        if stop.wait(self.least_gap_seconds):
            return
        while not stop.is_set() and not self.doorbell.woken.is_set():
            left = until - self.monotonic()
            if left <= 0:
                return
            if not self.lease.held():
                self.lease.acquire()
            self.doorbell.woken.wait(min(left, 0.5))

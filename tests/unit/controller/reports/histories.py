"""Small histories for tests: a window of ten-minute hours, series as lists, None where no sample was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from collector.model.reading import Known, Reading, Unknown
from collector.model.tenancy import Site
from controller.policy.change import Change, Forecast, Stage, Verdict, WorkRef
from controller.policy.ledger import Ledger
from controller.reports.compute import Sources, report_of
from controller.reports.model import ReportModel, Window
from controller.reports.samples import (
    CAPACITY,
    ENTITLED,
    EVICTIONS,
    FLOATING,
    FREE,
    GUARANTEE,
    HELD,
    IDLE_HELD,
    OLDEST,
    RESERVED,
    RUNNING,
    SHORTFALL,
    UNJUDGED,
    UNUSABLE,
    WAITED,
    Samples,
)

START = 1_795_996_800.0  # Monday 2026-11-30 00:00 UTC
HOUR = 3600
Row = Sequence[float | None]
Series = Mapping[tuple[str, ...], Row]
"""(source, labels…) → the value at the window's start and at the end of each slot."""


def window(slots: int, closed: bool = True, slot_seconds: int = HOUR) -> Window:
    """A window of so many slots, by default of an hour each: GPUs are GPU-hours."""
    return Window(START, START + slots * slot_seconds, "2026-W49", "UTC", closed, slot_seconds)


def samples(slots: int, series: Mapping[str, Series]) -> Samples:
    """The same as tables. Each row has `slots + 1` values."""
    return Samples(
        slots,
        {
            name: {
                (source, tuple(key)): np.array([np.nan if value is None else value for value in row], dtype=float)
                for (source, *key), row in rows.items()
            }
            for name, rows in series.items()
        },
    )


def steady(slots: int, **amounts: float) -> dict[str, dict[tuple[str, ...], list[float | None]]]:
    """One pool h100 and one tenant vision, the same in every slot."""

    def row(value: float) -> list[float | None]:
        return [value] * (slots + 1)

    usual = {"capacity": 16.0, "free": 4.0, "cordoned": 2.0, "held": 10.0, "running": 8.0, "reserved": 11.0}
    usual |= {"guarantee": 4.0, "floating": 3.0, "idle": 2.0, "unjudged": 1.0, "entitled": 12.0, "shortfall": 3.0}
    of = usual | amounts
    pool, tenant = ("a", "h100"), ("a", "vision", "h100")
    return {
        CAPACITY: {pool: row(of["capacity"])},
        FREE: {pool: row(of["free"])},
        UNUSABLE: {(*pool, "cordoned"): row(of["cordoned"]), (*pool, "not ready"): row(0.0)},
        HELD: {tenant: row(of["held"])},
        RUNNING: {tenant: row(of["running"])},
        RESERVED: {tenant: row(of["reserved"])},
        GUARANTEE: {tenant: row(of["guarantee"])},
        FLOATING: {tenant: row(of["floating"])},
        IDLE_HELD: {tenant: row(of["idle"])},
        UNJUDGED: {tenant: row(of["unjudged"])},
        ENTITLED: {tenant: row(of["entitled"])},
        SHORTFALL: {tenant: row(of["shortfall"])},
        OLDEST: {("a", "vision", "critical", "vision/q"): row(1800.0)},
        WAITED: {("a", "vision", "critical", "vision/q"): [float(moment * HOUR) for moment in range(slots + 1)]},
        EVICTIONS: {("a", "vision", "critical", "vision/q"): row(2.0)},
    }


def change(identifier: str, at: float, verdict: Verdict | None = Verdict.HELPED, **more: object) -> Change:
    """Eight GPUs for vision."""
    fields: dict[str, object] = {
        "id": identifier,
        "policy": "default",
        "tenant": "vision",
        "pool": "h100",
        "source": "trimtab-shared",
        "destination": "trimtab-vision",
        "amount": 8,
        "reason": "vision is starved: its entitlement is used up while nlp borrows.",
        "finding": "starved",
        "forecast": Forecast(
            (WorkRef("vision-train/Job/late/", "vision-train/late", 8),),
            at + 900,
            (WorkRef("nlp/Job/j3/", "nlp/j3", 8),),
            2.5,
        ),
        "created_at": at,
        "expires_at": at + 4 * HOUR,
        "stage": Stage.ENDED if verdict else Stage.ON_TRIAL,
        "verdict": verdict,
        "verdict_reason": "all 1 named workloads became Ready" if verdict is Verdict.HELPED else "",
        "ended_at": at + 2 * HOUR if verdict else None,
    }
    return Change(**(fields | more))  # type: ignore[arg-type]  # a test's shorthand


EMPTY_LEDGER: Reading[Ledger] = Known(Ledger())
NO_LEDGER: Reading[Ledger] = Unknown("no cluster to ask")


def report(
    slots: int,
    series: Mapping[str, Series],
    ledger: Reading[Ledger] = EMPTY_LEDGER,
    site: Site | None = None,
    closed: bool = True,
) -> ReportModel:
    """The report of such a history."""
    shown = window(slots, closed)
    return report_of(Sources("c1", samples(slots, series), ledger, site), shown, shown.end + HOUR, "0.1.0")

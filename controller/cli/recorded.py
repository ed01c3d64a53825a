"""From options to what really happened: a trace or the history, the span of it that is asked about, and the quotas."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from collector.model.quantities import parse_duration
from collector.model.tenancy import Site
from controller.api.errors import InputError, Mistake
from controller.api.yaml_text import told
from controller.cli.values import cluster_for, path_for, words_for

if TYPE_CHECKING:
    from controller.evaluate.recording import Quotas, Recording

_DAY_SECONDS: Final = 86400.0
_DATA: Final = "What happened"

Trace: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        parser=path_for("--trace"),
        metavar="FILE",
        help="A recorded workload, plain or gzip, as for `trimtab simulate`; instead of --accounting.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        parser=cluster_for("--cluster"),
        help="Cluster, as in its metrics; needed when the history has several.",
        rich_help_panel=_DATA,
    ),
]
PoolName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--pool",
        parser=words_for("--pool", "the name of a pool"),
        help="Pool; needed where history or documents have several.",
        rich_help_panel=_DATA,
    ),
]
Seeds: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seeds",
        min=1,
        help="So often each is run, with submissions moved by up to 10 minutes and other checkpoints; their range is "
        "told.",
    ),
]


@dataclass(frozen=True, slots=True)
class Source:
    """The options that say where the jobs come from. A trace wins over an address that the environment gives."""

    trace: Path | None
    form: str | None
    accounting: str | None
    cluster: str | None
    pool: str | None

    def read(self, earliest: Callable[[float], float]) -> Recording:
        """All jobs of a trace; of the history those from a moment on, given now. Raises InputError and StoreProblem."""
        from controller.evaluate.recording import WARM_UP_SECONDS, recorded_in_file, recorded_in_history

        if self.trace is not None:
            return recorded_in_file(self.trace, self.form)
        if self.accounting is None:
            raise InputError((Mistake("--trace or --accounting", "nothing", "a trace, or where the history is kept"),))
        from collector.accounting.store import Wanted
        from controller.cli.accounting_store import open_store, the_cluster

        store, now = open_store(self.accounting), time.time()
        begin = earliest(now) - WARM_UP_SECONDS
        wanted = Wanted(the_cluster(store, self.cluster), begin=None if begin == -inf else begin)
        return recorded_in_history(store.transitions(wanted), self.pool, now)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about: jobs of a span and of the time before, and who was promised what."""

    recording: Recording
    quotas: Quotas
    begin: float
    """From here on jobs count."""

    @property
    def span(self) -> str:
        """In words."""
        jobs = self.recording.jobs
        count = len(jobs) - bisect_left(jobs, self.begin, key=lambda job: job.submitted_seconds)
        last = jobs[-1].submitted_seconds
        if self.begin < 366 * _DAY_SECONDS:
            return f"over {(last - self.begin) / _DAY_SECONDS:.1f} days ({count:,} jobs)"
        begin, end = (datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") for at in (self.begin, last))
        return f"from {begin} to {end} ({count:,} jobs)"


def asked(
    source: Source,
    recording: Recording,
    span: tuple[float, float],
    promised: tuple[Path | None, Site | None],
    capacity_ratio: float,
) -> Asked:
    """Put it together; `promised`: the file of quotas and the documents. Raises InputError."""
    from controller.evaluate.recording import quotas_for

    chosen = recording.during(*span)
    quotas, site = promised
    found = quotas_for(chosen.jobs, quotas, site, source.pool, capacity_ratio)
    return Asked(chosen, found, max(span[0], chosen.jobs[0].submitted_seconds))


def moment(option: str, text: str | None, now: float, otherwise: float) -> float:
    """A date, a time, or how long before `now`, such as 28d. Raises InputError."""
    if text is None:
        return otherwise
    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        expected = "an ISO date or time such as 2017-10-01, or how long before the end, such as 28d"
        raise InputError((Mistake(option, told(text), expected),)) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def site_of(config: Sequence[Path] | None) -> Site | None:
    """The documents' tenants; None where no documents are named. Raises InputError."""
    from controller.runtime.configuration import Configuration

    return Configuration(config).load().site if config else None

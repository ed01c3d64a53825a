"""`trimtab accounting list` and `export`: the history of workloads, for people, scripts and tables. Reads only."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from datetime import UTC, datetime
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from collector.accounting.schema.hours import Span, gaps
from collector.accounting.schema.rows import PolicyStep, Transition
from collector.model.quantities import format_duration, format_time, parse_duration, parse_time
from controller.api.errors import InputError, Mistake
from controller.api.shown_values import told
from controller.cli.accounting_store import open_store, the_cluster
from controller.cli.accounting_text import row_record, transition_cells
from controller.cli.options import Accounting, Format
from controller.cli.output import OK, Output, console, left, print_json, print_text, right, section, table, talk
from controller.cli.values import cluster_for, path_for, words_for
from controller.files.reading import mistaken, trouble_in_words

if TYPE_CHECKING:
    from collector.accounting.store import Store

_SHOWN: Final = 200
_DEFAULT_SPAN: Final = "24h"

Tenant: TypeAlias = Annotated[
    str | None,
    typer.Option("--tenant", parser=words_for("--tenant", "the name of a tenant"), help="Only this tenant's."),
]
Begin: TypeAlias = Annotated[
    str | None,
    typer.Option("--from", help="First moment: a date, a time (RFC 3339), or how long ago, such as 7d."),
]
End: TypeAlias = Annotated[
    str | None, typer.Option("--to", help="Moment before which it ends, in the same forms; without it now.")
]
Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        parser=cluster_for("--cluster"),
        help="Cluster, as in its metrics; needed when the history has several.",
    ),
]


class What(StrEnum):
    """Which rows."""

    WORKLOADS = "workloads"
    POLICY = "policy"


class ExportForm(StrEnum):
    """For spreadsheets, or for programs that read columns."""

    CSV = "csv"
    PARQUET = "parquet"


def list_rows(
    accounting: Accounting = None,
    tenant: Tenant = None,
    begin: Begin = _DEFAULT_SPAN,
    end: End = None,
    cluster: Cluster = None,
    what: Annotated[What, typer.Option("--what", help="Changes of state of workloads, or of policy changes.")] = (
        What.WORKLOADS
    ),
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many rows, the last ones.")] = _SHOWN,
    output: Format = Output.TEXT,
) -> None:
    """List what happened to workloads, or to policy changes, in order of time, with the gaps in which nobody looked.

    Example: [bold]trimtab accounting list --accounting history.db --tenant vision --from 7d[/bold]

    Exit code 0: told; 2: bad input; 3: the history can not be read.
    """
    store = _opened(accounting)
    name, span = the_cluster(store, cluster), _span(begin, end)
    found = list(_rows(store, what, name, tenant, span))
    blind = gaps(store.looks(name, span.begin, span.end), span)
    rows = found[-limit:]
    if output is Output.JSON:
        print_json(
            {
                "cluster": name,
                "from": format_time(span.begin),
                "to": format_time(span.end),
                "rows": [row_record(row) for row in rows],
                "rows_left_out": len(found) - len(rows),
                "gaps": [{"from": format_time(gap.begin), "to": format_time(gap.end)} for gap in blind],
            }
        )
    else:
        _show(rows, len(found) - len(rows), blind)
    raise typer.Exit(OK)


def export(
    accounting: Accounting = None,
    tenant: Tenant = None,
    begin: Begin = None,
    end: End = None,
    cluster: Cluster = None,
    what: Annotated[What, typer.Option("--what", help="Changes of state of workloads, or of policy changes.")] = (
        What.WORKLOADS
    ),
    form: Annotated[ExportForm, typer.Option("--output", "-o", help="CSV, or Parquet.")] = ExportForm.CSV,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=path_for("--out"), help="File to write to; without it standard output, but for Parquet."
        ),
    ] = None,
) -> None:
    """Write every row of the history as CSV (RFC 4180), or as Parquet, which needs an extra (docs/guide/accounting.md).

    Example: [bold]trimtab accounting export --accounting history.db --from 2026-01-01 -o parquet --out q.parquet[/bold]

    Exit code 0: written; 2: bad input; 3: the history can not be read.
    """
    if form is ExportForm.PARQUET and find_spec("pyarrow") is None:
        raise InputError((Mistake("-o", "parquet", "the extra: pipx install --force '.[parquet]' in the checkout"),))
    if form is ExportForm.PARQUET and out is None:
        raise InputError((Mistake("--out", "nothing", "a file: Parquet is not written to a terminal"),))
    store = _opened(accounting)
    span = _span(begin, end)
    rows = _rows(store, what, the_cluster(store, cluster), tenant, span)
    columns = [one.name for one in fields(Transition if what is What.WORKLOADS else PolicyStep)]
    try:
        count = _write_parquet(columns, rows, out) if form is ExportForm.PARQUET and out else _csv(columns, rows, out)
    except OSError as error:
        raise mistaken(out or Path(), trouble_in_words(error), "a file to write to", "--out") from error
    talk(f"{count} rows")


def _opened(accounting: str | None) -> Store:
    if accounting is None:
        raise InputError((Mistake("--accounting", "nothing", "where the history is kept, or $TRIMTAB_ACCOUNTING"),))
    return open_store(accounting)


def _rows(store: Store, what: What, cluster: str, tenant: str | None, span: Span) -> Iterator[Transition | PolicyStep]:
    from collector.accounting.store import Wanted

    wanted = Wanted(cluster, tenant, span.begin, span.end)
    return store.transitions(wanted) if what is What.WORKLOADS else iter(store.policy_steps(wanted))


def _span(begin: str | None, end: str | None) -> Span:
    now = time.time()
    span = Span(0.0 if begin is None else _read("--from", begin, now), now if end is None else _read("--to", end, now))
    if span.end <= span.begin:
        raise InputError((Mistake("--from", told(str(begin)), "a moment before --to"),))
    return span


def _read(option: str, text: str, now: float) -> float:
    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return parse_time(aware.isoformat()) or 0.0
    except ValueError:
        expected = "a date, an RFC 3339 time (UTC unless it says otherwise), or a duration such as 7d"
        raise InputError((Mistake(option, told(text), expected),)) from None


def _show(rows: Sequence[Transition | PolicyStep], left_out: int, blind: Sequence[Span]) -> None:
    shown = console()
    if left_out:
        shown.print(f"{left_out} earlier rows are not shown (--limit).")
    if rows and isinstance(rows[0], Transition):
        lines = table(left("AT"), left("STATE"), right("GPUS"), right("WAITED"), left("TENANT"), left("WORK"), left(""))
        for row in rows:
            if isinstance(row, Transition):
                lines.add_row(*transition_cells(row))
        shown.print(lines)
    elif rows:
        lines = table(left("AT"), left("STAGE"), right("GPUS"), left("TENANT"), left("CHANGE"), left("WHY"))
        for step in rows:
            if isinstance(step, PolicyStep):
                stage = f"{step.stage}: {step.verdict}" if step.verdict else step.stage
                lines.add_row(format_time(step.at), stage, str(step.gpus), step.tenant, step.change, step.reason)
        shown.print(lines)
    else:
        shown.print("Nothing happened in this span, as far as it was seen.")
    if blind:
        told = [
            f"{format_time(gap.begin)} to {format_time(gap.end)} ({format_duration(gap.end - gap.begin)})"
            for gap in blind
        ]
        shown.print(section("Gaps: nobody looked", *told))


def _csv(columns: Sequence[str], rows: Iterable[Transition | PolicyStep], out: Path | None) -> int:
    if out is not None:
        with out.open("w", encoding="utf-8", newline="") as file:
            return _write_csv(columns, rows, file)
    text = io.StringIO(newline="")
    count = _write_csv(columns, rows, text)
    print_text(text.getvalue())
    return count


def _write_csv(columns: Sequence[str], rows: Iterable[Transition | PolicyStep], file: Any) -> int:
    writer = csv.writer(file)
    writer.writerow(columns)
    count = 0
    for row in rows:
        writer.writerow([_cell(value) for value in row_record(row).values()])
        count += 1
    return count


def _cell(value: object) -> object:
    """Text that a spreadsheet would take for a formula is kept from being one."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def _write_parquet(columns: Sequence[str], rows: Iterable[Transition | PolicyStep], out: Path) -> int:
    import pyarrow
    from pyarrow import parquet

    values = [list(column) for column in zip(*map(astuple, rows), strict=True)] or [[] for _ in columns]
    arrays = {name: _array(pyarrow, name, column) for name, column in zip(columns, values, strict=True)}
    written = pyarrow.table(arrays)
    parquet.write_table(written, out)
    return int(written.num_rows)


_MOMENTS: Final = ("at", "seen_before")
_WHOLE: Final = ("step", "gpus", "pods", "priority", "evictions", "unseen")


def _array(pyarrow: Any, name: str, column: Sequence[Any]) -> Any:
    if name in _MOMENTS:
        exact = [None if value is None else round(value * 1000) for value in column]
        return pyarrow.array(exact, pyarrow.timestamp("ms", tz="UTC"))
    if name in _WHOLE:
        return pyarrow.array(column, pyarrow.int64())
    if name == "waited_seconds":
        return pyarrow.array(column, pyarrow.float64())
    if name == "waited_is_lower_bound":
        return pyarrow.array(column, pyarrow.bool_())
    return pyarrow.array([str(value) for value in column], pyarrow.string())

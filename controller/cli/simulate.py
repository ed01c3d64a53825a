"""`trimtab simulate`: a recorded workload under a fixed setting: who would have waited, how long. Asks no cluster."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from collector.model.quantities import format_duration
from controller.api.errors import InputError, Mistake
from controller.api.shown_values import printable
from controller.cli.options import Format
from controller.cli.output import Output, console, left, print_json, right, table
from controller.cli.progress import progress
from controller.cli.values import path_for
from controller.files.reading import read_text
from controller.simulate.baselines import NATIVE, Baseline, Conditions, Engine, Placement

if TYPE_CHECKING:
    from controller.evaluate.steered_trace import Steering
    from controller.evaluate.trace_run import TraceRun
    from controller.simulate.outcome import TenantOutcome


TracePath: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--trace",
        parser=path_for("--trace"),
        metavar="FILE",
        help="The recorded workload, plain or gzip; generated: drawn from published distributions and --seed.",
    ),
]
FormatName: TypeAlias = Annotated[
    str | None, typer.Option("--format", help="Its format; a wrong name lists all. [default: told by its columns]")
]
Begin: TypeAlias = Annotated[str | None, typer.Option("--from", help="Only jobs from this date or time on.")]
Finish: TypeAlias = Annotated[str | None, typer.Option("--to", help="Only jobs before this date or time.")]
EngineChoice: TypeAlias = Annotated[Engine, typer.Option("--engine", help="Whose rules apply.")]
QuotaPath: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--quotas",
        parser=path_for("--quotas"),
        metavar="FILE",
        help="CSV with tenant and gpus. [default: by each tenant's mean demand, at load 0.7]",
    ),
]
Capacity: TypeAlias = Annotated[
    float,
    typer.Option(
        "--capacity", min=0.001, max=1000.0, help="Size of the cluster: every quota is scaled, in whole nodes."
    ),
]
PlacementChoice: TypeAlias = Annotated[
    Placement, typer.Option("--placement", help="Gangs on whole nodes, or GPUs only counted.")
]
Restart: TypeAlias = Annotated[
    float, typer.Option("--restart", min=0.0, max=604800.0, help="Seconds of work that an evicted job does again.")
]
PolicyName: TypeAlias = Annotated[
    str, typer.Option("--policy", help="static, pool, kueue-fixed, strict, edf, trimtab, or a file with a Policy.")
]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", help="Draws a generated workload, and when jobs save their work.")
]
PlotPath: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        parser=path_for("--plot"),
        metavar="FILE",
        help="Also draw it: a .png or .html file; needs trimtab\\[charts].",
    ),
]


def simulate(
    trace: TracePath,
    form: FormatName = None,
    begin: Begin = None,
    finish: Finish = None,
    engine: EngineChoice = Engine.KUEUE,
    quotas: QuotaPath = None,
    capacity: Capacity = 1.0,
    placement: PlacementChoice = Placement.COUNTS,
    restart: Restart = 30.0,
    policy: PolicyName = "kueue-fixed",
    seed: Seed = 0,
    output: Format = Output.TEXT,
    plot: PlotPath = None,
) -> None:
    """Run a recorded workload under a setting, and say who would have waited how long.

    Policies: static (each tenant its quota), pool (one queue, no quota), kueue-fixed (borrow and reclaim), strict
    (priority evicts at once), edf (earliest deadline first), trimtab (as it is shipped), or a file with a Policy, run
    as if in mode Enforce. Formats: philly, chronus, muri, elasticflow, shockwave, openb, history (trimtab
    accounting export), and your own as CSV with the columns tenant, submitted, run_seconds and gpus.

    Example: trimtab simulate --trace philly.csv.gz --quotas philly_vc.csv --capacity 0.25 --from 2017-10-01

    Exit code 0: done; 2: bad input.
    """
    # Only now: help and mistakes in options need none of it.
    from controller.evaluate.trace_run import Request, simulate_trace

    conditions = Conditions(engine, placement, restart, seed)
    draw = None if plot is None else _drawer(plot)
    request = Request(
        trace,
        policy_named(policy, engine),
        form,
        _moment("--from", begin, -inf),
        _moment("--to", finish, inf),
        quotas,
        capacity,
        conditions,
    )
    with progress(policy) as tell:
        run = simulate_trace(request, tell)
    if draw is not None:
        draw(run)
    if output is Output.JSON:
        print_json(run.document())
    else:
        _show(run)


def policy_named(said: str, engine: Engine) -> Baseline | Steering:
    """A fixed setting by name, Trimtab as it is shipped, or Trimtab by a file of documents."""
    from controller.api.documents import parse_documents
    from controller.evaluate.score import SHIPPED
    from controller.evaluate.steered_trace import Steering

    known = [one.value for one in Baseline if engine is Engine.KUEUE or one in NATIVE]
    if said in known:
        return Baseline(said)
    path = Path(said)
    if engine is Engine.KUEUE and said == "trimtab":
        return Steering(SHIPPED)
    if engine is Engine.KUEUE and path.is_file():
        documents = parse_documents(read_text(path, "a Policy document", "--policy"), said)
        return Steering(documents.policy, said, documents.site.tiers)
    also = ", trimtab, or a file with a Policy" if engine is Engine.KUEUE else ""
    raise InputError(
        (Mistake("--policy", printable(said), f"with engine {engine.value} one of {', '.join(known)}{also}"),)
    )


def _drawer(plot: Path) -> Callable[[TraceRun], None]:
    from controller.evaluate.chart import drawer

    return drawer(plot)


def _moment(option: str, text: str | None, otherwise: float) -> float:
    if text is None:
        return otherwise
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError((Mistake(option, printable(text), "an ISO date or time such as 2017-10-01"),)) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _show(run: TraceRun) -> None:
    screen, everyone = console(), run.outcome.all
    titles = ("quota", "jobs", "mean wait", "p95 wait", "attained", "evictions", "lost GPU h")
    rows = table(left("tenant", min_width=8), *map(right, titles))
    for share in run.shares:
        own = run.outcome.tenants[share.tenant]
        attained = "" if own.attainment is None else f"{own.attainment:.4f}"
        rows.add_row(share.tenant, str(share.quota), f"{own.jobs:,}", *_waits(own), attained, *_losses(own))
    rows.add_row("all", str(run.capacity_gpus), f"{everyone.jobs:,}", *_waits(everyone), "", *_losses(everyone))
    screen.print(rows)
    if isfinite(run.outcome.allocation_ratio):
        screen.print(f"{run.outcome.allocation_ratio:.1%} of all GPU time in use from the first submission to the last")
    if everyone.deadlines_missed_ratio is not None:
        screen.print(f"{everyone.deadlines_missed_ratio:.1%} of the jobs with a deadline missed it")
    if run.outcome.unfinished:
        screen.print(f"{run.outcome.unfinished:,} jobs never ended")
    for reason, count in sorted(run.left_out.items()):
        screen.print(f"left out: {count:,} rows: {reason}")
    if run.changes:
        screen.print(f"{run.changes:,} changes")
    screen.print(f"{everyone.jobs:,} jobs in {run.wall_seconds:.2f} s · settings {run.settings_digest[:12]}")


def _waits(own: TenantOutcome) -> tuple[str, str]:
    if not own.jobs:
        return "-", "-"  # nobody waited, and nobody did not
    return (format_duration(own.mean_wait_seconds), format_duration(own.p95_wait_seconds))


def _losses(own: TenantOutcome) -> tuple[str, str]:
    return (f"{own.preemptions:,}", f"{own.gpu_seconds_lost / 3600.0:,.0f}")

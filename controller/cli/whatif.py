"""`trimtab whatif`: some tenants with more or less quota, on what really happened. Asks no cluster."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from controller.cli.effect_screen import drawer_for, show
from controller.cli.options import Accounting, Config, Format
from controller.cli.output import Output
from controller.cli.progress import progress
from controller.cli.recorded import Cluster, PoolName, Seeds, Source, Trace, asked, moment, site_of
from controller.cli.simulate import (
    Capacity,
    EngineChoice,
    FormatName,
    PlacementChoice,
    PlotPath,
    PolicyName,
    QuotaPath,
    Restart,
    policy_named,
)
from controller.simulate.baselines import Conditions, Engine, Placement

_WEEK_SECONDS = 7 * 86400.0


def whatif(
    shifts: Annotated[
        list[str],
        typer.Argument(metavar="TENANT=±GPUS...", help="GPUs more or less, such as vision=-32 speech=+32."),
    ],
    weeks: Annotated[float, typer.Option("--weeks", min=0.01, max=10_000.0, help="So many last weeks.")] = 4.0,
    finish: Annotated[
        str | None, typer.Option("--to", help="Weeks before this date or time. [default: the end of what is known]")
    ] = None,
    trace: Trace = None,
    form: FormatName = None,
    accounting: Accounting = None,
    cluster: Cluster = None,
    pool: PoolName = None,
    config: Config = None,
    quotas: QuotaPath = None,
    capacity: Capacity = 1.0,
    engine: EngineChoice = Engine.KUEUE,
    placement: PlacementChoice = Placement.COUNTS,
    restart: Restart = 30.0,
    policy: PolicyName = "kueue-fixed",
    seeds: Seeds = 5,
    output: Format = Output.TEXT,
    plot: PlotPath = None,
) -> None:
    """Say in one sentence what other quotas would have done: who would have waited how much less, at whose cost.

    The jobs of the last weeks run twice, with the quotas as agreed (--quotas, else the documents of --config) and with
    those asked for; what does not add up to nothing is a larger or smaller cluster. The figures stand below.

    Example: trimtab whatif vision=-32 speech=+32 --weeks 4 --accounting history.db --config tenants/

    Exit code 0: answered; 2: bad input; 3: the history can not be read.
    """
    # Only now: help and mistakes in options need none of it.
    from controller.evaluate.counterfactual import Arrangement, Question, compared
    from controller.evaluate.effect_words import quota_sentence
    from controller.evaluate.quota_shift import shifted, shifts_of

    wanted, deciding, draw = shifts_of(shifts), policy_named(policy, engine), drawer_for(plot)
    source, span = Source(trace, form, accounting, cluster, pool), partial(_span, weeks, finish)
    recording = source.read(lambda now: span(now)[0])
    data = asked(source, recording, span(recording.end), (quotas, site_of(config)), capacity)
    before = data.quotas.shares
    sides = (Arrangement(before, deciding), Arrangement(shifted(before, wanted), deciding))
    question = Question(data.recording.jobs, data.begin, *sides, Conditions(engine, placement, restart), seeds)
    with progress("what if") as tell:
        answer = compared(question, tell)
    settings = {"shifts_gpus": dict(wanted), "weeks": weeks, "policy": policy}
    show(quota_sentence(answer, wanted, data.span), answer, data, (output, settings), draw)


def _span(weeks: float, finish: str | None, now: float) -> tuple[float, float]:
    until = moment("--to", finish, now, now)
    return until - weeks * _WEEK_SECONDS, until

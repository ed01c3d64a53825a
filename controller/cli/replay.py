"""`trimtab replay`: what really happened, decided by another policy. Asks no cluster and writes nothing."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    QuotaPath,
    Restart,
    policy_named,
)
from controller.simulate.baselines import Baseline, Conditions, Engine, Placement

if TYPE_CHECKING:
    from collector.model.tenancy import Site

_USUAL = {Engine.KUEUE: "kueue-fixed", Engine.NATIVE: "static"}


def replay(
    policy: Annotated[
        str, typer.Option("--policy", help="A file with a Policy (and Tenants); or trimtab, or a fixed setting.")
    ],
    begin: Annotated[
        str | None, typer.Option("--from", help="First moment: a date, a time, or how long before the end, such as 7d.")
    ] = None,
    finish: Annotated[str | None, typer.Option("--to", help="Moment before which it ends, in the same forms.")] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", help="What to compare with, as --policy. [default: the engine's fixed settings]"),
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
    seeds: Seeds = 5,
    output: Format = Output.TEXT,
    plot: PlotPath = None,
) -> None:
    """Say what a policy would have done with what really happened: for each tenant, and how sure that is.

    The jobs of the span run twice, under the fixed settings of the engine (or --against) and under the policy, as if in
    mode Enforce. Quotas are those of --quotas, else of the Tenants in --config or beside the policy.

    Example: trimtab replay --accounting history.db --from 28d --policy policy.yaml --config tenants/

    Exit code 0: answered; 2: bad input; 3: the history can not be read.
    """
    # Only now: help and mistakes in options need none of it.
    from controller.evaluate.counterfactual import Arrangement, Question, compared
    from controller.evaluate.effect_words import policy_sentence

    usual = against or _USUAL[engine]
    deciding, fixed, draw = policy_named(policy, engine), policy_named(usual, engine), drawer_for(plot)
    source = Source(trace, form, accounting, cluster, pool)
    recording = source.read(lambda now: moment("--from", begin, now, -inf))
    span = (moment("--from", begin, recording.end, -inf), moment("--to", finish, recording.end, inf))
    data = asked(source, recording, span, (quotas, _site(config, policy)), capacity)
    sides = (Arrangement(data.quotas.shares, fixed), Arrangement(data.quotas.shares, deciding))
    question = Question(data.recording.jobs, data.begin, *sides, Conditions(engine, placement, restart), seeds)
    with progress(policy) as tell:
        answer = compared(question, tell)
    settings = {"policy": policy, "against": usual}
    show(policy_sentence(answer, policy, usual, data.span), answer, data, (output, settings), draw)


def _site(config: list[Path] | None, policy: str) -> Site | None:
    """The tenants of the documents, which may stand beside the policy."""
    by_name = policy in ("trimtab", *Baseline)  # also where a folder happens to be called so
    if config or by_name or not Path(policy).exists():
        return site_of(config)
    return site_of([Path(policy)])

"""`trimtab run janitor`: ends expired changes at the baseline, softly, with no Prometheus and no controller."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from collector.model.quantities import counted, format_time
from collector.sources.kubernetes_api import connect
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.options import (
    Cluster,
    Context,
    Documents,
    Format,
    Kubeconfig,
    ListenNotNeeded,
    MaxModeNotNeeded,
    PrometheusNotNeeded,
    TimeScale,
)
from controller.cli.output import REFUSED, UNREACHABLE, Output, print_json, print_text, talk
from controller.cli.steering import (
    Baseline,
    blind_code,
    checked_baseline,
    never_decides,
    now,
    one_shot,
    settings_for,
)
from controller.policy.change import Change, Stage
from controller.policy.ledger_text import change_document


def run_janitor(
    config: Documents,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    baseline: Baseline = None,
    namespace: Namespace = NAMESPACE,
    cluster: Cluster = "default",
    time_scale: TimeScale = 1.0,
    max_mode: MaxModeNotNeeded = None,
    listen: ListenNotNeeded = None,
    prometheus_url: PrometheusNotNeeded = None,
    output: Format = Output.TEXT,
) -> None:
    """Look once and send back whatever has outlived its time; run it every few minutes as a CronJob.

    It decides nothing new, ever. It works beside a running controller: whoever writes the ledger first wins.

    Example: trimtab run janitor --config /etc/trimtab

    Exit code 0: what had to go back went back; 2: bad input; 3: not all could be read, so not all could be judged; 4:
    something was refused, or may not be read. The problems are told.
    """
    settings = settings_for(config, namespace, baseline, cluster, time_scale)
    controller = one_shot(settings, connect(kubeconfig, context), never_decides("the janitor asks no Prometheus"))
    policy = controller.configuration.load().policy.scaled(time_scale)
    checked_baseline(controller)
    young = [
        change
        for change in controller.store.load().active
        if change.stage is Stage.INTENDED and now() - change.created_at < 2 * policy.cadence.tick_seconds
    ]
    if young:
        _tell(output, now(), young, f"Change {young[0].id} is being written right now: nothing to do.", ())
        return
    report = controller.tick()
    seen = report.observation
    unseen = seen.snapshot.blind if seen else ()
    problems = (*report.problems, *(f"Not seen, so nothing was sent back: {reason}" for reason in unseen))
    active = report.ledger.active
    _tell(output, report.at, active, f"{counted(len(active), 'change')} in force.", problems)
    if seen is None:
        raise typer.Exit(UNREACHABLE)
    raise typer.Exit(REFUSED if report.problems else blind_code(unseen, seen.picture))


def _tell(output: Output, at: float, active: Sequence[Change], sentence: str, problems: Sequence[str]) -> None:
    if output is Output.JSON:
        changes = [change_document(change) for change in active]
        told = {"at": format_time(at), "sentence": sentence, "active_changes": changes, "problems": list(problems)}
        print_json(told)
    else:
        print_text(f"{sentence}\n")
        for problem in problems:
            talk(problem)

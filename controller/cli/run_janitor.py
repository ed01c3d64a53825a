"""`trimtab run janitor`: ends expired changes at the baseline, softly, with no Prometheus and no controller."""

from __future__ import annotations

import json

import typer

from collector.sources.kubernetes_api import connect
from controller.cli.options import (
    Cluster,
    Context,
    Documents,
    Kubeconfig,
    ListenNotNeeded,
    MaxModeNotNeeded,
    PrometheusNotNeeded,
    TimeScale,
)
from controller.cli.output import REFUSED, talk
from controller.cli.steering import NAMESPACE, Baseline, Namespace, never_decides, now, one_shot, settings_for
from controller.policy.change import Stage
from controller.runtime.status import status_document


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
) -> None:
    """Look once and send back whatever has outlived its time; run it every few minutes as a CronJob.

    It decides nothing new, ever. It works beside a running controller: whoever writes the ledger first wins.
    Exit code 4 when something could not be read or was refused: see the problems it prints.

    Example: trimtab run janitor --config /etc/trimtab
    """
    settings = settings_for(config, namespace, baseline, cluster, time_scale)
    controller = one_shot(settings, connect(kubeconfig, context), never_decides("the janitor asks no Prometheus"))
    policy = controller.configuration.load().policy.scaled(time_scale)
    young = [
        change.id
        for change in controller.store.load().active
        if change.stage is Stage.INTENDED and now() - change.created_at < 2 * policy.cadence.tick_seconds
    ]
    if young:
        talk(f"Change {young[0]} is being written right now: nothing to do.")
        return
    report = controller.tick()
    document = status_document(report)
    talk(json.dumps({key: document[key] for key in ("at", "active_changes", "problems")}, sort_keys=True))
    if report.problems:
        raise typer.Exit(REFUSED)

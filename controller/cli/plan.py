"""`trimtab plan`: what the controller would decide right now, written down and not applied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import typer
from rich.text import Text

from collector.sources.kubernetes_api import connect
from controller.actuators.port import NoWrites
from controller.api.policy import Mode
from controller.cli.advice_text import print_advice, print_classes
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.options import Accounting, Cluster, Context, Documents, Format, Kubeconfig, PrometheusUrl, TimeScale
from controller.cli.output import FINDINGS, OK, Output, console, print_json, section, talk
from controller.cli.predictions import forecasts, learned_from, predictions, print_predictions
from controller.cli.steering import (
    Baseline,
    blind_code,
    checked_baseline,
    now,
    one_shot,
    settings_for,
)
from controller.policy.engine import decide
from controller.runtime.advice import advice
from controller.runtime.status import status_document
from controller.runtime.tick import TickReport


def plan(
    config: Documents,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    prometheus_url: PrometheusUrl = None,
    baseline: Baseline = None,
    namespace: Namespace = NAMESPACE,
    cluster: Cluster = "default",
    time_scale: TimeScale = 1.0,
    accounting: Accounting = None,
    output: Format = Output.TEXT,
) -> None:
    """Decide once on the cluster as it is, as if confirmed and allowed, and write nothing.

    Each move is shown field by field, with the command that applies it: marked, so that it ends by itself as any other.

    With --accounting the simulator runs forward from the picture, with run times learned from what ended, and says when
    waiting work would start, as it is and with the moves, and who may be evicted.

    Exit code 1 when it would change something; 3 when it is blind, so that nothing can be decided; 4 when it is blind
    for want of rights.

    Example: trimtab plan --config tenants/ --prometheus-url http://prometheus:9090
    """
    settings = settings_for(config, namespace, baseline, cluster, time_scale, prometheus_url)
    controller = one_shot(settings, connect(kubeconfig, context))
    controller.actuator = NoWrites()
    documents = controller.configuration.load()
    checked_baseline(controller)
    policy = documents.policy.scaled(time_scale)
    learned = None if accounting is None else learned_from(accounting, cluster)
    ledger = controller.store.load()
    agreed = controller.baseline_source.read()
    observation = controller.observer.look(documents.site.scaled(time_scale), agreed, now())
    certain = replace(policy, mode=Mode.ENFORCE, paused=False, cadence=replace(policy.cadence, confirm_ticks=1))
    outcome = decide(observation.snapshot, certain, Mode.ENFORCE, ledger, observation.targets)
    told = advice(ledger, outcome.ledger, agreed, observation.snapshot.site, observation.targets)
    report = TickReport(
        observation.snapshot.taken_at, policy.mode, "", outcome, observation, outcome.ledger, advice=told
    )
    known = {change.id for change in ledger.changes}
    new = [change for change in outcome.ledger.changes if change.id not in known]
    predicted = None if learned is None else predictions(observation.snapshot, observation.targets, new, learned)
    document = {**status_document(report), "forecasts": forecasts(new), "predictions": predicted}
    if output is Output.JSON:
        print_json({**document, "would_change": None if document["blind"] else _changed(document)})
    else:
        _print(document)
    if document["blind"] and prometheus_url is None:
        talk("Without --prometheus-url nothing can be decided.")
    code = blind_code(document["blind"], observation.picture)
    raise typer.Exit(code or (FINDINGS if _changed(document) else OK))


def _changed(document: dict[str, Any]) -> list[str]:
    return [item["change"] for item in document["findings"] if item["change"]]


def _print(document: dict[str, Any]) -> None:
    out = console()
    out.print(Text(document["sentence"], style="bold"))
    for item in document["findings"]:
        out.print(
            section(f"{item['tenant']} / {item['pool']}: {item['kind']}", Text(item["finding"]), Text(_told(item)))
        )
    print_advice(out, "To apply by hand:", document["advice"])
    print_classes(out, document["classes"])
    if not document["blind"]:
        print_predictions(out, document["predictions"])
    if len(document["blind"]) > 1:  # one alone stands in the sentence
        out.print(section("Blind", *(Text(f"- {reason}") for reason in document["blind"])))


def _told(item: dict[str, Any]) -> str:
    return item["decision"] if item["change"] else f"{item['decision']} [{item['refusal']}]"

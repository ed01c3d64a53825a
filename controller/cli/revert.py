"""`trimtab revert`: undo one change, a tenant's, or all, at once or softly; works while no controller runs."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from collector.sources.kubernetes_api import KubernetesApi, connect
from collector.sources.kubernetes_lists import look_once
from controller.actuators.server_side_apply import ServerSideApply
from controller.api.errors import InputError, Mistake
from controller.api.shown_values import told
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.options import Context, Format, Kubeconfig
from controller.cli.output import REFUSED, Output, print_json, talk
from controller.cli.steering import Baseline, unless_crossed
from controller.cli.values import words_for
from controller.knobs import own
from controller.policy.change import Change
from controller.runtime.control import BaselineSource, Control, write_control
from controller.runtime.ledger_store import LedgerStore
from controller.runtime.reverting import Because, Reverted, everything_back, sent_back


def revert(
    change: Annotated[
        str | None,
        typer.Argument(
            parser=words_for("CHANGE", "the beginning of a change's id"), help="Id of the change, or its beginning."
        ),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", parser=words_for("--tenant", "the name of a tenant"), help="All changes of this tenant."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Kill switch: pause Trimtab, then write the whole baseline.")
    ] = False,
    soft: Annotated[
        bool, typer.Option("--soft", help="Follow usage down: nobody is evicted. With --all: pause, and undo all so.")
    ] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the record.")] = "asked for by a person",
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    baseline: Baseline = None,
    namespace: Namespace = NAMESPACE,
    output: Format = Output.TEXT,
) -> None:
    """Undo changes. Without --soft this may evict what was admitted under them.

    --all leaves Trimtab paused, until `trimtab resume`. Without --soft it then writes the baseline itself, with or
    without a running controller. The others mark changes; the controller's next tick (or the janitor's) does it.

    Examples: trimtab revert --all --reason "incident 4711" · trimtab revert --tenant vision --soft
    """
    if sum((change is not None, tenant is not None, everything)) != 1:
        raise InputError((Mistake("revert", "no target, or several", "one of: a change id, --tenant, --all"),))
    api = connect(kubeconfig, context)
    because = Because(reason, time.time())
    at_once = everything and not soft
    # Read first: a baseline that is missing must not leave the site paused and nothing undone.
    agreed = _agreed(BaselineSource(api, namespace, baseline)) if at_once else own.Baseline()
    if everything:
        write_control(api, namespace, Control(paused=f"revert --all: {reason}"))
        talk("Trimtab is paused now: no new changes until `trimtab resume`.")
    if at_once:
        done = _all_at_once(api, namespace, agreed, because)
    else:
        done = _marked(LedgerStore(api, namespace), change, tenant, because, hard=not soft)
    _report(done, output, paused=everything, soft=soft)


def _agreed(source: BaselineSource) -> own.Baseline:
    baseline = source.read()
    if not baseline.names:
        expected = "ConfigMap trimtab-baseline or --baseline FILE"
        raise InputError((Mistake("baseline", "none found", expected),))
    return baseline


def _all_at_once(api: KubernetesApi, namespace: str, baseline: own.Baseline, because: Because) -> Reverted:
    def write() -> Reverted:
        store = LedgerStore(api, namespace)
        return everything_back(look_once(api, because.now), baseline, store, ServerSideApply(api), because)

    lost = Reverted((), (), (), ("the ledger kept changing: stop the controller and try again",))
    return unless_crossed(write) or lost


def _marked(
    store: LedgerStore, identifier: str | None, tenant: str | None, because: Because, *, hard: bool
) -> Reverted:
    def wanted(change: Change) -> bool:
        if identifier is not None:
            return change.id.startswith(identifier)
        return tenant is None or change.tenant == tenant

    if identifier is not None and store.load().find(identifier) is None:
        raise InputError((Mistake("change", told(identifier), "the beginning of exactly one change's id"),))
    lost = Reverted((), (), (), ("the ledger kept changing: try again",))
    return unless_crossed(lambda: sent_back(store, wanted, because, hard=hard)) or lost


def _report(done: Reverted, output: Output, *, paused: bool, soft: bool) -> None:
    if output is Output.JSON:
        print_json(
            {
                "written": list(done.written),
                "ended": list(done.ended),
                "returning": list(done.returning),
                "problems": list(done.problems),
                "paused": paused,
            }
        )
    else:
        for name in done.written:
            talk(f"{name} holds its baseline.")
        for identifier in done.ended:
            talk(f"Change {identifier} is ended.")
        how = "softly, as its GPUs become free, from" if soft else "with"
        for identifier in done.returning:
            talk(f"Change {identifier} goes back {how} the next tick of controller or janitor.")
        if not (done.written or done.ended or done.returning or done.problems):
            talk("No change is in force.")
    for problem in done.problems:
        talk(problem)
    if done.problems:
        raise typer.Exit(REFUSED)

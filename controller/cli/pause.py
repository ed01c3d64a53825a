"""`trimtab pause` and `trimtab resume`: no new changes; what is in force still ends on time, undone when it hurts."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.sources.kubernetes_api import connect
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.options import Context, Kubeconfig
from controller.cli.output import REFUSED, Failed, talk
from controller.cli.steering import unless_crossed
from controller.runtime.control import Control, write_control
from controller.runtime.ledger_store import LedgerStore
from controller.runtime.reverting import lifted_latch


def pause(
    reason: Annotated[str, typer.Option("--reason", help="Why, for whoever reads the status.")],
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    namespace: Namespace = NAMESPACE,
) -> None:
    """Stop new changes at once. Reverts go on.

    Example: trimtab pause --reason "maintenance of pool h100 until noon"
    """
    write_control(connect(kubeconfig, context), namespace, Control(paused=reason or "paused by a person"))
    talk("Paused: no new changes. Changes in force still end on time. Undo: trimtab resume.")


def resume(kubeconfig: Kubeconfig = None, context: Context = None, namespace: Namespace = NAMESPACE) -> None:
    """Allow new changes again (a policy that is itself paused stays so), also where a mistake of ours had latched them.

    Example: trimtab resume
    """
    api = connect(kubeconfig, context)
    write_control(api, namespace, Control())
    reason = unless_crossed(lambda: lifted_latch(LedgerStore(api, namespace)))
    if reason is None:
        sentence = "Not paused any more, but the ledger kept changing, so a latch may still be there: try again."
        raise Failed(sentence, REFUSED)
    talk(f"Resumed. A latch is lifted, which said: {reason}." if reason else "Resumed.")

"""The command `trimtab`: finds the verb, loads only its module, and turns errors into one sentence and an exit code.

Exit codes: 0 ok, 1 findings or goal missed, 2 bad input, 3 source unreachable, 4 refused. Knows nothing of any verb but
its name.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer

from collector.sources.errors import CredentialsProblem, SourceError
from controller.api.errors import InputError
from controller.cli.output import BAD_INPUT, UNREACHABLE, talk

_COMPLETION = "_TRIMTAB_COMPLETE"

_ABOUT: Final = """Find who starves on a shared GPU cluster, say why, and trim the quotas of its schedulers.

Start with: [bold]trimtab look[/bold] (reads only, needs no configuration).

Exit codes: 0 ok · 1 findings, or a goal missed · 2 bad input · 3 a source cannot be reached · 4 refused.
"""


@dataclass(frozen=True, slots=True)
class Verb:
    """A command: the words that call it, the function that carries it out, and one line for the list of commands."""

    words: str
    function: str
    line: str

    def load(self) -> Callable[..., Any]:
        """Import its module and give the function."""
        module, _, name = self.function.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found


VERBS: Final = (
    Verb("look", "controller.cli.look:look", "One screen: where every GPU stands, who waits and why, what is wrong."),
    Verb("waits", "controller.cli.waits:waits", "Everything that waits, the longest first, each with its reason."),
    Verb("explain", "controller.cli.explain:explain", "Why a workload waits, how a tenant stands, what a change did."),
    Verb("status", "controller.cli.status:status", "What the controller said last: findings, changes, verdicts."),
    Verb("plan", "controller.cli.plan:plan", "What would be decided right now, and why not; writes nothing."),
    Verb("pause", "controller.cli.pause:pause", "No new changes from now on."),
    Verb("resume", "controller.cli.pause:resume", "Allow new changes again."),
    Verb("revert", "controller.cli.revert:revert", "Undo a change, a tenant's, or all: the kill switch."),
    Verb("collect", "controller.cli.collect:collect", "What an exporter, probe or /sys says, in one set of names."),
    Verb("doctor sources", "controller.cli.doctor:sources", "Is each source reached, what is missing, how to fix it."),
    Verb("validate", "controller.cli.validate:validate", "Check Tenant and Policy documents."),
    Verb("demo", "controller.cli.demo:demo", "The whole loop on a simulated cluster, until Ctrl-C."),
    Verb("render baseline", "controller.cli.render:render_baseline", "The manifest that the kill switch goes back to."),
    Verb("render rbac", "controller.cli.render:render_rbac", "Service accounts and roles, as few rights as can be."),
    Verb("render rules", "controller.cli.render:render_rules", "Prometheus rules with this site's own objectives."),
    Verb("report weekly", "controller.cli.report:weekly", "Where every GPU-hour of a week went, as a page or JSON."),
    Verb("run controller", "controller.cli.run_controller:run_controller", "The loop: watch, decide, steer."),
    Verb("run collector", "controller.cli.run_collector:run_collector", "Metrics per tenant, queue and pool."),
    Verb("run janitor", "controller.cli.run_janitor:run_janitor", "End what has outlived its time; for a CronJob."),
)


def build(arguments: Sequence[str]) -> typer.Typer:
    """The command line, with the module of the called verb loaded and all others only named."""
    app = typer.Typer(help=_ABOUT, rich_markup_mode="rich", pretty_exceptions_enable=False, no_args_is_help=True)
    app.callback()(_root)
    groups: dict[str, typer.Typer] = {}
    called = [word for word in arguments if not word.startswith("-")][:2]
    for verb in VERBS:
        *above, name = verb.words.split()
        is_called = called[: len(above) + 1] == [*above, name] or _COMPLETION in os.environ
        parent = app
        if above:
            if above[0] not in groups:
                groups[above[0]] = typer.Typer(help=_GROUPS[above[0]], no_args_is_help=True)
                app.add_typer(groups[above[0]], name=above[0])
            parent = groups[above[0]]
        function = verb.load() if is_called else _named_only
        parent.command(name, help=_flowing(function.__doc__ or ""), short_help=verb.line)(function)
    return app


def _flowing(text: str) -> str:
    """Paragraphs without the line ends of the source, so that they fill whatever width the reader has."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


_GROUPS: Final = {
    "doctor": "Find out why something is not seen.",
    "render": "Print a manifest or rule file made from the documents.",
    "report": "Write a report to send.",
    "run": "Run one of the long-lived programs.",
}


def main() -> NoReturn:
    """Entry point of `trimtab` and of `kubectl trimtab`."""
    name = "kubectl trimtab" if Path(sys.argv[0]).name.startswith("kubectl-") else "trimtab"
    sys.exit(run(sys.argv[1:], name))


def run(arguments: Sequence[str], name: str = "trimtab") -> int:
    """Carry out one command line; the exit code."""
    try:
        typer.main.get_command(build(arguments)).main(list(arguments), prog_name=name)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else BAD_INPUT
    except (InputError, CredentialsProblem, SourceError) as error:
        for sentence in _sentences(error):
            talk(sentence)
        return UNREACHABLE if isinstance(error, SourceError) else BAD_INPUT
    return 0


def _sentences(error: InputError | CredentialsProblem | SourceError) -> Iterator[str]:
    if isinstance(error, InputError):
        yield from (str(mistake) for mistake in error.mistakes)
    else:
        yield str(error)


def _named_only() -> None:
    """Stands in the list of commands; the called verb is always loaded itself."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trimtab {version('trimtab')}")
        raise typer.Exit


def _root(
    shown: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass

"""Makes the command line out of the list of verbs, loads the module of the called one alone, and carries it out.

Errors pass through: whoever calls decides what is said of them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from controller.cli.output import print_text
from controller.cli.verb import Verb

_COMPLETION = "_TRIMTAB_COMPLETE"
_FEWEST_COLUMNS: Final = 10

_WORDS: Final = ((Path, "FILE"), (str, "TEXT"), (float, "NUMBER"), (bool, ""), (int, "NUMBER"))
"""What an option of that type is said to take."""
Verbal = Callable[..., Any]

_ABOUT: Final = """Find who starves on a shared GPU cluster, say why, and trim the quotas of its schedulers.

Start with: [bold]trimtab look[/bold] (reads only, needs no configuration).

Exit codes: 0 ok · 1 findings, or a goal missed · 2 bad input · 3 a source cannot be reached · 4 refused.
"""


def carry_out(verbs: Sequence[Verb], groups: Mapping[str, str], arguments: Sequence[str], name: str) -> int:
    """Do what the words ask for; the exit code. `groups`: first word of a two-word verb → what is below it."""
    _forget_useless_size()
    command = typer.main.get_command(_build(verbs, groups, arguments))
    if _COMPLETION in os.environ:
        command.main(list(arguments), prog_name=name)
    try:
        with command.make_context(name, list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _build(verbs: Sequence[Verb], groups: Mapping[str, str], arguments: Sequence[str]) -> typer.Typer:
    """The command line, with the module of the called verb loaded and all others only named."""
    app = typer.Typer(help=_ABOUT, rich_markup_mode="rich", pretty_exceptions_enable=False, no_args_is_help=True)
    app.callback()(_root)
    parents: dict[str, typer.Typer] = {}
    called = [word for word in arguments if not word.startswith("-")][:2]
    for verb in verbs:
        *above, name = verb.words.split()
        is_called = called[: len(above) + 1] == [*above, name] or _COMPLETION in os.environ
        parent = app
        if above:
            if above[0] not in parents:
                parents[above[0]] = typer.Typer(help=groups[above[0]], no_args_is_help=True)
                app.add_typer(parents[above[0]], name=above[0])
            parent = parents[above[0]]
        function = _named(verb.load()) if is_called else _named_only
        parent.command(name, help=_flowing(function.__doc__ or ""), short_help=verb.line)(function)
    return app


def _named(function: Verbal) -> Verbal:
    """With a word for what each option takes, where it has none of its own: the library would show Python's type."""
    hints = get_type_hints(function, include_extras=True)
    for hint in hints.values():
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        for note in notes:
            if isinstance(note, OptionInfo) and note.metavar is None:
                note.metavar = next((word for one, word in _WORDS if one in _kinds(kind)), None)
    function.__annotations__ = hints  # else the library makes them again out of their text
    return function


def _kinds(hint: object) -> set[object]:
    """The types within list[…] and … | None."""
    inner = get_args(hint)
    return {kind for one in inner for kind in _kinds(one)} if inner else {hint}


def _forget_useless_size() -> None:
    """A terminal whose size nobody knows is said to have 0 columns, on which the library would print nothing at all."""
    for name, fewest in (("COLUMNS", _FEWEST_COLUMNS), ("LINES", 1)):
        size = os.environ.get(name, "")
        if size.isdecimal() and int(size) < fewest:
            del os.environ[name]


def _flowing(text: str) -> str:
    """Paragraphs without the line ends of the source, so that they fill whatever width the reader has."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _named_only() -> None:
    """Stands in the list of commands; the called verb is always loaded itself."""


def _print_version(wanted: bool) -> None:
    if wanted:
        print_text(f"trimtab {version('trimtab')}\n")
        raise typer.Exit


def _root(
    shown: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass

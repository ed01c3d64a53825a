"""What is said of an error, and its exit code: to people one sentence on stderr, to scripts one JSON object on stdout.

The last to speak: nothing here may raise. Decides nothing else.
"""

from __future__ import annotations

import errno
import os
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

import typer

from collector.sources.errors import CredentialsProblem, Forbidden, SourceError
from controller.api.errors import ApplyError, InputError, Mistake
from controller.cli.output import BAD_INPUT, REFUSED, UNREACHABLE, Failed, Unwritten, print_json, talk
from controller.cli.rights import missing_right
from controller.files.reading import trouble_in_words

FAULT: Final = 70
UNWRITTEN: Final = 74
STOPPED: Final = 130
READER_GONE: Final = 141
"""As a shell says it of a program that was ended by SIGPIPE."""

_OF_STREAMS: Final = frozenset((errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF))

WrongCommandLine: Final = cast(type[Exception], typer.BadParameter.__base__)
"""Typer shows of its errors on a command line only this one's child."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as it is told. No sentences: nothing is said to people."""

    code: int
    sentences: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()

    def document(self) -> dict[str, Any]:
        """For scripts."""
        listed = [{"place": one.place, "value": one.value, "expected": one.expected} for one in self.mistakes]
        return {"error": "\n".join(self.sentences), "exit_code": self.code, "mistakes": listed}


def failure_of(error: Exception) -> Failure:
    """What there is to say of it."""
    match error:
        case InputError():
            return Failure(BAD_INPUT, tuple(map(str, error.mistakes)), error.mistakes)
        case CredentialsProblem():
            mistake = Mistake(error.place, error.problem, "a kubeconfig with an address and an identity")
            return Failure(BAD_INPUT, (_without_cluster(error),), (mistake,))
        case Failed():
            return Failure(error.code, (error.sentence,))
        case SourceError() | ApplyError():
            return _of_source(error)
        case typer.Abort():
            return Failure(STOPPED)
    if isinstance(error, WrongCommandLine):
        return Failure(BAD_INPUT, (cast(typer.BadParameter, error).format_message(),))
    return _of_system(error) or Failure(FAULT, (_fault(error),))


def tell(error: Exception, arguments: Sequence[str]) -> int:
    """Say it to whoever called with these arguments; the exit code."""
    failure = failure_of(error)
    # A stream that takes nothing is no reason to fail anew: the exit code says what there is to say.
    with suppress(Unwritten, OSError):
        if wants_json(arguments) and failure.code not in (UNWRITTEN, READER_GONE):
            print_json(failure.document())
    with suppress(OSError):
        if isinstance(error, WrongCommandLine):
            _show_usage(error)
        else:
            for sentence in failure.sentences:
                talk(sentence)
    return failure.code


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the words ask for JSON, also when they are no good command line."""
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(
        (word in ("-o", "--output") and following == "json") or word in ("-ojson", "-o=json", "--output=json")
        for word, following in pairs
    )


def _show_usage(error: Exception) -> None:
    # Only now: it loads what draws its frame.
    from typer.rich_utils import rich_format_error

    rich_format_error(cast(typer.BadParameter, error))


def _without_cluster(problem: CredentialsProblem) -> str:
    said = str(problem).rstrip(".")
    return f"{said}. Say which cluster with --kubeconfig FILE, or see Trimtab without one: trimtab demo."


def _of_source(error: SourceError | ApplyError) -> Failure:
    if isinstance(error, Forbidden):
        return Failure(REFUSED, (missing_right(error),))
    return Failure(REFUSED if isinstance(error, ApplyError) else UNREACHABLE, (str(error),))


def _of_system(error: Exception) -> Failure | None:
    """What the operating system said, where it is no fault of ours."""
    if isinstance(error, Unwritten):
        return _of_output(error.error)
    if isinstance(error, OSError) and error.filename is not None:
        return _of_file(error)
    if isinstance(error, OSError) and error.errno in _OF_STREAMS:
        return _of_output(error)
    return None


def _of_output(error: OSError) -> Failure:
    if isinstance(error, BrokenPipeError):
        return Failure(READER_GONE)
    return Failure(UNWRITTEN, (f"The answer can not be written: {trouble_in_words(error)}.",))


def _of_file(error: OSError) -> Failure:
    mistake = Mistake(os.fsdecode(error.filename), trouble_in_words(error), "a file or folder that can be used")
    return Failure(BAD_INPUT, (str(mistake),), (mistake,))


def _fault(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "an unknown place"
    text = f"trimtab {version('trimtab')}\n\n" + "".join(traceback.format_exception(error))
    try:
        descriptor, name = tempfile.mkstemp(prefix="trimtab-fault-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return f"A fault in Trimtab itself ({place}). Please report it with these details:\n{text}"
    return f"A fault in Trimtab itself ({place}). Please report it with the file {name}, which holds the details."

"""`python -m dashboards.render [--check]`: writes the generated boards, or says how they differ.

A board that breaks a house rule is not written. Nothing here draws: see `dashboards.boards`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from alerts.render.kept import check_kept, write_kept
from dashboards.boards import tenant
from dashboards.finish import board_text, finished
from dashboards.lint import board_problems

FOLDER: Final = "deploy/generated/dashboards"


def boards() -> Mapping[str, dict[str, Any]]:
    """Key of each board → its finished JSON model, for any site."""
    return MappingProxyType({tenant.KEY: finished(tenant.build(), tenant.KEY)})


def generated_boards() -> Mapping[str, str]:
    """Path below the root of the repository → text. Raises ValueError with every house rule that is broken."""
    found = {key: board_problems(board) for key, board in boards().items()}
    broken = [f"{key}: {problem}" for key, problems in found.items() for problem in problems]
    if broken:
        raise ValueError("\n".join(broken))
    return MappingProxyType({f"{FOLDER}/{key}.json": board_text(board) for key, board in boards().items()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: written, or up to date; 1: `--check` found a difference; 2: a board breaks a house rule."""
    parser = argparse.ArgumentParser(prog="python -m dashboards.render", description="Write the generated boards.")
    parser.add_argument("--check", action="store_true", help="compare only; exit code 1 and the difference on drift")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder that the path of each board starts from")
    options = parser.parse_args(arguments)
    try:
        files = generated_boards()
    except ValueError as error:
        parser.error(str(error))
    return check_kept(options.root, files) if options.check else write_kept(options.root, files)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m alerts.render [--check]`: writes the generated rules and pages, or says how they differ.

With `kept`, the only module of `alerts` that touches files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from alerts.render.files import generated_files
from alerts.render.kept import check_kept, write_kept


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: written, or up to date; 1: `--check` found a difference; 2: bad input."""
    parser = argparse.ArgumentParser(prog="python -m alerts.render", description="Write the generated rules and pages.")
    parser.add_argument("--check", action="store_true", help="compare only; exit code 1 and the difference on drift")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder that the paths start from")
    parser.add_argument("--time-scale", type=float, default=1.0, help="divide every duration by this")
    options = parser.parse_args(arguments)
    try:
        files = generated_files(options.time_scale)
    except ValueError as error:
        parser.error(str(error))
    return check_kept(options.root, files) if options.check else write_kept(options.root, files)


if __name__ == "__main__":
    sys.exit(main())

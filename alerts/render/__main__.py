"""`python -m alerts.render [--check]`: writes the generated rules and pages, or says how they differ.

The only module of `alerts` that reads and writes files.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from alerts.render.files import generated_files


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
    return _check(options.root, files) if options.check else _write(options.root, files)


def _check(root: Path, files: Mapping[str, str]) -> int:
    drift = "".join(_difference(root / name, name, text) for name, text in files.items())
    sys.stdout.write(drift)
    return 1 if drift else 0


def _difference(path: Path, name: str, text: str) -> str:
    kept = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines = difflib.unified_diff(
        kept.splitlines(), text.splitlines(), f"{name} (kept)", f"{name} (generated)", lineterm=""
    )
    return "".join(f"{line}\n" for line in lines)


def _write(root: Path, files: Mapping[str, str]) -> int:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

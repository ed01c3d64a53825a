"""Generated files as they are kept: compared with what their source gives now, or written. Knows nothing of them."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from pathlib import Path


def check_kept(root: Path, files: Mapping[str, str]) -> int:
    """Print how the kept files below `root` differ from `files` (path → text). Exit code 1 when any does."""
    drift = "".join(_difference(root / name, name, text) for name, text in files.items())
    sys.stdout.write(drift)
    return 1 if drift else 0


def write_kept(root: Path, files: Mapping[str, str]) -> int:
    """Write the files (path → text) below `root`. Exit code 0."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


def _difference(path: Path, name: str, text: str) -> str:
    kept = path.read_bytes().decode() if path.is_file() else ""  # as it is: a text would hide its ends of lines
    lines = difflib.unified_diff(
        kept.splitlines(keepends=True), text.splitlines(keepends=True), f"{name} (kept)", f"{name} (generated)"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

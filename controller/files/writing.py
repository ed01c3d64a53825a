"""Writes a file that a person names. Knows nothing of what the text means."""

from __future__ import annotations

from pathlib import Path

from controller.files.reading import mistaken, trouble_in_words


def write_text(path: Path, text: str, option: str) -> None:
    """Write `text` as UTF-8 to the file that `option` named. Raises InputError in plain words."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise mistaken(path, trouble_in_words(error), "a file to write to", option) from error

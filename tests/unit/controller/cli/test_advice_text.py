"""Advice on a terminal: a line per field, and a command that can be copied as it stands."""

from __future__ import annotations

import io

from rich.console import Console

from controller.cli.advice_text import print_advice

COMMAND = "kubectl apply --server-side --field-manager=trimtab -f - <<'END1'\n" + "a: [b]  # " + "x" * 200 + "\nEND1\n"
FIELD = {"kind": "ResourceQuota", "name": "trimtab-cap", "namespace": "vision", "path": "spec.hard['x']"}


def test_the_command_stands_whole_however_narrow_the_terminal() -> None:
    file = io.StringIO()
    item = {"change": "c1", "fields": [{**FIELD, "before": "0", "after": "4"}], "command": COMMAND}
    print_advice(Console(file=file, width=60), "To apply by hand:", [item])
    text = file.getvalue()
    assert text.startswith("To apply by hand: c1\n  ResourceQuota vision/trimtab-cap: spec.hard['x']: 0 → 4\n")
    assert f"\n{COMMAND}" in text

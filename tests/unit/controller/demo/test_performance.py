"""The demonstration as a whole, as far as it can be tried without its real programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.exporter.http import Address
from controller.api.errors import InputError
from controller.demo.monitoring import Programs
from controller.demo.performance import Performance, Play
from controller.demo.scenery import DEMO_SITE
from controller.demo.story import arranged


def test_without_a_place_for_temporary_files_it_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    play = Play(DEMO_SITE, arranged(1), 120.0, 1, Address("127.0.0.1", 0))
    nothing = Programs("prometheus", "alertmanager")
    with pytest.raises(InputError) as refused, Performance(play, nothing, lambda sentence: None):
        pass
    assert str(refused.value) == (
        "temporary files: got no such file or folder, expected a folder that can be written to, such as TMPDIR names"
    )

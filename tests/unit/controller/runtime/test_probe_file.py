"""The file of NICs: read again only when it changed, here or apart, with the same result and the same mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.runtime.probe_file import Found, ProbeFile, read_apart, read_here

TEXT = "period: 1h\nnodes:\n- {name: a, address: 10.0.0.1, nics: [{device: mlx5_0, address: 10.1.0.1, rail: 0}]}\n"


def test_it_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    read: list[Path] = []

    def counted(file: Path) -> Found:
        read.append(file)
        return read_here(file)

    path = tmp_path / "fabric.yaml"
    path.write_text(TEXT)
    file = ProbeFile(path, 60.0, counted)
    assert [file.settings().period_seconds for _ in range(3)] == [60.0] * 3
    assert len(read) == 1
    path.write_text(TEXT.replace("1h", "2h20m"))
    assert (file.settings().period_seconds, len(read)) == (140.0, 2)
    path.write_text("nodes: []\n")
    for _ in range(2):
        with pytest.raises(InputError):
            file.settings()
    assert len(read) == 3
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        file.settings()


def test_apart_it_says_the_same_as_here(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    for text in (TEXT, "nodes: []\n"):
        path.write_text(text)
        assert read_apart(path) == read_here(path)


def test_the_node_role_that_probes_does_not_load_what_judges_documents() -> None:
    program = "import sys, controller.cli.probe_options; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

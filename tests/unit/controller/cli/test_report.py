"""`trimtab report weekly`: mistakes of the command line, before anything is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli.main import run

URL = ["--prometheus-url", "http://127.0.0.1:9"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--week", "2026-W54"], "--week: got 2026-W54, expected an ISO week that has begun"),
        (["--week", "2999-W01"], "--week"),
        (["--week", "2025-W01", "--from", "2025-01-01", "--to", "2025-01-02"], "--week: got 2025-W01, expected either"),
        (["--from", "2025-01-01"], "--from: got alone, expected --from and --to together"),
        (["--to", "2025-01-01"], "--to: got alone"),
        (["--from", "2025-01-02", "--to", "2025-01-01"], "--from: got 2025-01-02"),
        (["--time-zone", "Nowhere"], "--time-zone: got Nowhere"),
        (["--prometheus-url", "localhost:9090"], "--prometheus-url: got localhost:9090"),
        (["--kubeconfig", "/nonexistent/kubeconfig"], "/nonexistent/kubeconfig"),
        (["-o", "pdf"], "pdf"),
    ],
)
def test_a_mistake_is_bad_input_in_one_sentence(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert run(["report", "weekly", *URL, *arguments]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert "Traceback" not in told.err
    assert told.out == ""


def test_a_prometheus_that_does_not_answer_is_a_source_out_of_reach(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert run(["report", "weekly", *URL, "--week", "2025-W01"]) == 3
    assert "Connection refused" in capsys.readouterr().err


def test_without_pandas_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.cli.report.find_spec", lambda name: None)
    assert run(["report", "weekly", *URL]) == 2
    assert "pipx install --force '.[reports]'" in capsys.readouterr().err


def test_no_other_verb_loads_pandas() -> None:
    check = (
        "import sys; from controller.cli.main import VERBS; [verb.load() for verb in VERBS]; "
        "sys.exit(str({'pandas', 'numpy'} & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""

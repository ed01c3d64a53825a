"""The command line as a whole: exit codes, one sentence per error, and nothing loaded before it is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from collector.sources.errors import SourceError, Unreachable
from controller.cli.main import VERBS, run
from controller.cli.output import NotedRows, left, right, shortened
from tests.views import starving_site, view_of_picture


def test_every_verb_has_its_function_and_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        assert run([*verb.words.split(), "--help"]) == 0
        assert "Usage: trimtab" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["look", "waits", "explain"])
def test_reading_verbs_teach_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    assert f"Example: trimtab {verb}" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["lok"], ["look", "--no-such-option"], ["look", "-o", "xml"], ["explain"]])
def test_a_wrong_command_line_is_bad_input(arguments: list[str]) -> None:
    assert run(arguments) == 2


def test_a_missing_kubeconfig_is_bad_input_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["look", "--kubeconfig", str(tmp_path / "none")]) == 2
    said = capsys.readouterr()
    assert str(tmp_path / "none") in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_prometheus_address_that_is_none_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["look", "--prometheus-url", "localhost:9090"]) == 2
    assert "--prometheus-url: got localhost:9090, expected an address such as" in capsys.readouterr().err


def test_broken_documents_are_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "policy.yaml").write_text("kind: Nothing", encoding="utf-8")
    assert run(["waits", "--config", str(tmp_path)]) == 2
    assert "policy.yaml" in capsys.readouterr().err


def test_a_server_that_does_not_answer_is_a_source_out_of_reach(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise Unreachable("GET", "/api/v1/nodes", "https://cluster.test: connection refused")

    monkeypatch.setattr("controller.cli.look.view_of", fail)
    assert run(["look"]) == 3
    assert "connection refused" in capsys.readouterr().err
    assert issubclass(Unreachable, SourceError)


def test_help_loads_no_verb() -> None:
    check = (
        "import sys; from controller.cli.main import run; code = run(['--help']); "
        "heavy = {'kubernetes', 'yaml', 'pydantic', 'requests', 'prometheus_api_client'} & set(sys.modules); "
        "sys.exit(f'{code} {sorted(heavy)}' if code or heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_long_lists_say_how_many_more_there_are() -> None:
    assert shortened(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert shortened(["a"]) == "a"


def test_equal_notes_in_a_row_stand_once(capsys: pytest.CaptureFixture[str]) -> None:
    from controller.cli.output import console

    console().print(NotedRows((left("A"), right("B")), [(("x", "1"), "same"), (("y", "2"), "same"), (("z", "3"), "")]))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "A  B",
        "x  1",
        "y  2",
        "  same",
        "z  3",
    ]


@pytest.mark.parametrize("columns", ["0", "1"])
def test_a_terminal_of_no_width_loses_no_words(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("controller.cli.look.view_of", lambda *_: view_of_picture(starving_site().picture()))
    assert run(["look"]) == 1
    assert "GPUs, now" in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", columns)
    assert run(["look", "--help"]) == 0
    assert "Usage: trimtab look" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["collect", "look", "run collector", "accounting export", "validate"])
def test_help_says_what_an_option_takes_in_words_and_not_as_a_type_of_python(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*verb.split(), "--help"]) == 0
    assert not re.search(r"--(?!help)\S+.*<(str|int|float|bool|Path|list.*)>", capsys.readouterr().out)

"""Every error ends as one sentence and one exit code of the contract; for scripts as one JSON object."""

from __future__ import annotations

import errno
import io
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from collector.sources.errors import CredentialsProblem, Forbidden, SourceError, TimedOut
from controller.api.errors import ApplyError, InputError, Mistake
from controller.cli.main import run
from controller.cli.output import Failed
from tests.views import starving_site, view_of_picture

COMMAND = (sys.executable, "-c", "from controller.cli.main import main; main()")
PODS = Forbidden("GET", "/api/v1/pods", 'User "ann" cannot list resource "pods"', status=403, reason="Forbidden")
CONTROL = Forbidden(
    "PATCH",
    "/api/v1/namespaces/trimtab-system/configmaps/trimtab-control",
    'User "ann" cannot patch resource "configmaps"',
    status=403,
    reason="Forbidden",
)
AT_PROMETHEUS = Forbidden("GET", "http://prometheus:9090/api/v1/query", "log in first", status=401)
EXPIRED = Forbidden("GET", "/api/v1/nodes", "Unauthorized", status=401, reason="Unauthorized")


def _ends(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, dict[str, Any]]:
    """Exit code, what is said, and the object for scripts, when a verb meets this error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("controller.cli.look.view_of", fail)
    code = run(["look"])
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert run(["look", "-o", "json"]) == code
    record: dict[str, Any] = orjson.loads(capsys.readouterr().out)
    assert (record["schema_version"], record["exit_code"]) == (1, code)
    return code, said.err, record


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError((Mistake("--week", "soon", "a week such as 2026-W48"),)), 2, "--week: got soon, expected a week"),
        (TimedOut("GET", "/api/v1/nodes", "no answer in time"), 3, "no answer in time"),
        (PODS, 4, "The right is missing to list pods in the whole cluster"),
        (CONTROL, 4, "to patch configmaps trimtab-control in namespace trimtab-system"),
        (EXPIRED, 4, "The token or certificate of the kubeconfig may have expired"),
        (AT_PROMETHEUS, 4, "The server refuses: GET http://prometheus:9090/api/v1/query: 401: log in first."),
        (
            Forbidden("GET", AT_PROMETHEUS.path, "no", status=403),
            4,
            "The server refuses: GET http://prometheus:9090/api/v1/query: 403: no.",
        ),
        (ApplyError("Cohort trimtab-vision", "FORBIDDEN", "not yours"), 4, "not yours"),
        (Failed("the ledger kept changing", 4), 4, "the ledger kept changing"),
        (FileNotFoundError(errno.ENOENT, "No such file", "notes.yaml"), 2, "notes.yaml: got no such file or folder"),
    ],
)
def test_each_error_has_its_exit_code_and_its_sentence(
    error: Exception, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found, words, record = _ends(error, monkeypatch, capsys)
    assert found == code
    assert said in words
    assert said in record["error"]


def test_scripts_get_place_value_and_expectation_of_each_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = InputError((Mistake("a", "1", "2"), Mistake("b", "3", "4")))
    _, words, record = _ends(error, monkeypatch, capsys)
    assert [tuple(one.values()) for one in record["mistakes"]] == [("a", "1", "2"), ("b", "3", "4")]
    assert words.splitlines() == ["a: got 1, expected 2", "b: got 3, expected 4"]


def test_whoever_has_no_cluster_is_shown_two_ways_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = CredentialsProblem("~/.kube/config", "no such file")
    code, words, _ = _ends(error, monkeypatch, capsys)
    assert code == 2
    assert "--kubeconfig FILE" in words
    assert "trimtab demo" in words


def test_a_fault_of_ours_is_one_sentence_and_its_details_are_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, words, _ = _ends(KeyError("nowhere"), monkeypatch, capsys)
    assert code == 70
    assert words.startswith("A fault in Trimtab itself (test_failure.py, line ")
    details = min(tmp_path.iterdir()).read_text(encoding="utf-8")
    assert "KeyError: 'nowhere'" in details


def test_a_fault_is_told_whole_where_no_file_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("nowhere")

    monkeypatch.setattr("controller.cli.look.view_of", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert run(["look"]) == 70
    assert "KeyError: 'nowhere'" in capsys.readouterr().err


@pytest.mark.parametrize("form", [["-o", "json"], ["-ojson"], ["--output", "json"], ["--output=json"]])
def test_a_wrong_command_line_is_an_object_for_scripts_as_well(
    form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["look", "--no-such-option", *form]) == 2
    said = capsys.readouterr()
    assert orjson.loads(said.out)["error"] == "No such option: --no-such-option"
    assert "Usage: trimtab look" in said.err


def test_a_person_who_stops_it_gets_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("controller.cli.look.view_of", stop)
    assert run(["look"]) == 130


def test_being_stopped_while_it_loads_is_no_fault() -> None:
    script = (
        "import builtins, os, signal, sys\n"
        "real = builtins.__import__\n"
        "def slow(name, *rest):\n"
        "    if name == 'typer': os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = slow\n"
        "sys.argv = ['trimtab', '--version']\n"
        "from controller.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize(
    "arguments", [["validate", "policy.yaml"], ["validate", "policy.yaml", "-o", "json"], ["--help"]]
)
def test_an_answer_that_can_not_be_written_is_said(arguments: list[str], tmp_path: Path) -> None:
    _policy(tmp_path)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path
        )
    assert (done.returncode, done.stderr) == (74, "The answer can not be written: a place with no room left.\n")


@pytest.mark.parametrize("arguments", [["validate", "policy.yaml"], ["--version"], ["look", "--help"]])
def test_a_reader_that_has_gone_ends_it_quietly(arguments: list[str], tmp_path: Path) -> None:
    _policy(tmp_path)
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (128 + signal.SIGPIPE, b"")


def _policy(folder: Path) -> None:
    text = "apiVersion: trimtab.io/v1alpha1\nkind: Policy\nmetadata: {name: default}\nspec: {mode: Observe}\n"
    (folder / "policy.yaml").write_text(text, encoding="utf-8")


def test_all_errors_of_sources_have_an_exit_code_of_the_contract(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in _below(SourceError):
        code, _, _ = _ends(kind("GET", "/api/v1/nodes", "why"), monkeypatch, capsys)
        assert code == (4 if issubclass(kind, Forbidden) else 3)


def _below(kind: type[SourceError]) -> set[type[SourceError]]:
    return {kind}.union(*map(_below, kind.__subclasses__()))


class _Gone(io.StringIO):
    """A stream whose reader has gone."""

    def flush(self) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def test_a_screen_whose_reader_has_gone_ends_it_quietly_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    view = view_of_picture(starving_site().picture())
    monkeypatch.setattr("controller.cli.look.view_of", lambda *_: view)
    monkeypatch.setattr("sys.stdout", _Gone())
    assert run(["look"]) == 141
    assert capsys.readouterr().err == ""


def test_a_closed_stdout_is_an_answer_that_can_not_be_written() -> None:
    line = shlex.join([*COMMAND, "--version"])
    done = subprocess.run(["/bin/sh", "-c", f"{line} >&-"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (74, "The answer can not be written: a place that can not be used.\n")

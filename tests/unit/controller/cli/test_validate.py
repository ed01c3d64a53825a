"""`trimtab validate`: exit codes, and both ways to print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from controller.cli.validate import validate

GOOD = "apiVersion: trimtab.io/v1alpha1\nkind: Policy\nmetadata: {name: default}\nspec: {mode: Observe}\n"


@pytest.fixture
def app() -> typer.Typer:
    application = typer.Typer()
    application.command()(validate)
    return application


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_good_documents_end_with_zero_and_a_summary(app: typer.Typer, document: Path) -> None:
    result = CliRunner().invoke(app, [str(document)])
    assert result.exit_code == 0
    assert "valid: policy default (mode Observe)" in result.stdout


def test_bad_documents_end_with_two_and_their_mistakes(app: typer.Typer, document: Path) -> None:
    document.write_text(GOOD.replace("Observe", "Off"), encoding="utf-8")
    result = CliRunner().invoke(app, [str(document)])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "spec.mode: got Off, expected Observe, Recommend or Enforce" in result.stderr


def test_an_absent_file_is_bad_input(app: typer.Typer, tmp_path: Path) -> None:
    assert CliRunner().invoke(app, [str(tmp_path / "absent.yaml")]).exit_code == 2


def test_scripts_get_json_for_good_documents(app: typer.Typer, document: Path) -> None:
    result = CliRunner().invoke(app, [str(document), "-o", "json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"schema_version": 1, "valid": True, "mistakes": []}


def test_scripts_get_json_for_bad_documents(app: typer.Typer, document: Path) -> None:
    document.write_text(GOOD.replace("Observe", "Off"), encoding="utf-8")
    result = CliRunner().invoke(app, [str(document), "--output", "json"])
    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert answer["valid"] is False
    (mistake,) = answer["mistakes"]
    assert mistake["place"].endswith("document 1 (Policy default): spec.mode")
    assert mistake["value"] == "Off"
    assert mistake["expected"].startswith("Observe, Recommend or Enforce")

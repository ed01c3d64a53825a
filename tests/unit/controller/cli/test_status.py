"""`trimtab status`: what it needs of a status is what the controller writes, and a status that lacks it is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.cli.main import run
from controller.runtime.status import status_document
from tests.unit.controller.runtime.stage import Stage

KUBECONFIG = str(Path(__file__).with_name("kubeconfig.yaml"))
Status = Callable[[dict[str, Any]], int]


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    """What a controller writes that has just moved something."""
    controller = Stage(tmp_path).controller()
    controller.tick()
    return status_document(controller.tick())


@pytest.fixture
def status(monkeypatch: pytest.MonkeyPatch) -> Status:
    """Calls the verb on a cluster that holds the document."""

    def call(document: dict[str, Any]) -> int:
        monkeypatch.setattr("controller.cli.status.read_status", lambda *_: document)
        monkeypatch.setattr("controller.cli.status.connect", lambda *_: None)
        return run(["status", "--kubeconfig", KUBECONFIG])

    return call


def test_what_the_controller_writes_is_shown(
    status: Status, document: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(document) == 1
    assert document["sentence"][:40] in capsys.readouterr().out


@pytest.mark.parametrize(
    "key", ["mode", "paused", "at", "sentence", "problems", "blind", "latched", "tenants", "findings", "active_changes"]
)
def test_a_status_that_people_or_another_version_wrote_is_told_and_is_no_fault_of_ours(
    status: Status, document: dict[str, Any], key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status({name: value for name, value in document.items() if name != key}) == 3
    assert f"lacks {key}" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["tenants", "findings", "active_changes", "recent_changes"])
def test_a_row_that_lacks_something_is_told_as_well(
    status: Status, document: dict[str, Any], key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status({**document, key: [{"note": "vision"}]}) == 3
    assert f"lacks {key}" in capsys.readouterr().err


def test_advice_about_storage_is_shown_and_a_status_of_before_has_none(
    status: Status, document: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert document["storage"] == []
    told = {"tenant": "vision", "storage": "rbd", "pattern": "9 operations/s.", "advice": ["Pack it.", "Spread it."]}
    status({**document, "storage": [told, {"note": "by hand"}]})
    assert "vision: 9 operations/s. Pack it. Spread it." in " ".join(capsys.readouterr().out.split())
    status({name: value for name, value in document.items() if name != "storage"})
    assert "Storage" not in capsys.readouterr().out

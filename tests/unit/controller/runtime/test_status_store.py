"""The status in the cluster: whole where it fits into a ConfigMap, and never an old one for want of room."""

from __future__ import annotations

from typing import Any

from alerts.signals import signals_from_webhook
from controller.runtime.ledger_store import LARGEST_BYTES
from controller.runtime.status import StatusBoard
from controller.runtime.status_store import StatusStore, read_status
from tests.unit.controller.runtime.memory_api import MemoryApi
from tests.unit.controller.runtime.stage import HOME


def kept(document: dict[str, Any]) -> dict[str, Any]:
    """What others read of it."""
    api = MemoryApi()
    StatusStore(api, HOME, lambda: 0.0).write(document)
    found = read_status(api, HOME)
    assert found is not None
    return found


def test_a_status_that_fits_is_kept_as_it_is() -> None:
    document = {"sentence": "well", "problems": [], "tenants": [{"tenant": "vision"}]}
    assert kept(document) == document


def test_a_status_that_is_too_large_goes_without_its_tenants_and_says_so() -> None:
    rows = [{"tenant": f"t{number}", "note": "x" * 1000} for number in range(LARGEST_BYTES // 1000)]
    found = kept({"sentence": "well", "problems": ["one"], "tenants": rows})
    assert (found["sentence"], found["tenants"]) == ("well", [])
    assert found["problems"][0] == "one"
    assert "its tenants are left out here" in found["problems"][1]


def test_the_words_of_an_alert_are_cut_short() -> None:
    labels = {"alertname": "TrimtabTenantStarved", "trimtab_signal": "starved"}
    alert = {"labels": labels, "startsAt": "2026-03-01T12:00:00Z", "annotations": {"summary": "x" * 100_000}}
    board = StatusBoard()
    board.ring(signals_from_webhook({"alerts": [alert]}).signals, 0.0)
    (told,) = board.alerts
    assert 0 < len(told["summary"]) <= 500

"""The chronicle tells each thing once, and knows a change for a wrong cause."""

from __future__ import annotations

from typing import Any

from controller.demo.chronicle import SEEN_WITHIN_SECONDS, Chronicle, Kind
from controller.demo.summary import Summary


def chronicle(**slow_seconds: float) -> Chronicle:
    return Chronicle(lambda: 100.0, lambda at: slow_seconds)


def change(**more: Any) -> dict[str, Any]:
    told = {
        "id": "c1",
        "tenant": "vision",
        "created_at": 99.0,
        "reason": "moved",
        "verdict": None,
        "verdict_reason": "",
    }
    return {**told, "return_reason": "", "ended_at": None, **more}


def finding(cause: str, tenant: str = "speech") -> dict[str, Any]:
    return {"tenant": tenant, "kind": "starved", "cause": cause, "finding": "found", "decision": "decided"}


def kinds(told: Chronicle) -> list[Kind]:
    return [entry.kind for entry in told.entries]


def test_a_change_is_told_with_its_verdict_and_its_end_once_each() -> None:
    told = chronicle()
    told.write({"active_changes": [change()]})
    told.write({"active_changes": [change(verdict="no-effect", verdict_reason="late")]})
    ended = change(verdict="no-effect", return_reason="verdict", ended_at="then")
    told.write({"recent_changes": [ended]})
    told.write({"recent_changes": [ended]})
    assert kinds(told) == [Kind.CHANGE, Kind.VERDICT, Kind.BACK]
    assert told.verdict_counts() == {"helped": 0, "no_effect": 1, "hurt": 0, "cannot_tell": 0}
    assert told.wrong_cause_changes == []


def test_a_change_made_when_the_trouble_could_be_seen_is_one_for_a_wrong_cause_and_is_named() -> None:
    told = chronicle(vision=SEEN_WITHIN_SECONDS)
    told.write({"active_changes": [change()]})
    told.write({"active_changes": [change()]})
    assert told.wrong_cause_changes == ["c1"]
    assert kinds(told) == [Kind.CHANGE, Kind.WRONG]
    assert told.entries[-1].text == "c1 was made for vision although its storage had been slow for 6 s."


def test_a_change_made_before_anybody_could_see_the_trouble_followed_no_wrong_cause() -> None:
    told = chronicle(vision=SEEN_WITHIN_SECONDS - 0.1)
    told.write({"active_changes": [change()]})
    told.write({"active_changes": [change()], "findings": [finding("ceph", "vision")]})
    assert told.wrong_cause_changes == []


def test_a_change_against_what_its_own_look_found_is_one_for_a_wrong_cause_however_early() -> None:
    told = chronicle()
    told.write({"active_changes": [change()], "findings": [finding("rdma", "vision")]})
    assert told.wrong_cause_changes == ["c1"]
    assert told.entries[-1].text == "c1 was made for vision although the same look found rdma."


def test_storage_counts_as_named_while_it_is_in_trouble() -> None:
    right, wrong = chronicle(speech=1.0), chronicle()
    for told in (right, wrong):
        told.write({"findings": [finding("ceph")]})
    assert (right.storage_named, wrong.storage_named) == ({"speech"}, set())


def test_a_finding_is_told_when_it_comes_and_when_it_comes_again() -> None:
    told = chronicle()
    for document in (
        {"findings": [finding("scheduling")]},
        {"findings": [finding("scheduling")]},
        {},
        {"findings": [finding("ceph")]},
    ):
        told.write(document)
    assert kinds(told) == [Kind.FINDING, Kind.LEFT_ALONE]


def test_the_same_alert_is_told_once_and_a_resolved_one_not_at_all() -> None:
    told = chronicle()
    alert = {"at": "now", "alert": "Starved", "tenant": "vision", "status": "firing", "summary": "waits"}
    for _ in range(2):
        told.write({"alerts": [alert, {**alert, "status": "resolved"}]})
    assert kinds(told) == [Kind.ALERT]


def test_the_demonstration_passes_only_with_all_four() -> None:
    good = Summary(1, 1, {"helped": 1}, (), True, 60.0, 120.0, 1)
    assert good.passed
    assert good.document()["passed"] is True
    assert (good.document()["wrong_cause"], good.document()["wrong_cause_changes"]) == ((), 0)
    for worse in (
        Summary(0, 1, {"helped": 1}, (), True, 60.0, 120.0, 1),
        Summary(1, 0, {"helped": 1}, (), True, 60.0, 120.0, 1),
        Summary(1, 1, {"helped": 0, "hurt": 1}, (), True, 60.0, 120.0, 1),
        Summary(1, 1, {"helped": 1}, ("c1",), True, 60.0, 120.0, 1),
    ):
        assert not worse.passed

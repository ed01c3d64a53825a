"""What an Alertmanager posts becomes typed signals; what can not be read is named and hides nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from alerts.rules import SignalKind
from alerts.signals import SignalStatus, fingerprint, signals_from_webhook

LABELS = {
    "alertname": "TrimtabTenantStarved",
    "cluster": "a",
    "tenant": "vision",
    "pool": "h100",
    "severity": "warning",
    "trimtab_signal": "starved",
}
START = "2026-11-30T12:08:50.384Z"
START_SECONDS = 1796040530.384
NEVER = "0001-01-01T00:00:00Z"


def _alert(**changes: Any) -> dict[str, Any]:
    alert = {
        "status": "firing",
        "labels": LABELS,
        "annotations": {"summary": "vision waits"},
        "startsAt": START,
        "endsAt": NEVER,
        "generatorURL": "http://prometheus/graph",
        "fingerprint": "00000000000000aa",
    }
    return {name: value for name, value in {**alert, **changes}.items() if value is not None}


def _post(*alerts: Any, **changes: Any) -> dict[str, Any]:
    post = {"version": "4", "status": "firing", "groupKey": "{}:{tenant}", "truncatedAlerts": 0, "alerts": [*alerts]}
    return {**post, **changes}


def test_an_alert_of_ours_is_a_signal() -> None:
    reading = signals_from_webhook(_post(_alert()))
    (signal,) = reading.signals
    assert (signal.kind, signal.status) == (SignalKind.STARVED, SignalStatus.FIRING)
    assert (signal.cluster, signal.tenant, signal.pool) == ("a", "vision", "h100")
    assert signal.starts_at == pytest.approx(START_SECONDS)
    assert (signal.alert, signal.summary) == ("TrimtabTenantStarved", "vision waits")
    assert (reading.problems, reading.unknown_alerts, reading.truncated) == ((), (), 0)
    assert reading.rings
    assert reading.readable


def test_an_alert_without_tenant_or_pool_asks_to_look_at_all() -> None:
    labels = {"alertname": "TrimtabBlind", "trimtab_signal": "blind"}
    (signal,) = signals_from_webhook(_post(_alert(labels=labels))).signals
    assert (signal.kind, signal.cluster, signal.tenant, signal.pool) == (SignalKind.BLIND, None, None, None)


def test_the_same_news_has_the_same_key_and_other_news_another() -> None:
    def key(alert: dict[str, Any], **post: Any) -> str:
        return signals_from_webhook(_post(alert, **post)).signals[0].key

    same = key(_alert())
    assert key(_alert(annotations={"summary": "worse"}, endsAt=START, generatorURL="http://other")) == same
    assert key(_alert(startsAt="2026-11-30T13:08:50.384+01:00"), notification_reason="repeat") == same
    others = {
        key(_alert(status="resolved")),
        key(_alert(startsAt="2026-11-30T12:09:00Z")),
        key(_alert(fingerprint="00000000000000bb")),
        key(_alert(), groupKey="{}:{other}"),
    }
    assert len(others - {same}) == 4


def test_the_same_post_a_hundred_times_has_one_key() -> None:
    assert len({key for _ in range(100) for key in signals_from_webhook(_post(_alert())).keys}) == 1


def test_senders_without_fingerprint_get_the_one_that_newer_ones_send() -> None:
    (signal,) = signals_from_webhook(_post(_alert(fingerprint=None))).signals
    assert signal.fingerprint == fingerprint(LABELS)


@pytest.mark.parametrize(
    ("post_status", "ends_at", "status"),
    [
        ("firing", NEVER, SignalStatus.FIRING),
        ("firing", None, SignalStatus.FIRING),
        ("firing", "2026-11-30T12:10:00Z", SignalStatus.RESOLVED),
        ("resolved", NEVER, SignalStatus.RESOLVED),
    ],
)
def test_an_old_sender_s_status_is_read_from_the_end(
    post_status: str, ends_at: str | None, status: SignalStatus
) -> None:
    (signal,) = signals_from_webhook(_post(_alert(status=None, endsAt=ends_at), status=post_status)).signals
    assert signal.status is status


def test_resolved_alone_does_not_ring_and_a_cut_list_does() -> None:
    assert not signals_from_webhook(_post(_alert(status="resolved"))).rings
    cut = signals_from_webhook(_post(truncatedAlerts=3))
    assert (cut.rings, cut.truncated) == (True, 3)


@pytest.mark.parametrize(
    "labels", [{"alertname": "CephSlowOps"}, {"alertname": "CephSlowOps", "trimtab_signal": "new"}]
)
def test_alerts_that_are_not_ours_or_not_yet_known_are_named_and_do_not_ring(labels: dict[str, str]) -> None:
    reading = signals_from_webhook(_post(_alert(labels=labels), _alert(labels={})))
    assert reading.unknown_alerts == ("CephSlowOps", "without a name")
    assert (reading.signals, reading.problems, reading.rings) == ((), (), False)


@pytest.mark.parametrize(
    ("alert", "said"),
    [
        (7, "alerts[0]: found 7, expected an object"),
        (_alert(labels=None), "alerts[0].labels: found nothing, expected an object of texts"),
        (_alert(labels={**LABELS, "pool": 8}), "alerts[0].labels.pool: found 8, expected a text"),
        (_alert(startsAt=None), "alerts[0].startsAt: found nothing, expected an RFC 3339 time"),
        (_alert(startsAt="yesterday"), "alerts[0].startsAt: found 'yesterday', expected an RFC 3339 time"),
        (_alert(startsAt="2026-11-30T12:08:50"), "expected an RFC 3339 time"),
        (_alert(startsAt=NEVER), "expected an RFC 3339 time"),
        (_alert(startsAt="2026-13-77T12:08:50Z"), "expected an RFC 3339 time"),
    ],
)
def test_a_broken_alert_is_named_and_hides_no_other(alert: object, said: str) -> None:
    reading = signals_from_webhook(_post(alert, _alert()))
    assert len(reading.signals) == 1
    assert said in "; ".join(str(problem) for problem in reading.problems)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ([], "body: found [], expected an object"),
        (None, "body: found nothing, expected an object"),
        ({}, "alerts: found nothing, expected a list"),
        ({"alerts": {"a": 1}}, "alerts: found {'a': 1}, expected a list"),
    ],
)
def test_what_is_no_post_at_all_is_said_to_be_unreadable(payload: object, said: str) -> None:
    reading = signals_from_webhook(payload)
    assert (reading.readable, reading.rings, [str(problem) for problem in reading.problems]) == (False, False, [said])


@pytest.mark.parametrize("count", [-1, "3", True, None, 1.5])
def test_a_count_of_left_out_alerts_that_is_none_is_named(count: object) -> None:
    reading = signals_from_webhook(_post(_alert(), truncatedAlerts=count))
    assert [problem.path for problem in reading.problems] == ["truncatedAlerts"]
    assert len(reading.signals) == 1


def test_a_group_key_of_the_wrong_type_is_named() -> None:
    assert [problem.path for problem in signals_from_webhook(_post(groupKey=4)).problems] == ["groupKey"]


def test_long_values_are_cut_in_messages() -> None:
    (problem,) = signals_from_webhook("x" * 5000).problems
    assert len(str(problem)) < 150


def test_real_posts_are_read_and_their_fingerprints_are_the_computed_ones(shared_folder: Path) -> None:
    folder = shared_folder / "fixtures" / "own-captures"
    for path in sorted(folder.glob("alertmanager-webhook*.json")):
        payload = json.loads(path.read_text(encoding="utf-8"))
        reading = signals_from_webhook(payload)
        assert (reading.problems, reading.signals) == ((), ())
        assert reading.unknown_alerts == tuple(alert["labels"]["alertname"] for alert in payload["alerts"])
        assert [fingerprint(alert["labels"]) for alert in payload["alerts"]] == [
            alert["fingerprint"] for alert in payload["alerts"]
        ]


def test_a_real_post_of_an_old_sender_is_read_once_it_is_one_of_ours(shared_folder: Path) -> None:
    path = shared_folder / "fixtures" / "alertmanager-webhook" / "prom_post_request.json"
    payload = json.loads(path.read_text(encoding="utf-8"))
    payload["alerts"][0]["labels"]["trimtab_signal"] = "starved"
    reading = signals_from_webhook(payload)
    (signal,) = reading.signals
    assert reading.problems == ()
    assert signal.status is SignalStatus.FIRING
    assert signal.starts_at == pytest.approx(1520422401.873077)

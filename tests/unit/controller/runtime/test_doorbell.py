"""The doorbell: who may ring, what every kind of post is answered, and that news counts once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controller.runtime.doorbell import LARGEST_BODY_BYTES, Answer, Doorbell

TOKEN = "right"
AUTHORIZATION = f"Bearer {TOKEN}"


def post_of(
    *tenants: str, status: str = "firing", alert: str = "TrimtabTenantStarved", signal: str = "starved"
) -> bytes:
    """A post as Alertmanager sends it."""
    alerts = [
        {
            "status": status,
            "labels": {
                "alertname": alert,
                "cluster": "c",
                "tenant": tenant,
                "pool": "h100",
                **({"trimtab_signal": signal} if signal else {}),
            },
            "annotations": {},
            "startsAt": "2026-11-30T10:00:00Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "fingerprint": f"{tenant:0>16}",
        }
        for tenant in tenants
    ]
    body: dict[str, Any] = {
        "version": "4",
        "groupKey": "{}:{}",
        "status": status,
        "receiver": "trimtab",
        "alerts": alerts,
    }
    return json.dumps(body).encode()


def ring(doorbell: Doorbell, body: bytes, authorization: str | None = AUTHORIZATION) -> Answer:
    return doorbell.post(authorization, body)


def test_news_wakes_the_loop_and_is_taken_once() -> None:
    doorbell = Doorbell(TOKEN)
    answer = ring(doorbell, post_of("vision"))
    assert (answer.status, answer.body["accepted"]) == (200, 1)
    assert doorbell.woken.is_set()
    assert [signal.tenant for signal in doorbell.taken()] == ["vision"]
    assert not doorbell.woken.is_set()
    assert doorbell.taken() == ()


def test_the_same_post_a_hundred_times_has_one_effect() -> None:
    doorbell = Doorbell(TOKEN)
    answers = [ring(doorbell, post_of("vision")) for _ in range(100)]
    assert {answer.status for answer in answers} == {200}
    assert len(doorbell.taken()) == 1
    assert doorbell.counts == {"accepted": 1, "repeated": 99}


def test_a_post_with_a_part_left_out_rings_once_as_well() -> None:
    doorbell = Doorbell(TOKEN)
    cut = json.dumps({**json.loads(post_of("vision")), "truncatedAlerts": 3}).encode()
    ring(doorbell, cut)
    doorbell.taken()
    answers = [ring(doorbell, cut) for _ in range(99)]
    assert {answer.body["outcome"] for answer in answers} == {"repeated"}
    assert not doorbell.woken.is_set()


def test_more_that_is_left_out_of_the_same_post_rings_again() -> None:
    doorbell = Doorbell(TOKEN)
    for left_out in (3, 4):
        answer = ring(doorbell, json.dumps({**json.loads(post_of("vision")), "truncatedAlerts": left_out}).encode())
        assert answer.body["outcome"] == "accepted"
        assert doorbell.woken.is_set()
        doorbell.taken()


def test_a_firing_alert_that_is_resolved_is_news_again_but_no_reason_to_hurry() -> None:
    doorbell = Doorbell(TOKEN)
    ring(doorbell, post_of("vision"))
    doorbell.taken()
    assert ring(doorbell, post_of("vision", status="resolved")).body["accepted"] == 1
    assert not doorbell.woken.is_set()


@pytest.mark.parametrize("header", [None, "", "Bearer wrong", "Basic cmlnaHQ=", "right2", "right", "Bearer"])
def test_without_the_token_nobody_rings(header: str | None) -> None:
    doorbell = Doorbell(TOKEN)
    assert ring(doorbell, post_of("vision"), header).status == 401
    assert doorbell.taken() == ()


def test_the_word_before_the_token_may_be_written_as_one_likes() -> None:
    assert ring(Doorbell(TOKEN), post_of("vision"), f"bearer {TOKEN}").status == 200


def test_a_doorbell_without_a_token_stays_shut() -> None:
    assert ring(Doorbell(""), post_of("vision"), "Bearer ").status == 401


def test_an_oversized_post_is_refused() -> None:
    assert ring(Doorbell(TOKEN), b"x" * (LARGEST_BODY_BYTES + 1)).status == 413


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"[]", b'"text"', b"{}", b'{"alerts": 3}', b"[" * 100_000, b"\xff\xfe"]
)
def test_what_can_never_be_right_is_not_asked_for_again(body: bytes) -> None:
    doorbell = Doorbell(TOKEN)
    assert ring(doorbell, body).status == 400
    assert doorbell.taken() == ()


def test_an_unknown_alert_is_counted_and_not_obeyed() -> None:
    doorbell = Doorbell(TOKEN)
    answer = ring(doorbell, post_of("vision", alert="SomebodyElses", signal=""))
    assert (answer.status, answer.body["outcome"]) == (200, "unknown_alert")
    assert not doorbell.woken.is_set()


def test_a_busy_doorbell_asks_to_be_rung_again_and_then_takes_the_news() -> None:
    doorbell = Doorbell(TOKEN)
    crowd = post_of(*(f"tenant-{number}" for number in range(999)))
    assert ring(doorbell, crowd).status == 200
    late = post_of("late-1", "late-2")
    assert ring(doorbell, late).status == 503
    doorbell.taken()
    assert ring(doorbell, late).body["accepted"] == 2

"""Whatever a sender posts, reading it ends with an answer, and reading it again with the same one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from alerts.rules import SignalKind
from alerts.signals import signals_from_webhook

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
times = st.datetimes().map(lambda moment: moment.isoformat() + "Z") | st.just("0001-01-01T00:00:00Z")
labels = st.fixed_dictionaries(
    {"trimtab_signal": st.sampled_from([*SignalKind, "other"])},
    optional={name: st.text(max_size=10) for name in ("alertname", "cluster", "tenant", "pool", "severity")},
)
alerts = st.fixed_dictionaries(
    {"labels": labels | anything, "startsAt": times | anything},
    optional={
        "status": st.sampled_from(["firing", "resolved"]) | anything,
        "endsAt": times | anything,
        "fingerprint": anything,
        "annotations": anything,
    },
)
posts = st.fixed_dictionaries(
    {"alerts": st.lists(alerts | anything, max_size=4) | anything},
    optional={"groupKey": anything, "truncatedAlerts": anything, "status": anything},
)


@given(posts | anything)
def test_any_post_is_read_to_an_end(payload: Any) -> None:
    reading = signals_from_webhook(payload)
    assert signals_from_webhook(payload) == reading
    assert reading.readable == (isinstance(payload, dict) and isinstance(payload.get("alerts"), list))
    if reading.readable:
        accounted = len(reading.signals) + len(reading.unknown_alerts)
        broken = {problem.path.split(".")[0] for problem in reading.problems if problem.path.startswith("alerts[")}
        assert accounted + len(broken) == len(payload["alerts"])
    assert len(reading.keys) <= len(reading.signals)

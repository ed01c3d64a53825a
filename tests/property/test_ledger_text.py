"""The ledger as text: any change comes back as it was, later versions are read, and what is broken is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.policy.change import Change, Forecast, Stage, Verdict, WorkRef
from controller.policy.ledger_text import SCHEMA_VERSION, change_text, read_change
from tests.builders import a_change

names = st.text(max_size=12)
gpus = st.integers(0, 4096)
moments = st.floats(0, 4e9)
works = st.lists(st.builds(WorkRef, names, names, gpus), max_size=3).map(tuple)
forecasts = st.builds(Forecast, works, moments, works, st.floats(0, 1e6))


@st.composite
def changes(draw: st.DrawFn) -> Change:
    taken = draw(gpus)
    fields: dict[str, Any] = {
        name: draw(names) for name in ("id", "policy", "tenant", "pool", "source", "destination", "reason", "finding")
    }
    fields |= {name: draw(st.none() | moments) for name in ("applied_at", "judged_at", "returning_since", "ended_at")}
    return Change(
        **fields,
        amount=draw(gpus),
        forecast=draw(forecasts),
        created_at=draw(moments),
        expires_at=draw(moments),
        stage=draw(st.sampled_from(Stage)),
        taken=taken,
        given=draw(st.integers(0, taken)),
        taken_written=draw(gpus),
        given_written=draw(gpus),
        seen_ready=tuple(draw(st.lists(names, max_size=3))),
        evictions_before=draw(gpus),
        extended=draw(st.booleans()),
        verdict=draw(st.none() | st.sampled_from(Verdict)),
        verdict_reason=draw(names),
        return_reason=draw(names),
        unneeded_since=draw(st.none() | moments),
        hard=draw(st.booleans()),
    )


@given(changes())
def test_a_change_comes_back_as_it_was(change: Change) -> None:
    assert read_change(change_text(change)) == change


@given(changes())
def test_equal_changes_are_equal_text_of_one_line(change: Change) -> None:
    text = change_text(change)
    assert text == change_text(read_change(text))
    assert "\n" not in text
    assert json.loads(text)["schema_version"] == SCHEMA_VERSION
    assert json.loads(text)["inverse"] == change.inverse


@given(
    changes(), st.dictionaries(st.text(min_size=12, max_size=14), st.integers() | names | st.lists(names), max_size=3)
)
def test_fields_of_a_later_version_are_left_out(change: Change, later: dict[str, Any]) -> None:
    raw = json.loads(change_text(change))
    raw = later | raw
    raw["forecast"] = later | raw["forecast"]
    raw["forecast"]["ready"] = [later | work for work in raw["forecast"]["ready"]]
    assert read_change(json.dumps(raw)) == change


@given(changes())
def test_fields_that_an_earlier_version_did_not_write_take_their_default(change: Change) -> None:
    raw = json.loads(change_text(change))
    for name in ("seen_ready", "extended", "verdict", "hard", "unneeded_since", "taken_written", "schema_version"):
        del raw[name]
    del raw["forecast"]["evicted"]
    read = read_change(json.dumps(raw))
    assert (read.seen_ready, read.extended, read.verdict, read.hard, read.unneeded_since) == (
        (),
        False,
        None,
        False,
        None,
    )
    assert (read.id, read.taken, read.given) == (change.id, change.taken, change.given)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers() | names, st.lists).map(json.dumps))
def test_text_that_is_no_change_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a change of the ledger"):
        read_change(text)


SOUND = a_change(
    forecast=Forecast((WorkRef("k", "vision/late", 8),), 5.0), created_at=1.0, expires_at=9.0, taken=8, given=8
)


@pytest.mark.parametrize("name", ["id", "amount", "source", "destination", "forecast", "created_at", "expires_at"])
def test_a_change_without_what_it_needs_is_named(name: str) -> None:
    raw = json.loads(change_text(SOUND))
    del raw[name]
    with pytest.raises(ValueError, match=f"not a change of the ledger: {name}: Field required"):
        read_change(json.dumps(raw))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("amount", "8", "amount: "),
        ("amount", 8.5, "amount: "),
        ("amount", -8, "amount -8, 8 taken, 8 given"),
        ("given", 9, "amount 8, 8 taken, 9 given"),
        ("taken_written", -1, "amount 8"),
        ("stage", "flying", "stage: "),
        ("verdict", "good", "verdict: "),
        ("hard", "yes", "hard: "),
        ("seen_ready", "k", "seen_ready: "),
        ("forecast", [], "forecast: "),
        ("forecast", {"ready": [{"key": "k"}], "ready_by": 1.0}, "forecast.ready.0.title: "),
        ("expires_at", None, "expires_at: "),
        ("expires_at", float("inf"), "it has no end"),
        ("created_at", float("nan"), "it has no end"),
    ],
)
def test_a_field_that_is_wrong_is_named(name: str, value: object, told: str) -> None:
    raw = json.loads(change_text(SOUND)) | {name: value}
    with pytest.raises(ValueError, match="not a change of the ledger") as caught:
        read_change(json.dumps(raw))
    assert told in str(caught.value)

"""Marks on own objects: read back as written, whatever people make of them, and enough to find a lost change."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from controller.knobs.marks import CHANGES_ANNOTATION, Mark, adopted, annotations_for, marks_of
from controller.policy.change import Stage, Verdict
from tests.builders import a_change

END = 1_750_003_600.0
NOW = 1_750_000_000.0
MOVE = a_change(created_at=NOW, expires_at=END, stage=Stage.ON_TRIAL, taken=8, given=8)
SOURCE_MARK = Mark("trimtab-shared", "c1", "vision", "h100", "trimtab-shared", "trimtab-vision", 8, END)
DESTINATION_MARK = replace(SOURCE_MARK, object_name="trimtab-vision")


@pytest.mark.parametrize("mark", [SOURCE_MARK, DESTINATION_MARK])
def test_a_mark_is_read_back_as_it_was_written(mark: Mark) -> None:
    assert marks_of(mark.object_name, annotations_for(mark.object_name, [MOVE])) == (mark,)


def test_an_object_is_marked_only_with_what_moves_its_level() -> None:
    half = replace(MOVE, given=0, stage=Stage.INTENDED)
    assert annotations_for("trimtab-shared", [half])
    assert annotations_for("trimtab-vision", [half]) == {}
    assert annotations_for("trimtab-nlp", [MOVE]) == {}
    assert annotations_for("trimtab-shared", [MOVE.ended(NOW)]) == {}
    assert annotations_for("trimtab-shared", []) == {}


def test_marks_stand_in_one_order_so_that_equal_changes_are_equal_text() -> None:
    other = replace(MOVE, id="c0")
    texts = {annotations_for("trimtab-shared", pair)[CHANGES_ANNOTATION] for pair in ([MOVE, other], [other, MOVE])}
    assert len(texts) == 1
    assert [mark.id for mark in marks_of("trimtab-shared", {CHANGES_ANNOTATION: texts.pop()})] == ["c0", "c1"]


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "7", "null", '"text"', "{}", "[7]", "[null]", '["text"]', "[[]]", "[{}]", '{"id": "c1"}'],
)
def test_text_that_is_no_mark_is_no_mark(text: str) -> None:
    assert marks_of("trimtab-shared", {CHANGES_ANNOTATION: text}) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [("expiresAt", None), ("expiresAt", "tomorrow"), ("expiresAt", ""), ("gpus", "many"), ("gpus", None), ("gpus", -1)],
)
def test_a_mark_that_someone_broke_hides_no_other(field: str, value: object) -> None:
    two = json.loads(annotations_for("trimtab-shared", [MOVE, replace(MOVE, id="c2")])[CHANGES_ANNOTATION])
    two[0][field] = value
    marks = marks_of("trimtab-shared", {CHANGES_ANNOTATION: json.dumps(two)})
    assert [mark.id for mark in marks] == ["c2"]


def test_a_mark_may_lack_a_field_that_a_later_version_added() -> None:
    extended = json.loads(annotations_for("trimtab-shared", [MOVE])[CHANGES_ANNOTATION])
    extended[0]["colour"] = "green"
    assert marks_of("trimtab-shared", {CHANGES_ANNOTATION: json.dumps(extended)}) == (SOURCE_MARK,)


def test_a_known_change_is_not_adopted() -> None:
    assert adopted([MOVE.ended(NOW)], [SOURCE_MARK, DESTINATION_MARK], NOW) == ()


def test_a_complete_change_is_adopted_until_its_end_unjudged() -> None:
    (change,) = adopted([], [DESTINATION_MARK, SOURCE_MARK], NOW)
    assert (change.stage, change.verdict, change.expires_at) == (Stage.KEPT, Verdict.CANNOT_TELL, END)
    assert (change.amount, change.taken, change.given) == (8, 8, 8)
    assert (change.source, change.destination, change.tenant, change.pool) == (
        "trimtab-shared",
        "trimtab-vision",
        "vision",
        "h100",
    )


def test_a_change_that_was_only_taken_is_adopted_to_be_given_back() -> None:
    (change,) = adopted([], [SOURCE_MARK], NOW)
    assert (change.stage, change.amount, change.taken, change.given) == (Stage.RETURNING, 0, 8, 0)


def test_a_change_that_looks_only_given_is_adopted_as_taken_too_so_that_the_sum_holds() -> None:
    (change,) = adopted([], [DESTINATION_MARK], NOW)
    assert (change.stage, change.taken, change.given) == (Stage.RETURNING, 8, 8)
    assert (change.taken_written, change.given_written) == (0, 8)


def test_changes_are_adopted_in_order_of_their_ids() -> None:
    marks = [replace(SOURCE_MARK, id=name) for name in ("c3", "c1", "c2")]
    assert [change.id for change in adopted([], marks, NOW)] == ["c1", "c2", "c3"]

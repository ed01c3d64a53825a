"""Deadlines from what jobs declare to the snapshot, and what is told of those that can not be read."""

from __future__ import annotations

from dataclasses import replace

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.assemble.infer import infer_site
from collector.assemble.lies import lies
from collector.model.deadline import Deadline, DeadlineClass
from collector.model.objects import Picture, PriorityClass
from collector.model.snapshot import Evidence, Snapshot
from collector.parse.kubernetes import job, priority_class
from tests.pictures import PictureMaker

DUE = "1970-01-12T13:46:40Z"


def picture(deadline: str = DUE, expected_run: str = "3h", **classes: tuple[int, str]) -> Picture:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.tenant("a", floor=8)
    maker.work("a", "train", priority_class="soon")
    found = maker.picture()
    jobs = {uid: replace(one, deadline=deadline, expected_run=expected_run) for uid, one in found.jobs.items()}
    prepared = {name: PriorityClass(name, value, within) for name, (value, within) in classes.items()}
    return replace(found, jobs=jobs, workload_priority_classes=prepared)


def snapshot(seen: Picture) -> Snapshot:
    return assemble(seen, infer_site(seen, "test").site, Evidence(), WaitClocks(), seen.taken_at)[0]


def told(seen: Picture) -> list[str]:
    return [f"{lie.where}: {lie.sentence}" for lie in lies(seen, infer_site(seen, "test").site)]


def test_what_a_job_declares_reaches_the_snapshot_with_its_class() -> None:
    (work,) = snapshot(picture()).works
    assert (work.deadline, work.priority_class) == (Deadline(1_000_000.0, 10_800.0), "soon")
    (work,) = snapshot(picture(expected_run="")).works
    assert work.deadline == Deadline(1_000_000.0, 0.0)


def test_what_can_not_be_read_is_no_deadline_and_is_told() -> None:
    for seen in (picture(deadline="tomorrow"), picture(expected_run="long")):
        assert snapshot(seen).works[0].deadline is None
        assert any(line.startswith("Job a/train: It declares a deadline that can not be read") for line in told(seen))
    assert told(picture()) == []


def test_prepared_classes_stand_in_their_order() -> None:
    seen = picture(late=(-1, "missed"), soon=(9, "1h"), later=(5, "4h"), other=(7, ""))
    assert snapshot(seen).deadline_classes == (
        DeadlineClass("soon", 9, 3600.0),
        DeadlineClass("later", 5, 14400.0),
        DeadlineClass("late", -1, None),
    )
    assert told(seen) == []


def test_classes_in_the_wrong_order_or_without_sense_are_told() -> None:
    assert told(picture(soon=(5, "1h"), later=(5, "4h"))) == [
        "WorkloadPriorityClass soon: Its value 5 is not above the 5 of later, which is less urgent."
    ]
    (sentence,) = told(picture(soon=(5, "quickly")))
    assert "trimtab.io/deadline-within quickly is neither a duration such as 4h nor missed" in sentence


def test_annotations_are_read_from_the_objects() -> None:
    found = job(
        {
            "metadata": {
                "uid": "u",
                "namespace": "a",
                "name": "train",
                "creationTimestamp": DUE,
                "annotations": {"trimtab.io/deadline": DUE, "trimtab.io/expected-run": "3h"},
            },
            "spec": {"template": {"spec": {}}},
        }
    )
    assert (found.deadline, found.expected_run) == (DUE, "3h")
    prepared = {"metadata": {"name": "soon", "annotations": {"trimtab.io/deadline-within": "4h"}}, "value": 3}
    assert priority_class(prepared) == PriorityClass("soon", 3, "4h")

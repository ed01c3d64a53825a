"""The exposition parser on lines of every allowed form, on wrong lines, and on real captures."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from collector.parse.exposition import CUT_OFF, EXCERPT_CHARACTERS, Sample, parse_exposition, scrape_problem
from tests.benchmarks.bench_exposition import (
    captured_texts,
    reference_samples,
    same_sample,
    without_problems,
)


def only_sample(line: str) -> Sample:
    exposition = parse_exposition(line + "\n")
    assert exposition.problems == ()
    (sample,) = exposition.samples
    return sample


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("up 1", Sample("up", {}, 1.0)),
        ("up{} 1", Sample("up", {}, 1.0)),
        ('up{job="a"} 1', Sample("up", {"job": "a"}, 1.0)),
        ('up{job="a",} 1', Sample("up", {"job": "a"}, 1.0)),
        ('up{ job = "a" , pod="b" } 1', Sample("up", {"job": "a", "pod": "b"}, 1.0)),
        ('up {job="a"} 1', Sample("up", {"job": "a"}, 1.0)),
        ('up{job="a"}1', Sample("up", {"job": "a"}, 1.0)),
        ('up{job="a"}\t1\t2000', Sample("up", {"job": "a"}, 1.0, 2.0)),
        ("up\t1", Sample("up", {}, 1.0)),
        ("  up   1  2500 ", Sample("up", {}, 1.0, 2.5)),
        ("up 1 -1500", Sample("up", {}, 1.0, -1.5)),
        ("up 1\r", Sample("up", {}, 1.0)),
        ('up{job=""} 1', Sample("up", {"job": ""}, 1.0)),
        ("ceph_prioritycache:full_bytes 4e9", Sample("ceph_prioritycache:full_bytes", {}, 4e9)),
        ("up -Inf", Sample("up", {}, -math.inf)),
        ('up{le="+Inf"} +Inf', Sample("up", {"le": "+Inf"}, math.inf)),
        ('{"disk.used",job="a"} 1', Sample("disk.used", {"job": "a"}, 1.0)),
        ('{"disk.used"} 1 1000', Sample("disk.used", {}, 1.0, 1.0)),
        ('up{"k8s.pod"="a"} 1', Sample("up", {"k8s.pod": "a"}, 1.0)),
    ],
)
def test_every_allowed_form_of_a_line_is_read(line: str, expected: Sample) -> None:
    assert only_sample(line) == expected


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"a\\b", r"a\b"),
        (r"a\"b", 'a"b'),
        (r"a\nb", "a\nb"),
        (r"a\\nb", r"a\nb"),
        (r"C:\dir", r"C:\dir"),
        ("a}b{c", "a}b{c"),
        ("a,b=c", "a,b=c"),
        ("a # b", "a # b"),
        ("µ-Ω \u2028", "µ-Ω \u2028"),
    ],
)
def test_label_values_are_what_was_meant(written: str, meant: str) -> None:
    assert only_sample(f'up{{first="1",text="{written}"}} 1').labels == {"first": "1", "text": meant}


def test_not_a_number_is_a_value() -> None:
    assert math.isnan(only_sample("up NaN").value)


def test_comments_help_types_and_blank_lines_are_passed_over_however_often_they_come() -> None:
    text = "# HELP up x\n# TYPE up counter\n# TYPE up gauge\n#\n\n  \n\t# odd } {\nup 1\n# EOF\n"
    exposition = parse_exposition(text)
    assert (exposition.samples, exposition.problems) == ((Sample("up", {}, 1.0),), ())


def test_a_counter_keeps_the_name_under_which_it_was_written() -> None:
    text = "# TYPE requests counter\nrequests 1\n# TYPE errors_total counter\nerrors_total 2\n"
    assert [sample.name for sample in parse_exposition(text).samples] == ["requests", "errors_total"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<html>", "a line like"),
        ("up", "a line like"),
        ("1up 1", "a line like"),
        ("ùp 1", "a line like"),
        ("up} 1", "a line like"),
        ('up{job="a" 1', "a line like"),
        ('{job="a"} 1', "a line like"),
        ('{"",job="a"} 1', "a line like"),
        ("up one", "one number"),
        ("up ", "one number"),
        ('up{job="a"}', "one number"),
        ("up 1_000", "one number"),
        ("up \u0661", "one number"),
        ("up 1 2 3", "one number"),
        ("up 1 1.5", "one number"),
        ("up 1 # comment", "one number"),
        ("up{job=a} 1", "labels like"),
        ('up{job="a"b} 1', "labels like"),
        ('up{job="a""} 1', "labels like"),
        ('up{job="a" pod="b"} 1', "labels like"),
        ('up{job="a",,pod="b"} 1', "labels like"),
        ("up{,} 1", "labels like"),
        ('up{1a="a"} 1', "labels like"),
        ('up{job="a\\"} 1', "labels like"),
        ('up{job="a"} 1 # {trace="x"} 2', "labels like"),
        ('up{job="a",job="b"} 1', "each label name once"),
        ('up{__name__="a"} 1', "each label name once"),
        ('up{""="a"} 1', "each label name once"),
    ],
)
def test_a_wrong_line_is_reported_with_its_place_and_costs_no_other_line(line: str, expected: str) -> None:
    exposition = parse_exposition(f"before 1\n{line}\nafter 2\n")
    assert [sample.name for sample in exposition.samples] == ["before", "after"]
    (problem,) = exposition.problems
    assert (problem.line_number, problem.text_excerpt) == (2, line)
    assert problem.expected.startswith(expected)


def test_a_long_wrong_line_is_quoted_in_part() -> None:
    (problem,) = parse_exposition("?" * 1000 + "\n").problems
    assert problem.text_excerpt == "?" * EXCERPT_CHARACTERS


def test_only_wanted_names_are_read_and_the_rest_is_counted() -> None:
    text = 'up 1\ndown{job="a"} 2\n{"disk.used"} 3\n\tup 4\nup{job="a"} 5\nup x\n<html>\n'
    exposition = parse_exposition(text, names=["up"])
    assert [sample.value for sample in exposition.samples] == [1.0, 4.0, 5.0]
    assert exposition.foreign_lines == 2
    assert [problem.line_number for problem in exposition.problems] == [6, 7]


def test_labels_that_samples_share_cannot_be_changed() -> None:
    labels = only_sample('up{job="a"} 1').labels
    with pytest.raises(TypeError):
        labels["job"] = "b"  # type: ignore[index]  # that it is refused is the point


def test_a_text_that_stops_inside_a_line_is_cut_off() -> None:
    exposition = parse_exposition('up 1\ndown{job="a')
    assert [sample.name for sample in exposition.samples] == ["up"]
    assert exposition.problems[-1].expected == CUT_OFF
    assert exposition.cut_off
    assert scrape_problem(exposition) == (
        "the scrape is cut off at line 2: 'down{job=\"a': expected a whole last line (the text is cut off)"
    )


def test_a_text_without_its_last_line_feed_is_still_whole() -> None:
    exposition = parse_exposition("up 1\ndown 2")
    assert [sample.value for sample in exposition.samples] == [1.0, 2.0]
    assert scrape_problem(exposition) is None


def test_a_page_that_is_no_exposition_is_told_from_an_empty_one() -> None:
    page = scrape_problem(parse_exposition("<html>\n<body>404 page not found</body>\n"))
    assert page is not None
    assert page.startswith("the scrape is not in the Prometheus text format: line 1: '<html>'")
    assert scrape_problem(parse_exposition("")) == "the scrape holds no sample"


def test_single_wrong_lines_and_foreign_names_do_not_spoil_a_scrape() -> None:
    assert scrape_problem(parse_exposition("up 1\nbroken\n")) is None
    assert scrape_problem(parse_exposition("up 1\n", names=["down"])) is None


def test_real_captures_read_as_the_reference_reads_them(shared_folder: Path) -> None:
    for name, text in captured_texts(shared_folder).items():
        ours = parse_exposition(text).samples
        theirs = list(reference_samples(without_problems(text)))
        assert len(ours) == len(theirs), name
        for sample, (reference, of_counter) in zip(ours, theirs, strict=True):
            assert same_sample(sample, reference, of_counter=of_counter), (name, sample, reference)


def test_every_line_reported_in_a_real_capture_is_wrong_for_the_reference_too(shared_folder: Path) -> None:
    for text in captured_texts(shared_folder).values():
        lines = text.split("\n")
        for problem in parse_exposition(text).problems:
            with pytest.raises(ValueError):  # noqa: PT011 -- the reference says no more than that
                list(reference_samples(lines[problem.line_number - 1]))

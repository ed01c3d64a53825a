"""The exposition parser on generated texts: it reads what was written, agrees with the reference, never raises."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import example, given
from hypothesis import strategies as st

from collector.parse.exposition import Sample, parse_exposition, scrape_problem
from tests.benchmarks.bench_exposition import reference_samples, same_sample

NAMES = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,12}", fullmatch=True)
LABEL_NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,8}", fullmatch=True)
LABELS = st.dictionaries(LABEL_NAMES, st.text(st.characters(codec="utf-8")), max_size=4)
TIMES = st.none() | st.integers(-(10**15), 10**15).map(lambda milliseconds: milliseconds / 1000)
SAMPLES = st.builds(Sample, NAMES, LABELS, st.floats(), TIMES)
BLANKS = st.text(" \t", max_size=2)
GAPS = st.text(" \t", min_size=1, max_size=2)
MARKS = 'ab1:{}="\\,.- \tn#e'


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def rendered(sample: Sample) -> str:
    """The line as most exporters write it."""
    labels = ",".join(f'{name}="{escaped(value)}"' for name, value in sample.labels.items())
    time = "" if sample.timestamp_seconds is None else f" {round(sample.timestamp_seconds * 1000)}"
    return f"{sample.name}{{{labels}}} {sample.value!r}{time}" if labels else f"{sample.name} {sample.value!r}{time}"


@st.composite
def almost_lines(draw: st.DrawFn) -> str:
    """A line in which something was put in place of a few characters."""
    line = draw(st.text(MARKS, max_size=12) | SAMPLES.map(rendered))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(line)))
        line = line[:start] + draw(st.text(MARKS, max_size=2)) + line[start + draw(st.integers(0, 2)) :]
    return line


@st.composite
def freely_written_lines(draw: st.DrawFn) -> str:
    """A valid line with blanks wherever they may stand, or a comment."""
    sample: Sample = draw(SAMPLES)
    comment: bool = draw(st.booleans())
    if comment:
        kind = draw(st.sampled_from(("counter", "gauge", "histogram", "summary", "untyped")))
        return draw(st.sampled_from((f"# TYPE {sample.name} {kind}", f"# HELP {sample.name} text", "#", "")))
    labels = [
        f'{draw(BLANKS)}{name}{draw(BLANKS)}={draw(BLANKS)}"{escaped(value)}"{draw(BLANKS)}'
        for name, value in sample.labels.items()
    ]
    comma = draw(st.sampled_from(("", ","))) if labels else ""
    block = f"{draw(BLANKS)}{{{','.join(labels)}{comma}{draw(BLANKS)}}}{draw(BLANKS)}" if labels else draw(GAPS)
    time = "" if sample.timestamp_seconds is None else f"{draw(GAPS)}{round(sample.timestamp_seconds * 1000)}"
    return f"{draw(BLANKS)}{sample.name}{block}{sample.value!r}{time}{draw(BLANKS)}"


def comparable(sample: Sample) -> tuple[str, Mapping[str, str], str, float | None]:
    """Equal for two samples that say the same, not-a-number included."""
    return sample.name, dict(sample.labels), repr(sample.value), sample.timestamp_seconds


@given(st.lists(SAMPLES))
def test_what_was_rendered_is_read_back(samples: list[Sample]) -> None:
    exposition = parse_exposition("".join(rendered(sample) + "\n" for sample in samples))
    assert exposition.problems == ()
    assert [comparable(sample) for sample in exposition.samples] == [comparable(sample) for sample in samples]


@given(st.lists(freely_written_lines()))
def test_valid_texts_read_as_the_reference_reads_them(lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    exposition = parse_exposition(text)
    theirs = list(reference_samples(text))
    assert exposition.problems == ()
    assert len(exposition.samples) == len(theirs)
    for sample, (reference, of_counter) in zip(exposition.samples, theirs, strict=True):
        assert same_sample(sample, reference, of_counter=of_counter)


@given(almost_lines())
def test_a_line_that_we_take_is_taken_by_the_reference_and_means_the_same(line: str) -> None:
    for sample in parse_exposition(line + "\n").samples:
        ((reference, of_counter),) = reference_samples(line)
        assert same_sample(sample, reference, of_counter=of_counter)


@given(st.text() | st.lists(almost_lines()).map("\n".join))
@example("\ud800{\udfff} \x00\n\ufeff# x")
def test_any_text_is_accounted_for_line_by_line(text: str) -> None:
    exposition = parse_exposition(text)
    contents = [line.strip(" \t\r") for line in text.split("\n")]
    with_content = [content for content in contents if content and not content.startswith("#")]
    assert len(exposition.samples) + len(exposition.problems) == len(with_content)
    scrape_problem(exposition)


@given(st.lists(SAMPLES, min_size=1), st.data())
def test_a_text_cut_anywhere_loses_nothing_but_its_end(samples: list[Sample], data: st.DataObject) -> None:
    text = "".join(rendered(sample) + "\n" for sample in samples)
    cut = text[: data.draw(st.integers(0, len(text)))]
    whole_lines = cut.count("\n")
    exposition = parse_exposition(cut)
    assert [comparable(sample) for sample in exposition.samples[:whole_lines]] == [
        comparable(sample) for sample in samples[:whole_lines]
    ]
    assert [problem.line_number for problem in exposition.problems] in ([], [whole_lines + 1])
    assert exposition.cut_off == bool(exposition.problems)


@given(st.lists(SAMPLES), st.sets(NAMES))
def test_asking_for_names_is_the_same_as_choosing_afterwards(samples: list[Sample], other: set[str]) -> None:
    names = other | {sample.name for sample in samples[::2]}
    text = "".join(rendered(sample) + "\n" for sample in samples)
    everything, chosen = parse_exposition(text), parse_exposition(text, names)
    assert [comparable(sample) for sample in chosen.samples] == [
        comparable(sample) for sample in everything.samples if sample.name in names
    ]
    assert chosen.foreign_lines == len(everything.samples) - len(chosen.samples)

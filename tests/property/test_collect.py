"""Every reader of foreign texts on any text: it never raises, every sample has its fate, and no good sample is lost."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from collector.catalogue.spelling import Scope
from collector.catalogue.spellings.index import EXPOSITION_VOCABULARIES
from collector.model.accelerator import GpuReading
from collector.model.collected import Collected
from collector.model.reading import Known
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.collect import Circumstances, SourceKind, collect_text
from collector.parse.exposition import parse_exposition
from collector.parse.perftest import perftest_readings
from collector.parse.rdma_files import RdmaFile, rdma_readings
from collector.parse.ucx_output import ucx_readings
from tests.unit.collector.parse.test_perftest import HEADER, INVALID, NOISE, ROW, VALID, output
from tests.unit.collector.parse.test_ucx_output import CSV, LOG, table
from tests.unit.collector.parse.vendor_texts import EXPOSITIONS

KINDS = st.sampled_from([kind for kind in SourceKind if kind is not SourceKind.SYSFS])
LABELS = sorted(
    {"namespace", "pod", "vgpu", "core", "resource", "le"}
    | {
        label
        for vocabulary in EXPOSITION_VOCABULARIES
        if vocabulary.devices is not None
        for labels in (vocabulary.devices.uuid, vocabulary.devices.index, vocabulary.devices.slice_id)
        for label in (*labels, f"exported_{labels[0]}" if labels else "pod")
    }
)
METRICS = st.sampled_from([one.theirs for vocabulary in EXPOSITION_VOCABULARIES for one in vocabulary.spellings])
BLOCKS = st.dictionaries(
    st.sampled_from(LABELS), st.sampled_from(["", "0", "1", "a", "GPU-a::2", "1g.5gb"]), max_size=6
)
NUMBERS = st.floats() | st.sampled_from([2147483632.0, 4294967295.0, 9223372036854775807.0, -1.0, 0.5, 101.5])


def rendered(name: str, labels: dict[str, str], number: float) -> str:
    block = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{name}{{{block}}} {number!r}"


LINES = st.builds(rendered, METRICS, BLOCKS, NUMBERS)
TEXTS = st.lists(LINES | st.sampled_from(["", "# HELP x y", "junk", 'a{b="c'])).map("\n".join)
KNOWN_LINES = st.sampled_from([line for text in (*EXPOSITIONS.values(), VALID, INVALID) for line in text.splitlines()])
PROBE_LINES = st.sampled_from(
    [*output(HEADER, NOISE, ROW).splitlines(), *table("Final: 1 2 3 4 5 6 7 8").splitlines(), CSV, LOG]
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Known lines, mixed, cut and with characters changed."""
    text = "\n".join(draw(st.lists(KNOWN_LINES | PROBE_LINES, max_size=12)))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        text = (
            text[:start]
            + draw(st.text("01.9 ,:{}[]\"'#|-\nnanif", max_size=3))
            + text[start + draw(st.integers(0, 3)) :]
        )
    return text


def adds_up(found: Collected) -> bool:
    samples = found.samples
    finite = all(math.isfinite(one.value.value) for one in found.readings if isinstance(one.value, Known))
    return finite and samples.read == samples.used + samples.passed + sum(samples.dropped.values())


@given(TEXTS | damaged() | st.text(), KINDS, st.none() | st.floats(0, 1e10))
def test_any_text_read_as_anything_is_accounted_for(text: str, kind: SourceKind, time: float | None) -> None:
    assert adds_up(collect_text(text, kind, Circumstances(time=time)))


@given(TEXTS)
def test_every_line_of_an_exposition_has_one_fate(text: str) -> None:
    found = collect_text(text, SourceKind.AUTO)
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    assert found.samples.read == len(lines)
    assert adds_up(found)


@given(st.lists(LINES, min_size=1), st.integers(0, 200))
def test_a_bad_line_costs_no_good_sample(lines: list[str], place: int) -> None:
    with_bad = [*lines[: place % len(lines)], "bad { line", *lines[place % len(lines) :], "end 1"]
    good, mixed = (collect_text("\n".join(part), SourceKind.AUTO) for part in ([*lines, "end 1"], with_bad))
    assert mixed.readings == good.readings or any(one.value != one.value for one in good.readings)
    assert mixed.samples.read == good.samples.read + 1
    assert mixed.samples.dropped["malformed line"] == good.samples.dropped.get("malformed line", 0) + 1


@given(st.sampled_from([*"a1_. \"'{}[]:,#-|\n", "results:", "Device", "Final: ", "[thread ", "9" * 400]), KINDS)
def test_long_runs_of_anything_end_soon(part: str, kind: SourceKind) -> None:
    for start in ("", '{"test_info": ', HEADER + "\n", CSV + "\n", "mlu_", table()):
        assert adds_up(collect_text(start + part * 5000, kind))


@given(TEXTS)
def test_the_live_reader_and_the_verb_see_the_same_devices(text: str) -> None:
    def known(reading: GpuReading) -> tuple[str, str, object]:
        return reading.uuid or reading.index, reading.key[1], reading.memory_used_bytes

    live = {known(one) for one in gpu_readings(parse_exposition(text))}
    told = {
        (one.labels["device"], one.labels["slice"], one.value)
        for one in collect_text(text, SourceKind.AUTO).readings
        if one.name == "trimtab_accelerator_memory_used_bytes"
    }
    assert live <= told


@given(st.lists(st.tuples(st.integers(1, 2**23), st.lists(st.floats(0.01, 99999), min_size=7, max_size=7)), min_size=1))
def test_rows_of_perftest_are_read_back_however_wide_they_are(rows: list[tuple[int, list[float]]]) -> None:
    lines = [f" {size:<7} 1000 " + "".join(f"{value:<7.2f}" for value in values) for size, values in rows]
    found = perftest_readings(output(HEADER, NOISE, *lines))
    assert found.samples.used == found.samples.read == len(rows)
    means = [one.value for one in found.readings if one.labels["statistic"] == "mean"]
    assert means == [Known(float(f"{values[3]:.2f}") / 1e6) for _, values in rows]


@given(damaged() | st.text())
def test_probes_of_any_text_are_accounted_for(text: str) -> None:
    assert adds_up(perftest_readings(text))
    assert adds_up(ucx_readings(text))


FILES = st.builds(
    RdmaFile,
    st.sampled_from(["mlx5_0", "rxe0"]),
    st.sampled_from(["", "1", "2"]),
    st.sampled_from(["port_rcv_data", "port_xmit_wait", "state", "rate", "link_layer", "phys_state", "cnpSent", "odd"]),
    st.text(max_size=20) | st.integers(0, 2**64).map(str) | st.sampled_from(["N/A (no PMA)", "4: ACTIVE", "0x10"]),
    st.sampled_from(["", "", "the driver does not show it"]),
    st.booleans(),
)


@given(st.lists(FILES))
def test_files_of_ports_are_accounted_for(files: list[RdmaFile]) -> None:
    found = rdma_readings(files)
    assert adds_up(found)
    assert found.samples.read == sum(one.name != "link_layer" for one in files)


def test_every_spelling_with_a_device_is_used_by_its_vocabulary() -> None:
    for vocabulary in EXPOSITION_VOCABULARIES:
        for spelling in vocabulary.spellings:
            if vocabulary.devices is None or spelling.scope is Scope.INFO:
                continue
            labels = {vocabulary.devices.uuid[0]: "u", vocabulary.devices.index[0]: "0"}
            for namespace, pod, container in vocabulary.devices.holders.labels[:1]:
                labels |= {namespace: "a", pod: "p", container: "c"}
            found = collect_text(rendered(spelling.theirs, labels, 1.0) + "\n", SourceKind(vocabulary.source))
            assert (found.samples.used, found.sources) == (1, (vocabulary.source,)), spelling.theirs

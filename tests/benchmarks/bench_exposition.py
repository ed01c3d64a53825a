"""Our exposition parser against prometheus_client's, on real captures of many exporters."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample as ReferenceSample

from collector.parse.exposition import Sample, parse_exposition

MEASURES: Final = {"exposition_parse_ratio": "times"}
ROOT: Final = Path(__file__).resolve().parents[2]
ROUNDS: Final = 5
CAPTURES: Final = (
    "amd-metrics-mini/*.txt",
    "ascend-npu-exporter/mind-cluster/*",
    "dcgm-*/**/*.ini",
    "dcgm-*/*.prom",
    "ksm/*.prom",
    "kube-scheduler/*.prom",
    "node-exporter-e2e/*.txt",
    "nvidia-gpu-exporter-metrics/*.metrics",
    "own-captures/ceph-metrics-*.txt",
    "prom-parser-edge/**/*.prom",
    "prom-parser-edge/*.txt",
)


def captured_texts(shared_folder: Path) -> dict[str, str]:
    """Every exposition text among the shared captures, by its path below `fixtures`, as it was captured."""
    fixtures = shared_folder / "fixtures"
    paths = sorted(path for pattern in CAPTURES for path in fixtures.glob(pattern))
    return {path.relative_to(fixtures).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def without_problems(text: str) -> str:
    """The text without the lines that we report, such as titles that people wrote above a capture."""
    left_out = {problem.line_number for problem in parse_exposition(text).problems}
    return "\n".join(line for number, line in enumerate(text.split("\n"), 1) if number not in left_out)


def reference_samples(text: str) -> Iterator[tuple[ReferenceSample, bool]]:
    """The reference's samples in the order of the text, each with whether it belongs to a counter."""
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield sample, family.type == "counter"


def same_sample(ours: Sample, theirs: ReferenceSample, *, of_counter: bool) -> bool:
    """Whether both say the same. The reference adds `_total` to counters written without, and keeps integers."""
    same_name = theirs.name in ((ours.name, f"{ours.name}_total") if of_counter else (ours.name,))
    same_value = ours.value == float(theirs.value) or (ours.value != ours.value and theirs.value != theirs.value)
    return same_name and same_value and ours.labels == theirs.labels and ours.timestamp_seconds == theirs.timestamp


def measure() -> Mapping[str, float]:
    """How many times faster all captures together are parsed: the median of some rounds.

    Raises FileNotFoundError where the captures are missing.
    """
    shared_folder = Path(os.environ.get("TRIMTAB_SHARED") or ROOT.parent / "shared")
    texts = [without_problems(text) for text in captured_texts(shared_folder).values()]
    if not texts:
        raise FileNotFoundError(f"no captures below {shared_folder}: set TRIMTAB_SHARED to their folder")
    return {"exposition_parse_ratio": median(_ratio(texts) for _ in range(ROUNDS))}


def _ratio(texts: Sequence[str]) -> float:
    """Both parsers on one text after the other, in turns."""
    seconds = [(_seconds(_parse_with_reference, text), _seconds(parse_exposition, text)) for text in texts]
    return sum(reference for reference, _ in seconds) / sum(ours for _, ours in seconds)


def _parse_with_reference(text: str) -> list[ReferenceSample]:
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def _seconds(parse: Callable[[str], object], text: str) -> float:
    started = time.process_time()  # the machine is shared: waiting for a core is not parsing
    parse(text)
    return time.process_time() - started

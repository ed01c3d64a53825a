"""The catalogue keeps its own rules, and finds what is wrong with entries that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.catalogue.docs import metrics_page, table
from collector.catalogue.index import CATALOGUE, find, problems
from collector.catalogue.metric import LABELS, Kind, Metric, Source, Unit
from collector.catalogue.spelling import Vocabulary
from collector.catalogue.spellings.index import VOCABULARIES
from collector.model.snapshot import WaitingName

SOUND = Metric("trimtab_queue_oldest_pending_seconds", Kind.GAUGE, Unit.SECONDS, ("cluster",), Source.COLLECTOR, "Age.")
# What people and other programs were promised; a change here breaks their queries.
PROMISED = {
    "trimtab_queue_oldest_pending_seconds": ("cluster", "tenant", "tier", "queue"),
    "trimtab_workload_wait_seconds_total": ("cluster", "tenant", "tier", "queue"),
    "trimtab_workload_evictions_total": ("cluster", "tenant", "tier", "queue"),
    "trimtab_tenant_entitled_gpus": ("cluster", "tenant", "pool"),
    "trimtab_tenant_shortfall_gpus": ("cluster", "tenant", "pool"),
    "trimtab_tenant_namespace_info": ("cluster", "namespace", "tenant"),
    "trimtab_collector_errors_total": ("source", "device", "reason"),
}


def test_every_entry_keeps_the_rules() -> None:
    assert problems(CATALOGUE) == ()


def test_the_promised_names_and_labels_stand() -> None:
    assert {name: entry.labels for name in PROMISED if (entry := find(name))} == PROMISED


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (replace(SOUND, name="trimtab_queue_oldest_pending"), "does not end in its unit, seconds"),
        (replace(SOUND, name="trimtab_wait_seconds_total"), "counters, and only counters, end in _total"),
        (replace(SOUND, kind=Kind.COUNTER), "counters, and only counters, end in _total"),
        (replace(SOUND, kind=Kind.INFO), "infos, and only infos, end in _info"),
        (replace(SOUND, name="trimtab_busy_percent", unit=Unit.PERCENT), "is not for our own metrics"),
        (replace(SOUND, name="queue_age_seconds"), "our names are lower case"),
        (replace(SOUND, name="trimtab:queue_age_seconds:max"), "colons are for recorded series"),
        (replace(SOUND, labels=("cluster", "workload")), "label workload is not in the list of labels"),
        (replace(SOUND, labels=("cluster", "cluster")), "a label stands twice"),
        (replace(SOUND, meaning="Age"), "its meaning is no sentence"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_named(entry: Metric, what: str) -> None:
    found = problems([entry])
    assert any(what in problem and problem.startswith(f"{entry.name}: ") for problem in found)


def test_an_entry_that_stands_twice_is_named() -> None:
    assert problems([SOUND, SOUND]) == (f"{SOUND.name}: stands twice",)


def test_every_label_says_what_bounds_it_and_is_used() -> None:
    assert all(label.bounded_by and label.meaning for label in LABELS.values())
    assert set(LABELS) == {label for metric in CATALOGUE for label in metric.labels}


def test_the_names_of_waiting_are_those_of_the_model() -> None:
    assert LABELS["waiting"].values == tuple(WaitingName)


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda one: one.source)
def test_every_spelling_of_others_becomes_a_name_of_the_catalogue_and_stands_once(vocabulary: Vocabulary) -> None:
    theirs = [spelling.theirs for spelling in vocabulary.spellings]
    assert len(theirs) == len(set(theirs))
    assert [one.theirs for one in vocabulary.spellings if one.ours and find(one.ours) is None] == []
    keys = {label for one in vocabulary.spellings for label, _ in (*one.labels, *one.keeps)}
    assert keys | set(vocabulary.renames.values()) <= set(LABELS)


@pytest.mark.parametrize("window", ["5m", "28d", "1h30m", "500ms"])
def test_a_recorded_series_is_found_under_any_window(window: str) -> None:
    entry = find(f"trimtab:tenant_attainment_ratio:{window}")
    assert entry is not None
    assert entry.name == "trimtab:tenant_attainment_ratio:<window>"


@pytest.mark.parametrize("name", ["up", "trimtab:tenant_attainment_ratio", "trimtab:tenant_attainment_ratio:long"])
def test_a_name_that_nobody_makes_is_not_found(name: str) -> None:
    assert find(name) is None


def test_the_page_names_every_metric_and_label() -> None:
    page = metrics_page()
    assert [m.name for m in CATALOGUE if f"| `{m.name}` |" not in page] == []
    assert [name for name in LABELS if f"| `{name}` |" not in page] == []


def test_bars_in_cells_do_not_break_a_table() -> None:
    assert table(("a",), [("x|y",)]).splitlines()[-1] == "| x\\|y |"

"""Asking for history: sound queries, a day at a time, gaps left as gaps, replicas kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from alerts.promql import problems
from collector.sources.prometheus import RangeSeries, VectorSample
from controller.api.errors import InputError
from controller.reports.read import MOMENTS_PER_QUERY, range_expression, read_samples, the_cluster
from controller.reports.samples import CAPACITY, SERIES, UNUSABLE
from tests.unit.controller.reports.histories import START, window


class Told:
    """A named fake: tells one series, present at every moment but one, and remembers what it was asked."""

    def __init__(self, clusters: Sequence[str] = ("c1",)) -> None:
        self.clusters = clusters
        self.asked: list[tuple[str, float, float]] = []
        self.instants: list[str] = []

    def instant(self, query: str, at: float | None = None) -> Sequence[VectorSample]:
        self.instants.append(query)
        return [VectorSample({"cluster": name}, 1.0, at or 0.0) for name in self.clusters]

    def range_query(self, query: str, start: float, end: float, step_seconds: float) -> Sequence[RangeSeries]:
        self.asked.append((query, start, end))
        if not query.startswith(UNUSABLE):
            return []
        labels = {"__name__": UNUSABLE, "cluster": "c1", "pool": "h100", "reason": "cordoned"}
        moments = np.arange(start, end + 1, step_seconds)
        points = tuple((float(at), at - START) for at in moments if at != START + 60)
        replicas = ("10.0.0.1:9108", "10.0.0.2:9108")
        return [RangeSeries({**labels, "job": "trimtab", "instance": name}, points) for name in replicas]


def test_every_query_is_one_that_the_catalogue_knows() -> None:
    told = Told()
    the_cluster(told, window(60), None)
    for query in [*(range_expression(name, 'odd "name"\\') for name in SERIES), *told.instants]:
        assert problems(query) == ()


def test_a_week_is_asked_for_a_day_at_a_time_and_no_moment_twice() -> None:
    told = Told()
    read_samples(told, "c1", window(10080, slot_seconds=60))
    spans = [(start, end) for query, start, end in told.asked if query.startswith(CAPACITY)]
    assert len(spans) == 8
    assert spans[0] == (START, START + (MOMENTS_PER_QUERY - 1) * 60)
    assert all(later[0] == earlier[1] + 60 for earlier, later in pairwise(spans))
    assert spans[-1][1] == START + 10080 * 60


def test_samples_stand_at_their_moments_and_a_gap_stays_a_gap() -> None:
    found = read_samples(Told(), "c1", window(3000, slot_seconds=60)).series[UNUSABLE]
    assert set(found) == {(f"instance=10.0.0.{number}:9108,job=trimtab", ("h100", "cordoned")) for number in (1, 2)}
    values = next(iter(found.values()))
    assert np.isnan(values[1])
    assert values[[0, 2, 2999, 3000]].tolist() == [0, 120, 2999 * 60, 3000 * 60]


def test_the_only_cluster_needs_no_name() -> None:
    assert the_cluster(Told(), window(3), None) == "c1"
    assert the_cluster(Told(()), window(3), "wanted") == "wanted"


@pytest.mark.parametrize(("clusters", "named"), [((), "no trimtab_pool_capacity_gpus"), (("a", "b"), "a, b")])
def test_without_a_name_several_clusters_or_none_are_a_mistake(clusters: tuple[str, ...], named: str) -> None:
    with pytest.raises(InputError, match=f"--cluster: got {named}"):
        the_cluster(Told(clusters), window(3), None)

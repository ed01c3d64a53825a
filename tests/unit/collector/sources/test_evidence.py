"""Evidence out of recorded answers: real ages, and a reason for every hole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from alerts.rules.attainment import attainment
from collector.model.reading import Known, Unknown
from collector.model.snapshot import OtherKind
from collector.model.tenancy import Engine, Entitlement, Objective, ObjectiveKind, Pool, Site, Tenant
from collector.sources.errors import SourceError, Unreachable
from collector.sources.evidence import (
    ENTITLED,
    IDLE_HELD,
    SHORTFALL,
    EvidenceLimits,
    attainment_series,
    read_evidence,
)
from collector.sources.prometheus import VectorSample
from collector.sources.storage_evidence import LAST_SUCCESS

NOW = 1_700_000_000.0
LIMITS = EvidenceLimits(freshest_seconds=90)
DAY = 86400.0


def objective(window_seconds: float = 28 * DAY, pool: str | None = None) -> Objective:
    return Objective("start", ObjectiveKind.QUEUE_WAIT, 0.99, window_seconds, pool=pool)


SITE = Site(
    "c1",
    pools=(Pool("h100", "nvidia.com/gpu", {}, Engine.KUEUE, flavor="h100"),),
    tiers=(),
    tenants=(
        Tenant("nlp", "standard", entitlements=(Entitlement("h100", 8),)),
        Tenant("vision", "critical", entitlements=(Entitlement("h100", 16),), objectives=(objective(),)),
    ),
)


class FakePrometheus:
    """Answers by series: labels → (age in seconds, value)."""

    url = "http://prometheus"

    def __init__(self, series: Mapping[str, dict[tuple[str, str, str], tuple[float, float]]]) -> None:
        self.series = dict(series)
        self.asked: list[str] = []
        self.error: SourceError | None = None
        self.storage: list[VectorSample] = []

    def instant(self, query: str, at: float | None = None) -> Sequence[VectorSample]:
        assert at == NOW
        self.asked.append(query)
        if query.startswith("{__name__=~"):
            return self.storage
        if self.error is not None:
            raise self.error
        stamped = query.startswith("timestamp(")
        name = query.removeprefix("timestamp(").removesuffix(")").partition("{")[0]
        assert 'cluster="c1"}' in query
        return [
            VectorSample(
                {"tenant": tenant, "pool": pool, "instance": instance} | ({} if stamped else {"__name__": name}),
                NOW - age if stamped else value,
                NOW,
            )
            for (tenant, pool, instance), (age, value) in self.series.get(name, {}).items()
        ]


def healthy() -> FakePrometheus:
    both = {("nlp", "h100", "a"): (5.0, 8.0), ("vision", "h100", "a"): (7.0, 20.0)}
    return FakePrometheus(
        {
            ENTITLED: both,
            SHORTFALL: {key: (age, 0.0) for key, (age, _) in both.items()},
            IDLE_HELD: {("vision", "h100", "a"): (7.0, 3.0)},
            "trimtab:tenant_attainment_ratio:28d": {("vision", "h100", ""): (40.0, 0.97)},
        }
    )


def test_fresh_series_of_every_tenant_leave_nothing_blind() -> None:
    evidence = read_evidence(healthy(), SITE, NOW, LIMITS)
    assert evidence.blind == ()
    assert evidence.attainment["vision", "h100"] == Known(0.97, 40.0)
    assert evidence.idle_held["vision", "h100"] == Known(3.0, 7.0)
    assert (evidence.other_causes, evidence.not_ruled_out) == ({}, {})


def test_storage_in_trouble_is_a_cause_and_storage_that_can_not_be_seen_is_not_ruled_out() -> None:
    prometheus = healthy()
    stalled = VectorSample({"__name__": "trimtab_storage_stalled", "tenant": "vision", "storage": "rbd"}, 1.0, NOW)
    for age, causes, unseen in ((5.0, {"vision"}, set()), (600.0, set(), {OtherKind.CEPH})):
        prometheus.storage = [stalled, VectorSample({"__name__": LAST_SUCCESS, "source": "ceph"}, NOW - age, NOW)]
        evidence = read_evidence(prometheus, SITE, NOW, LIMITS)
        assert (set(evidence.other_causes), set(evidence.not_ruled_out)) == (causes, unseen)


def test_what_prometheus_does_not_have_is_unknown_with_its_reason() -> None:
    evidence = read_evidence(healthy(), SITE, NOW, LIMITS)
    assert evidence.idle_held["nlp", "h100"] == Unknown(f"Prometheus has no {IDLE_HELD} for it")
    assert evidence.attainment["nlp", "h100"] == Unknown("it has no objective about queue wait")


@pytest.mark.parametrize("series", [ENTITLED, SHORTFALL])
def test_an_absent_tenant_makes_blind_and_is_named(series: str) -> None:
    prometheus = healthy()
    prometheus.series[series] = {("nlp", "h100", "a"): (5.0, 8.0)}
    (sentence,) = read_evidence(prometheus, SITE, NOW, LIMITS).blind
    assert sentence == f"{series} is absent for vision in h100: does the collector run, and is it scraped?"


@pytest.mark.parametrize("series", [ENTITLED, SHORTFALL])
def test_an_old_sample_makes_blind_although_prometheus_still_answers_with_it(series: str) -> None:
    prometheus = healthy()
    prometheus.series[series] = prometheus.series[series] | {("vision", "h100", "a"): (240.0, 20.0)}
    (sentence,) = read_evidence(prometheus, SITE, NOW, LIMITS).blind
    assert sentence == f"{series} is up to 4m old for vision in h100 (limit 1m 30s)"


def test_the_freshest_of_two_collectors_counts() -> None:
    prometheus = healthy()
    for series in (ENTITLED, SHORTFALL, IDLE_HELD):
        prometheus.series[series] = prometheus.series[series] | {("vision", "h100", "b"): (400.0, 1.0)}
    evidence = read_evidence(prometheus, SITE, NOW, LIMITS)
    assert evidence.blind == ()
    assert evidence.idle_held["vision", "h100"] == Known(3.0, 7.0)


def test_a_sample_from_the_future_says_that_clocks_differ() -> None:
    prometheus = healthy()
    prometheus.series[ENTITLED] = dict.fromkeys(prometheus.series[ENTITLED], (-300.0, 1.0))
    (sentence,) = read_evidence(prometheus, SITE, NOW, LIMITS).blind
    assert "the clocks here and of Prometheus differ" in sentence


def test_old_or_absurd_values_are_unknown() -> None:
    prometheus = healthy()
    prometheus.series[IDLE_HELD] = {("vision", "h100", "a"): (91.0, 3.0), ("nlp", "h100", "a"): (1.0, float("nan"))}
    idle_held = read_evidence(prometheus, SITE, NOW, LIMITS).idle_held
    assert idle_held["vision", "h100"] == Unknown(f"{IDLE_HELD} is 91 s old (limit 90 s)")
    assert idle_held["nlp", "h100"] == Unknown(f"{IDLE_HELD} is not a number")


def test_a_server_that_can_not_be_asked_makes_blind_and_everything_unknown() -> None:
    prometheus = healthy()
    prometheus.error = Unreachable("GET", "/api/v1/query", "connection refused")
    evidence = read_evidence(prometheus, SITE, NOW, LIMITS)
    assert len(prometheus.asked) == 1, "one failure is enough: the others would only take time"
    (sentence,) = evidence.blind
    assert sentence == "Prometheus at http://prometheus can not be asked: GET /api/v1/query: connection refused"
    assert set(evidence.attainment.values()) == {Unknown(sentence)}


def test_many_absent_tenants_are_one_sentence() -> None:
    sentences = read_evidence(FakePrometheus({}), many_tenants(50), NOW, LIMITS).blind
    assert len(sentences) == 2
    assert all(sentence.count(" in h100") == 3 and "and 47 more" in sentence for sentence in sentences)


def many_tenants(count: int) -> Site:
    tenants = tuple(Tenant(f"t{number}", "standard", entitlements=(Entitlement("h100", 1),)) for number in range(count))
    return Site("c1", SITE.pools, (), tenants)


def test_answers_that_together_take_too_long_make_blind() -> None:
    limits = EvidenceLimits(total_seconds=-1.0)
    (sentence,) = read_evidence(healthy(), SITE, NOW, limits).blind
    assert "not all answers within" in sentence


def test_a_scaled_site_still_reads_the_series_of_the_nominal_window() -> None:
    prometheus = healthy()
    limits = EvidenceLimits(time_scale=60.0)
    evidence = read_evidence(prometheus, SITE.scaled(60.0), NOW, limits)
    assert evidence.attainment["vision", "h100"] == Known(0.97, 40.0)


def test_the_cluster_name_is_quoted() -> None:
    class Quoted(FakePrometheus):
        def instant(self, query: str, at: float | None = None) -> Sequence[VectorSample]:
            assert 'cluster="a\\"b\\\\c"}' in query
            return []

    read_evidence(Quoted({}), Site('a"b\\c', (), (), SITE.tenants), NOW, LIMITS)


@pytest.mark.parametrize("window_seconds", [0.5, 60, 300, 5400, 86400, 86400 + 3600, 28 * DAY, 28 * DAY / 60 * 60])
def test_attainment_is_read_under_the_name_that_the_rules_give_it(window_seconds: float) -> None:
    assert attainment_series(window_seconds) == attainment(window_seconds)

"""What evictions cost: lost time, who evicted whom, and how long GPUs of victims stayed held."""

from __future__ import annotations

from dataclasses import replace

from collector.assemble.clocks import Sighting, WaitClocks
from collector.assemble.eviction_costs import EvictionCosts, Freed
from collector.assemble.gangs import Seen
from collector.model.snapshot import WorkPhase
from tests.unit.collector.exporter.published import NOW, published, scraped, snapshot, work

KEY = ("vision", "h100")


class Watched:
    """Looks at one piece of work, with clocks as the collector keeps them."""

    def __init__(self) -> None:
        self.clocks, self.costs = WaitClocks(), EvictionCosts()

    def look(
        self, at: float, *, holds: bool, evicted_at: float | None = None, by: str | None = None, n: int = 0
    ) -> None:
        """`evicted_at`: it is out of its place since; `n`: as often as its object says."""
        waits = evicted_at is not None
        shown = work("train", WorkPhase.WAITING if waits else WorkPhase.RUNNING)
        shown = replace(shown, nodes={"n1": 8} if holds else {}, ready_at=None if waits else NOW)
        sighting = Sighting(
            key="train",
            uid="train",
            queue=("vision", "critical", "q"),
            waits=waits,
            created_at=NOW - 60,
            ready_at=shown.ready_at,
            evicted_at=evicted_at,
            eviction_count=n,
            evicted_by=by,
            evicted_since=evicted_at,
        )
        seen = [Seen(shown, sighting)]
        self.clocks = self.clocks.advance([sighting], at)
        self.costs = self.costs.advance(seen, self.clocks, at)


def test_an_eviction_loses_what_ran_since_ready_and_its_gpus_are_free_when_no_pod_holds_them() -> None:
    watched = Watched()
    watched.look(NOW + 100, holds=True)
    watched.look(NOW + 605, holds=True, evicted_at=NOW + 600, by="nlp", n=1)
    assert (watched.costs.edges, watched.costs.lost_gpu_seconds) == ({("vision", "nlp"): 1}, {KEY: 4800.0})
    assert watched.costs.freed == {}
    watched.look(NOW + 640, holds=False, evicted_at=NOW + 600, by="nlp", n=1)
    assert watched.costs.freed == {KEY: Freed().plus(40.0)}
    watched.look(NOW + 700, holds=False, evicted_at=NOW + 600, by="nlp", n=1)
    assert watched.costs.freed == {KEY: Freed().plus(40.0)}, "once each"


def test_who_evicts_unseen_is_counted_as_unknown() -> None:
    watched = Watched()
    watched.look(NOW + 100, holds=True)
    watched.look(NOW + 200, holds=False, evicted_at=NOW + 190, n=1)
    assert watched.costs.edges == {("vision", ""): 1}
    assert watched.costs.freed == {KEY: Freed().plus(10.0)}


def test_what_was_lost_before_the_first_look_is_not_counted() -> None:
    watched = Watched()
    watched.look(NOW + 200, holds=False, evicted_at=NOW + 190, by="nlp", n=3)
    assert (watched.costs.edges, watched.costs.lost_gpu_seconds, watched.costs.freed) == ({}, {}, {})


def test_a_victim_that_is_deleted_while_it_ends_is_free_then() -> None:
    watched = Watched()
    watched.look(NOW + 100, holds=True)
    watched.look(NOW + 205, holds=True, evicted_at=NOW + 200, n=1)
    gone = watched.costs.advance([], watched.clocks, NOW + 260)
    assert gone.freed == {KEY: Freed().plus(60.0)}


def test_they_are_exported_as_totals_and_a_histogram() -> None:
    costs = EvictionCosts({("vision", "nlp"): 2}, {KEY: 4800.0}, {KEY: Freed().plus(4.0).plus(4000.0)})
    found = scraped(published(snapshot(), costs=costs))
    assert found["trimtab_tenant_evictions_total"] == {("c1", "vision", "nlp"): 2.0}
    assert found["trimtab_tenant_lost_gpu_seconds_total"] == {("c1", "vision", "h100"): 4800.0}
    buckets = found["trimtab_eviction_freed_seconds_bucket"]
    assert [buckets["c1", "vision", "h100", le] for le in ("1", "5", "1800", "+Inf")] == [0.0, 1.0, 1.0, 2.0]
    assert found["trimtab_eviction_freed_seconds_sum"]["c1", "vision", "h100"] == 4004.0

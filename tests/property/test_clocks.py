"""Wait clocks against the truth: work with random stints of waiting, looked at whenever, in any order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assemble.clocks import Sighting, WaitClocks

QUEUES = (("vision", "critical", "gpus"), ("nlp", "standard", "gpus"))

LONGEST = 380
"""Seconds: a little longer than any life."""


@dataclass(frozen=True)
class Life:
    """What really happened to a piece of work: created, then by turns ready and evicted, then finished or not."""

    name: str
    queue: tuple[str, str, str]
    turns: tuple[int, ...]
    finished: bool

    def waited(self, now: float) -> float:
        stints = list(pairwise((*self.turns, 1 << 40)))[::2]
        return sum(max(0.0, min(now, end) - begin) for begin, end in stints)

    def evictions(self, now: float) -> int:
        return sum(1 for turn in self.turns[2::2] if turn <= now) - int(self._over(now) and len(self.turns) % 2 == 1)

    def _over(self, now: float) -> bool:
        return self.finished and now >= self.turns[-1]

    def seen(self, now: float) -> Sighting | None:
        past = [turn for turn in self.turns if turn <= now]
        if not past:
            return None
        waits, evictions = len(past) % 2 == 1, self.evictions(now)
        readmitted = past[-1] if not waits else None
        return Sighting(
            key=f"{self.queue[0]}/Job/{self.name}/t",
            uid=self.name,
            queue=self.queue,
            waits=waits and not self._over(now),
            created_at=self.turns[0],
            ready_at=past[-1] if not waits and not self._over(now) else None,
            evicted_at=(readmitted or past[-1]) if evictions else None,
            eviction_count=evictions,
            evicted_by="ads" if evictions else None,
            finished=self._over(now),
        )


gaps = st.lists(st.integers(1, 60), min_size=1, max_size=6)


@st.composite
def lives(draw: st.DrawFn) -> list[Life]:
    return [
        Life(f"w{number}", draw(st.sampled_from(QUEUES)), tuple(accumulate(draw(gaps))), draw(st.booleans()))
        for number in range(draw(st.integers(1, 5)))
    ]


moments = st.lists(st.integers(0, LONGEST), min_size=1, max_size=12).map(sorted)


def looked_at(world: Iterable[Life], moments: Iterable[int], begun: bool = True) -> list[WaitClocks]:
    clocks = WaitClocks().advance([], 0) if begun else WaitClocks()
    found: list[WaitClocks] = []
    for now in moments:
        clocks = clocks.advance([s for life in world if (s := life.seen(now)) is not None], now)
        found.append(clocks)
    return found


@given(lives(), moments, st.booleans())
def test_a_clock_never_shows_more_than_was_waited(world: list[Life], moments: list[int], begun: bool) -> None:
    for now, clocks in zip(moments, looked_at(world, moments, begun), strict=True):
        for life in world:
            clock = clocks.clocks.get(life.name)
            assert clock is None or clock.waited_seconds(now) <= life.waited(now)


@given(lives(), moments)
def test_a_clock_that_claims_to_be_exact_is_exact(world: list[Life], moments: list[int]) -> None:
    for now, clocks in zip(moments, looked_at(world, moments), strict=True):
        for life in world:
            clock = clocks.clocks.get(life.name)
            if clock is not None and not clock.lower_bound and clock.last_seen_at == now:
                assert clock.waited_seconds(now) == life.waited(now)


@settings(max_examples=20)
@given(lives())
def test_a_clock_that_is_looked_at_each_second_is_exact(world: list[Life]) -> None:
    moments = range(LONGEST)
    for now, clocks in zip(moments, looked_at(world, moments), strict=True):
        for life in world:
            clock = clocks.clocks.get(life.name)
            if clock is not None and clock.last_seen_at == now:
                assert (clock.waited_seconds(now), clock.evictions) == (life.waited(now), life.evictions(now))


@given(lives(), moments)
def test_totals_only_grow_and_are_the_sum_of_the_waits(world: list[Life], moments: list[int]) -> None:
    waited: dict[str, float] = {}
    before: dict[tuple[str, str, str], float] = {}
    for now, clocks in zip(moments, looked_at(world, moments), strict=True):
        waited |= {uid: clock.waited_seconds(now) for uid, clock in clocks.clocks.items()}
        assert all(clocks.wait_seconds_total[queue] >= seconds for queue, seconds in before.items())
        before = dict(clocks.wait_seconds_total)
    finished = {life.name for life in world if (s := life.seen(moments[-1])) and s.finished}
    for queue in QUEUES:
        names = [life.name for life in world if life.queue == queue]
        if not finished & set(names):
            assert before.get(queue, 0.0) == sum(waited.get(name, 0.0) for name in names)
        assert before.get(queue, 0.0) <= sum(life.waited(moments[-1]) for life in world if life.queue == queue)


@given(lives().flatmap(lambda world: st.tuples(st.just(world), st.permutations(world))), moments)
def test_the_order_of_sightings_means_nothing(worlds: tuple[list[Life], list[Life]], moments: list[int]) -> None:
    assert looked_at(worlds[0], moments) == looked_at(worlds[1], moments)


@given(lives(), moments)
def test_a_second_look_at_the_same_moment_adds_nothing(world: list[Life], moments: list[int]) -> None:
    twice = looked_at(world, [now for now in moments for _ in range(2)])
    assert twice[-1] == looked_at(world, moments)[-1]


@given(lives(), st.integers(1, LONGEST), st.integers(1, 2000), moments)
def test_a_resubmission_in_time_loses_nothing(world: list[Life], gone: int, gap: int, later: list[int]) -> None:
    life = world[0]
    clocks = looked_at([life], [gone])[-1]
    before = clocks.clocks.get(life.name)
    if before is None:
        return
    waited, created = before.waited_seconds(gone), gone + gap
    again = Sighting(before.key, "again", life.queue, waits=True, created_at=created)
    for now in sorted(created + moment for moment in later):
        clocks = clocks.advance([again], now)
        carried = waited if gap <= 1800 else 0.0
        assert clocks.clocks["again"].waited_seconds(now) == carried + now - created

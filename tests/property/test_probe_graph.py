"""The graph of probes for any cluster: regular, on rails, stable; one probe at a time at each end; never quite off."""

from __future__ import annotations

import time
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from collector.assemble.probe_graph import (
    changing_links,
    fixed_links,
    is_due,
    next_pace,
    own_turns,
    rails,
    slots,
)
from collector.model.probing import Link, Nic, ProbeHost, ProbeSettings

DEGREE = 6
counts = st.integers(2, 80)
epochs = st.integers(0, 10**7)


def links_of(settings: ProbeSettings) -> frozenset[Link]:
    """All links that stay, over all rails."""
    return frozenset(link for nics in rails(settings.nics).values() for link in fixed_links(nics, settings.degree))


def rail_of(count: int, rail: int = 0) -> tuple[Nic, ...]:
    return tuple(Nic(f"gpu-{n}", f"mlx5_{rail}", f"10.{rail}.0.{n}", rail) for n in range(count))


def cluster_of(nodes: int, rail_count: int) -> ProbeSettings:
    by_rail = [rail_of(nodes, rail) for rail in range(rail_count)]
    return ProbeSettings(tuple(ProbeHost(f"gpu-{n}", "", tuple(nics[n] for nics in by_rail)) for n in range(nodes)))


def degrees(links: frozenset[Link]) -> Counter[str]:
    return Counter(end for link in links for end in (link.source, link.destination))


@given(counts)
def test_every_nic_has_about_as_many_links_and_a_small_rail_all_pairs(count: int) -> None:
    found = degrees(fixed_links(rail_of(count), DEGREE))
    assert len(found) == count
    assert all(min(2, count - 1) <= degree <= DEGREE for degree in found.values())
    if count <= DEGREE + 1:
        assert set(found.values()) == {count - 1}


def test_in_a_large_rail_nearly_every_nic_has_just_so_many_links() -> None:
    found = degrees(fixed_links(rail_of(1250), DEGREE))
    assert sum(found.values()) / len(found) > 0.99 * DEGREE


@given(st.integers(9, 80), st.data())
def test_a_node_more_or_less_changes_few_links(count: int, data: st.DataObject) -> None:
    nics = rail_of(count)
    gone = data.draw(st.sampled_from(nics))
    before = fixed_links(nics, DEGREE)
    after = fixed_links(tuple(nic for nic in nics if nic != gone), DEGREE)
    others = {link for link in before if gone.key not in (link.source, link.destination)}
    assert others <= after, "no link between two that stay is lost"
    assert len(after - before) <= DEGREE // 2, "one is closed in each ring"


@given(counts, st.randoms())
def test_the_order_of_the_list_does_not_matter(count: int, chance: object) -> None:
    settings_ = cluster_of(count, 1)
    shuffled = ProbeSettings(tuple(reversed(settings_.hosts)))
    assert links_of(settings_) == links_of(shuffled)
    assert own_turns(settings_, "gpu-0", 7) == own_turns(shuffled, "gpu-0", 7)


@given(counts, epochs)
def test_within_a_slot_no_nic_stands_twice_and_every_link_has_its_slot(count: int, epoch: int) -> None:
    nics = rail_of(count)
    rounds = slots(nics, epoch, DEGREE, 0.1)
    for links in rounds[1:]:
        assert all(times == 1 for times in degrees(frozenset(links)).values())
    assert [link.source for link in rounds[0]] == [nic.key for nic in nics]
    fixed = fixed_links(nics, DEGREE)
    asked = [link for links in rounds[1:] for link in links]
    assert len(asked) == len(set(asked))
    assert set(asked) == fixed | changing_links(nics, epoch, fixed, 0.1)


@given(st.integers(20, 80), epochs)
def test_a_tenth_changes_from_period_to_period(count: int, epoch: int) -> None:
    nics = rail_of(count)
    fixed = fixed_links(nics, DEGREE)
    now, later = (changing_links(nics, one, fixed, 0.1) for one in (epoch, epoch + 1))
    assert not now & fixed
    assert 0 < len(now) <= round(0.1 * len(fixed))
    assert now != later


@given(st.integers(2, 20), st.integers(1, 4), epochs)
def test_each_link_of_the_cluster_is_asked_by_one_node_on_one_rail(nodes: int, rail_count: int, epoch: int) -> None:
    settings_ = cluster_of(nodes, rail_count)
    asked = [turn.link for host in settings_.hosts for turn in own_turns(settings_, host.node, epoch)]
    assert len(asked) == len(set(asked))
    assert links_of(settings_) <= set(asked)
    assert all(link.source.partition("/")[2] == link.destination.partition("/")[2] for link in asked)
    assert set(rails(settings_.nics)) == set(range(rail_count))


@given(epochs, st.floats(0, 50))
def test_a_loaded_host_probes_less_and_never_not_at_all(epoch: int, load: float) -> None:
    pace = 1
    for _ in range(4):
        pace = next_pace(pace, load)
    link = Link("a/0", "b/0")
    assert sum(is_due(link, epoch + n, pace) for n in range(10 * pace)) == 10


def test_the_pace_comes_back_only_when_the_load_is_clearly_gone() -> None:
    assert next_pace(1, 0.9) == 4
    assert next_pace(4, 0.8) == 4
    assert next_pace(4, 0.6) == 2
    assert next_pace(2, 0.6) == 2
    assert next_pace(2, 0.1) == 1


def test_work_grows_with_the_number_of_nics() -> None:
    def seconds(count: int) -> float:
        nics = rail_of(count)
        began = time.process_time()
        slots(nics, 1, DEGREE, 0.1)
        return time.process_time() - began

    seconds(100)
    assert seconds(8000) < 40 * max(seconds(1000), 0.005)

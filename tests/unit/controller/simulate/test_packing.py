"""Gangs on whole nodes: what fits, where it goes, what is given back."""

from __future__ import annotations

import pytest

from controller.simulate.packing import Packing


def test_a_small_gang_goes_to_the_fullest_node_that_takes_it() -> None:
    nodes = Packing(3, 8)
    nodes.take(5)
    nodes.take(6)
    assert [nodes.take(2), nodes.take(3)] == [((1, 2),), ((0, 3),)]


def test_a_large_gang_takes_whole_nodes_and_its_rest_shares_one() -> None:
    nodes = Packing(4, 8)
    nodes.take(4)
    held = nodes.take(20)
    assert held == ((1, 8), (2, 8), (0, 4))
    assert nodes.fits(8)
    assert not nodes.fits(9)


@pytest.mark.parametrize(
    ("busy", "gpus", "fits"), [((), 16, True), ((1,), 16, False), ((1,), 15, True), ((2, 8), 7, False)]
)
def test_what_fits_depends_on_nodes_and_not_on_the_sum(busy: tuple[int, ...], gpus: int, fits: bool) -> None:
    nodes = Packing(2, 8)
    for one in busy:
        nodes.take(one)
    assert nodes.fits(gpus) is fits


def test_what_is_given_back_can_be_taken_again() -> None:
    nodes = Packing(2, 8)
    held = nodes.take(12)
    nodes.give(held)
    nodes.hold(held)
    assert not nodes.fits(8)
    nodes.give(held)
    assert nodes.fits(16)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="no room for 9 GPUs"):
        Packing(1, 8).take(9)

"""Quotas on clusters of other sizes, and for traces that come without."""

from __future__ import annotations

import pytest

from controller.simulate.shares import Share, scaled, share_of, shares_by_demand


def test_a_quota_is_split_into_what_is_gits_and_what_may_be_moved() -> None:
    assert share_of("a", 64) == Share("a", 8, 56, 64)
    assert share_of("a", 4) == Share("a", 4, 0, 4)
    assert (share_of("a", 64, bursts=2).counted, Share("a", 8, 8).counted) == (128, 16)


def test_scaling_keeps_whole_nodes_and_room_for_the_largest_job() -> None:
    shares = (share_of("a", 128, bursts=2), Share("b", 8, 56, ceiling=100), share_of("c", 512))
    quarter = scaled(shares, 0.25, {"b": 32})
    assert [share.quota for share in quarter] == [32, 32, 128]
    assert [share.guarantee for share in quarter] == [8, 8, 8]
    assert (quarter[0].burst, quarter[1].ceiling) == (64, 50)


def test_a_ratio_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="expected more than 0"):
        scaled((), 0.0, {})


def test_without_quotas_demand_decides_at_the_usual_load() -> None:
    shares = shares_by_demand({"b": 10.0, "a": 0.1}, {"a": 24, "b": 1})
    assert [(share.tenant, share.quota) for share in shares] == [("a", 24), ("b", 16)]

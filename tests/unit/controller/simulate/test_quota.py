"""Quota in a tree of Cohorts: what a queue may use, what its tenant keeps, and when it borrows."""

from __future__ import annotations

import pytest

from controller.simulate.quota import QuotaNode, QuotaTree


def tree(float_gpus: int = 4, shared: int = 8) -> QuotaTree:
    """Two tenants of floor 8; `a` has a float."""
    return QuotaTree(
        [
            QuotaNode("site", None),
            QuotaNode("tenant-a", "site", 8, lending_limit=8),
            QuotaNode("a", "tenant-a"),
            QuotaNode("trimtab-a", "tenant-a", float_gpus),
            QuotaNode("tenant-b", "site", 8, lending_limit=8),
            QuotaNode("b", "tenant-b"),
            QuotaNode("trimtab-shared", "site", shared),
        ]
    )


def test_a_float_is_its_tenants_reserve_and_the_floor_is_lent() -> None:
    quota = tree()
    assert (quota.available("a"), quota.available("b")) == (8 + 4 + 8 + 8, 8 + 8 + 8)


def test_use_of_the_float_stays_below_and_the_rest_is_passed_on() -> None:
    quota = tree()
    quota.hold("a", 3)
    assert (quota.usage("tenant-a"), quota.usage("site")) == (3, 0)
    quota.hold("a", 5)
    assert (quota.usage("tenant-a"), quota.usage("site")) == (8, 4)
    quota.hold("a", -6)
    assert (quota.usage("tenant-a"), quota.usage("site")) == (2, 0)


def test_who_uses_more_than_its_subtree_holds_borrows() -> None:
    quota = tree()
    quota.hold("b", 8)
    assert not quota.is_borrowing("tenant-b")
    assert quota.is_borrowing("tenant-b", 1)
    assert (quota.borrowing_height("a", 12), quota.borrowing_height("a", 13)) == (1, 2)


def test_a_lowered_leaf_evicts_nobody_and_leaves_less_than_nothing() -> None:
    quota = tree()
    quota.hold("b", 24)
    quota.replace(QuotaNode("trimtab-shared", "site", 0))
    assert quota.held("b") == 24
    assert quota.available("b") == -8
    assert quota.available("a") == 4 - 8


def test_nobody_holds_less_than_nothing() -> None:
    with pytest.raises(ValueError, match="b would hold -1"):
        tree().hold("b", -1)

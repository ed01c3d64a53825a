"""One cycle of Kueue: who is judged by what, whom a gang may evict. Each was once different from the real Kueue."""

from __future__ import annotations

from collections.abc import Sequence

from controller.simulate.admission import Admit, PassOver, Preempt, cycle, victims_for
from controller.simulate.cluster_spec import JobSpec
from controller.simulate.gang import Gang
from controller.simulate.quota import QuotaNode, QuotaTree

Shape = tuple[str, str | None, int]


def tree(*queues: QuotaNode, root: int = 0) -> QuotaTree:
    return QuotaTree([QuotaNode("all", None, root), *queues])


def queue(name: str, nominal: int, lending: int | None = None, borrowing: int | None = None) -> QuotaNode:
    return QuotaNode(name, "all", nominal, lending, borrowing, is_queue=True)


def gang(name: str, tenant: str, gpus: int, priority: int = 0, at: float = 0.0) -> Gang:
    return Gang(JobSpec(name, tenant, 1, gpus, 1.0, priority), 0, at, name, name, admitted_at=at)


def held(quota: QuotaTree, *gangs: Gang) -> Sequence[Gang]:
    for one in gangs:
        quota.hold(one.spec.tenant, one.spec.gpus)
    return gangs


def names(gangs: Sequence[Gang]) -> list[str]:
    return sorted(one.uid for one in gangs)


def test_what_needs_more_than_the_whole_tree_could_cover_evicts_nobody_not_even_in_its_own_queue() -> None:
    quota = tree(queue("a", 4), queue("b", 4))
    there = held(quota, gang("low", "a", 8))
    assert victims_for(quota, gang("within", "a", 4, 10), there) == there, "up to its own nominal quota it may"
    assert victims_for(quota, gang("beyond", "a", 5, 10), there) == ()


def test_a_queue_borrows_no_more_than_its_limit() -> None:
    quota = tree(queue("a", 2, borrowing=3), queue("b", 10))
    assert (quota.available("a"), quota.most("a")) == (5, 5)
    held(quota, gang("one", "a", 4))
    assert (quota.available("a"), quota.most("a")) == (1, 5)
    assert cycle(quota, [gang("two", "a", 2)], ()) == [PassOver(gang("two", "a", 2))]


def test_a_limit_counts_what_is_borrowed_and_not_what_is_kept_back() -> None:
    quota = tree(queue("a", 6, lending=2, borrowing=1), queue("b", 10))
    assert quota.available("a") == 7, "4 kept, 2 lent out, 1 borrowed"


def test_other_queues_without_a_better_claim_give_way_only_if_nothing_is_borrowed_then() -> None:
    quota = tree(queue("a", 4), queue("b", 2))
    there = held(quota, gang("own", "a", 2, 0), gang("other", "b", 4, 10))
    assert names(victims_for(quota, gang("new", "a", 4, 5), there)) == ["other", "own"]
    assert victims_for(quota, gang("new", "a", 4, 0), there) == (), "its own is no lower, and with it a would borrow"


def test_victims_come_from_other_queues_first_then_lower_priority_then_the_newest() -> None:
    quota = tree(queue("a", 6), queue("b", 0), queue("c", 0))
    there = held(
        quota, gang("own", "a", 1), gang("old", "b", 2), gang("new", "c", 2, at=9.0), gang("high", "c", 1, 10, at=9.0)
    )
    assert names(victims_for(quota, gang("head", "a", 2, 5), there)) == ["new"]
    assert names(victims_for(quota, gang("head", "a", 5, 5), there)) == ["high", "new", "old"]


def test_who_borrows_higher_up_is_served_after_who_borrows_in_a_lower_subtree() -> None:
    nodes = (
        QuotaNode("deep", "all", 4),
        QuotaNode("x", "deep", is_queue=True),
        QuotaNode("deeper", "deep"),
        QuotaNode("y", "deeper", is_queue=True),
        queue("z", 0),
    )
    quota = tree(*nodes, root=4)
    assert [quota.borrowing_height(name, 2) for name in "xyz"] == [2, 2, 3], "how tall the subtree is that covers it"
    assert (quota.smallest_cover("x", 2), quota.smallest_cover("z", 9)) == ("deep", None)
    steps = cycle(quota, [gang("z", "z", 2, 10), gang("y", "y", 6), gang("x", "x", 2)], ())
    assert steps == [Admit(gang("x", "x", 2)), Admit(gang("z", "z", 2, 10))], "y is looked at in the next cycle again"


def test_all_heads_are_judged_by_what_was_there_when_the_cycle_began() -> None:
    quota = tree(queue("a", 0), queue("b", 0), root=4)
    heads = [gang("a", "a", 3), gang("b", "b", 2, at=1.0)]
    assert cycle(quota, heads, ()) == [Admit(heads[0])]
    assert quota.usage("all") == 0, "it decides and changes nothing"


def test_nobody_evicts_whom_another_one_evicts_in_the_same_cycle() -> None:
    quota = tree(queue("a", 4), queue("b", 4), queue("c", 0))
    there = held(quota, gang("lent", "c", 8))
    heads = [gang("a", "a", 2), gang("b", "b", 2, at=1.0)]
    assert cycle(quota, heads, there) == [Preempt(heads[0], tuple(there))]

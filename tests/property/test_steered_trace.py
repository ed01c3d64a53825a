"""Leaving out ticks that see nothing to decide on changes nothing, and steering never loses a job or a GPU."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from controller.evaluate.score import SHIPPED
from controller.evaluate.steered_trace import SteeredTrace, Steering
from controller.simulate.baselines import Conditions, Placement
from controller.simulate.shares import Share
from tests.traces import Restless, Row, table

SHARES = (
    Share("a", 8, 8, burst=32, tier="critical", rank=100),
    Share("b", 8, 8),
    Share("c", 8, 0, tier="best-effort"),
)
ROWS = st.lists(
    st.builds(
        Row,
        st.integers(0, 7_200).map(float),
        st.integers(60, 7_200).map(float),
        st.sampled_from((1, 2, 4, 8, 16)),
        st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=12,
)
CROWDS = st.lists(
    st.builds(
        Row,
        st.integers(0, 450).map(lambda number: number * 20.0),
        st.integers(1, 60).map(lambda number: number * 100.0),
        st.sampled_from((1, 2, 4, 8, 16)),
        st.sampled_from("aaabbc"),
    ),
    min_size=20,
    max_size=40,
)
"""Some hours in which many ask for more than there is: changes are made, judged and sent back."""


@settings(max_examples=25)
@given(ROWS | CROWDS, st.sampled_from(Placement))
def test_a_tick_that_is_left_out_would_have_changed_nothing(rows: list[Row], placement: Placement) -> None:
    jobs, conditions = table(rows).in_order(), Conditions(placement=placement)
    runs = [kind(jobs, SHARES, conditions, Steering(SHIPPED)) for kind in (SteeredTrace, Restless)]
    for run in runs:
        run.advance()
    assert runs[0].fates == runs[1].fates
    assert runs[0].changes == runs[1].changes
    assert runs[0].ledger.changes == runs[1].ledger.changes
    used, changes = 0, dict[float, int]()
    for row, begin, end in runs[0].fates.stays:
        changes[begin] = changes.get(begin, 0) + jobs.gpus[row]
        changes[end] = changes.get(end, 0) - jobs.gpus[row]
    for at in sorted(changes):
        used += changes[at]
        assert 0 <= used <= 40

"""When time alone may make a difference: until then the same facts are answered in the same way. Pure.

Every comparison of `decide()` with the time has its moment here: who adds one there adds it here. A moment too many
costs one more look; one too few would be a decision that comes too late.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf, nextafter

from controller.api.policy import Policy
from controller.policy.change import Change, Stage
from controller.policy.guards import lasts_from
from controller.policy.ledger import Ledger
from controller.policy.proposals import Proposal


def next_moment(ledger: Ledger, proposals: Iterable[Proposal], policy: Policy, now: float) -> float:
    """The earliest moment after `now` at which something here runs out or may begin; infinite: there is none."""
    moments = [*_remembered(ledger, policy, now)]
    moments += (lasts_from(work) for proposal in proposals for work in proposal.works)
    return min((moment for moment in moments if moment > now), default=inf)


def _remembered(ledger: Ledger, policy: Policy, now: float) -> Iterator[float]:
    hour_seconds, counts = policy.day_seconds / 24, max(policy.day_seconds, policy.cadence.dwell_seconds)
    for change in ledger.changes:
        if now - change.created_at <= counts:
            yield change.created_at + policy.cadence.dwell_seconds
            yield change.created_at + hour_seconds
            yield change.created_at + policy.day_seconds
        if change.recalled_at is not None:
            yield change.recalled_at + policy.cadence.dwell_seconds
    for change in ledger.active:
        yield from _in_force(change, policy)
    # What is older than an hour is forgotten already, and the oldest stands first.
    yield from (times[0] + hour_seconds for times in ledger.vanished.values())
    yield from (one.at + hour_seconds for one in ledger.evictions.recent[:1])


def _in_force(change: Change, policy: Policy) -> Iterator[float]:
    yield change.expires_at
    yield change.forecast.ready_by
    if change.unneeded_since is not None:
        yield change.unneeded_since + policy.cadence.dwell_seconds
    if change.stage is Stage.RETURNING and change.returning_since is not None:  # then it is told that it goes on
        yield nextafter(change.returning_since + change.expires_at - change.created_at, inf)

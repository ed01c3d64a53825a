"""What `lend` and `objectives` have in common: the best move out of a list of sources, and what to say without one."""

from __future__ import annotations

from collections.abc import Sequence

from collector.model.reading import Known
from controller.policy.finding import Finding
from controller.policy.proposals import NoProposal, Proposal, View, move, prefix, room
from controller.policy.targets import Target


def best_move(finding: Finding, view: View, sources: Sequence[tuple[Target, int]]) -> Proposal | NoProposal | None:
    """The move that starts most of the overdue gangs, in the order of their queue; the first such source wins.

    `sources`: own objects, and how many GPUs each has to give. None: there is no source at all.
    """
    snapshot, destination = view.snapshot, view.own(finding)
    state = view.states.get((finding.tenant, finding.pool))
    entitled = state.entitled_now if state is not None else None
    if state is None or destination is None or not isinstance(entitled, Known):
        return None
    most = room(state, snapshot, entitled.value)
    queue = view.queue(finding)
    best: Proposal | None = None
    for source, supply in sources:
        works, amount = prefix(queue, state.reserved - entitled.value, min(most, supply))
        if works and (best is None or len(works) > len(best.works)):
            best = move(finding, view, (source, destination), works, amount)
    if best is not None:
        return best
    needs = finding.works[0].gpus + state.reserved - entitled.value
    sentence = (
        f"{finding.works[0].title} needs {needs} more GPUs of entitlement; at most {most} are allowed in one step "
        "and no lender has so many to spare."
    )
    return NoProposal(finding, "NOTHING_TO_TAKE", sentence)

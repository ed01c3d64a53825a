"""Keeps the history: what the recorder was given, and the changes of the policy as the ledger tells them.

Raises nothing and holds up nobody: what can not be kept is said. Decides nothing about the history itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from collector.accounting.schema.rows import PolicyStep
from collector.sources.errors import CredentialsProblem, SourceError
from controller.policy.change import Change

if TYPE_CHECKING:
    from collector.accounting.recorder import Recorder

_ROUNDS_PER_LEDGER: Final = 5
"""The ledger is asked for in every so many rounds of writing."""


class Keeping:
    """Writes in the thread that calls `write`."""

    def __init__(self, recorder: Recorder, cluster: str, changes: Callable[[], Iterable[Change]] | None = None) -> None:
        self.recorder, self._cluster, self._changes = recorder, cluster, changes
        self._rounds = 0
        self._ledger_problem = ""

    def write(self) -> Mapping[str, str]:
        """Write what waits; what could not be kept, by a word, in sentences."""
        if self._rounds % _ROUNDS_PER_LEDGER == 0:
            self._ledger_problem = self._read_ledger()
        self._rounds += 1
        return self._problems(self.recorder.write())

    def close(self) -> Mapping[str, str]:
        """Write a last time."""
        return self._problems(self.recorder.close())

    def _problems(self, of_writing: str) -> Mapping[str, str]:
        found = {"unwritable": of_writing, "ledger": self._ledger_problem}
        return {word: sentence for word, sentence in found.items() if sentence}

    def _read_ledger(self) -> str:
        if self._changes is None:
            return ""
        try:
            changes = tuple(self._changes())
        except (SourceError, CredentialsProblem) as problem:
            return f"policy changes: {problem}"
        self.recorder.add_policy(step for change in changes for step in policy_steps(self._cluster, change))
        return ""


def policy_steps(cluster: str, change: Change) -> Iterator[PolicyStep]:
    """The steps that a change itself tells the moments of."""
    moments = (
        ("intended", change.created_at, change.reason),
        ("on-trial", change.applied_at, ""),
        ("judged", change.judged_at, change.verdict_reason),
        ("returning", change.returning_since, change.return_reason),
        ("ended", change.ended_at, change.return_reason),
    )
    for stage, at, reason in moments:
        if at is not None:
            yield PolicyStep(
                cluster=cluster,
                change=change.id,
                stage=stage,
                at=round(at, 3),
                policy=change.policy,
                tenant=change.tenant,
                pool=change.pool,
                source=change.source,
                destination=change.destination,
                gpus=change.amount,
                verdict=change.verdict.value if change.verdict is not None and stage in ("judged", "ended") else "",
                reason=reason,
            )

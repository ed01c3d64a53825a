"""What a job itself declares about its end, and the prepared classes that a deadline may choose. Plain values. Pure.

A run time is only ever known here because whoever handed the job in said so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEADLINE_ANNOTATION: Final = "trimtab.io/deadline"
"""On a Job: when it should have ended, RFC 3339."""
EXPECTED_RUN_ANNOTATION: Final = "trimtab.io/expected-run"
"""On a Job: how long it is expected to run, such as 3h."""
DEADLINE_WITHIN_ANNOTATION: Final = "trimtab.io/deadline-within"
"""On a WorkloadPriorityClass: it is for work that is due within so long, such as 4h; or `missed`."""
MISSED: Final = "missed"


@dataclass(frozen=True, slots=True)
class Deadline:
    """When work should have ended, in epoch seconds, and how long it is expected to run (0: not declared)."""

    at: float
    run_seconds: float = 0.0

    def can_be_met(self, now: float) -> bool:
        """Whether it would end in time if it started now."""
        return now + self.run_seconds <= self.at


@dataclass(frozen=True, slots=True)
class DeadlineClass:
    """A prepared priority class. `within_seconds` None: for work whose deadline can no longer be met."""

    name: str
    value: int
    within_seconds: float | None

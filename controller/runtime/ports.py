"""What the loop needs of the places where its memory, its right to write and people's word are kept. Types only.

In a cluster these are ConfigMaps and a Lease; a demonstration keeps them in the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from controller.knobs.own import Baseline
from controller.policy.ledger import Ledger


class LedgerKeeper(Protocol):
    """Keeps the ledger. Raises SourceError, and LedgerLost when somebody else wrote it."""

    unreadable: dict[str, str]
    """Entries that are no change, and why."""
    let_go: str
    """Why the last save kept fewer changes than it was given; "" when it kept all."""

    def load(self) -> Ledger:
        """The ledger as it is kept."""

    def save(self, ledger: Ledger) -> None:
        """Write it if it differs from what is kept; returns once it is durable."""

    def reload(self, before: Ledger) -> Ledger:
        """Read again, keeping of `before` what only lives in memory."""


class BaselineReader(Protocol):
    """Reads the baseline that people keep."""

    def read(self) -> Baseline:
        """The baseline; empty where none is kept. Raises InputError, SourceError."""


class Leadership(Protocol):
    """Says who may write."""

    identity: str
    duration_seconds: int
    obstacle: str
    """Why it is not ours; "" when nothing is known against it."""

    def acquire(self) -> bool:
        """Take or renew it; False when somebody else holds it."""

    def held(self) -> bool:
        """Whether it is ours."""

    def check(self) -> None:
        """Raise FenceError unless it is ours."""

    def release(self) -> None:
        """Let go, so that the next one need not wait."""


class StatusKeeper(Protocol):
    """Takes the controller's own status to where others read it."""

    def write(self, document: Mapping[str, Any]) -> None:
        """Keep it. Raises SourceError."""

"""What a cluster keeps for the loop (ledger, baseline, leadership), kept in this process instead. May do no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from controller.knobs.own import Baseline, read_baseline
from controller.policy.ledger import Ledger
from controller.policy.ledger_text import change_text, read_change
from controller.runtime.control import Control


@dataclass(slots=True)
class MemoryLedger:
    """The ledger as text, as a cluster would hold it: what can not be written and read again is noticed."""

    unreadable: dict[str, str] = field(default_factory=dict)
    let_go: str = ""
    texts: tuple[str, ...] = ()

    def save(self, ledger: Ledger) -> None:
        """Keep it."""
        self.texts = tuple(change_text(change) for change in ledger.changes)

    def load(self) -> Ledger:
        """Read it again. Raises ValueError for a text that is no change."""
        return Ledger(tuple(read_change(text) for text in self.texts))

    def reload(self, before: Ledger) -> Ledger:
        """Read it again, keeping of `before` what only lives in memory."""
        return replace(before, changes=self.load().changes)


@dataclass(frozen=True, slots=True)
class TextBaseline:
    """The baseline as a text."""

    text: str

    def read(self) -> Baseline:
        """The baseline. Raises InputError."""
        return read_baseline(self.text, "baseline of the demo")


@dataclass(slots=True)
class SoleLeader:
    """There is one controller, so it leads."""

    identity: str = "demo"
    duration_seconds: int = 30
    obstacle: str = ""

    def acquire(self) -> bool:
        """Taken."""
        return True

    def held(self) -> bool:
        """Ours."""
        return True

    def check(self) -> None:
        """Nobody else can hold it."""

    def release(self) -> None:
        """Nobody waits for it."""


def never_paused() -> Control:
    """People's word in a demonstration: go on."""
    return Control()

"""The result of a demonstration: what scripts read, and whether it showed what it is there to show. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts since the curtain rose."""

    alerts_fired: int
    """Firing alerts that the real Alertmanager delivered to the doorbell."""
    changes: int
    verdicts: Mapping[str, int]
    wrong_cause: tuple[str, ...]
    """Changes made for a tenant although its trouble could be seen to be storage: none may be."""
    storage_fault_named: bool
    seconds: float
    time_scale: float
    seed: int

    @property
    def passed(self) -> bool:
        """An alert came, a change was made, one helped, and none followed a wrong cause."""
        return (
            self.alerts_fired > 0 and self.changes > 0 and self.verdicts.get("helped", 0) > 0 and not self.wrong_cause
        )

    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            **asdict(self),
            "wrong_cause_changes": len(self.wrong_cause),
            "seconds": round(self.seconds, 1),
            "passed": self.passed,
            "real": ["prometheus", "alertmanager", "rules", "collector", "doorbell", "loop"],
            "simulated": ["cluster", "exporter values"],
        }

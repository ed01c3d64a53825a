"""What was made of the text of one source: readings in our own names, and the fate of every sample. Values only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from collector.model.reading import Reading


@dataclass(frozen=True, slots=True)
class NormalReading:
    """One number under the name, in the unit and with the labels of the catalogue."""

    name: str
    value: Reading[float]
    unit: str
    labels: Mapping[str, str]
    time: float | None
    """Epoch seconds at which the source says that it was so, or was asked; None: nobody said."""
    source: str


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """Where every sample went: read = used + passed + sum of dropped."""

    used: int = 0
    """Stand in a reading, or said who holds a device."""
    passed: int = 0
    """Well formed, and about something that the catalogue does not name: left as they are."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Reason → how many."""

    @property
    def read(self) -> int:
        """All that looked like a sample, bad ones as well."""
        return self.used + self.passed + sum(self.dropped.values())

    def __add__(self, other: SampleCounts) -> SampleCounts:
        dropped = Counter(self.dropped)
        dropped.update(other.dropped)
        return SampleCounts(self.used + other.used, self.passed + other.passed, dict(dropped))


@dataclass(frozen=True, slots=True)
class OwnerSum:
    """What the pods of one namespace have of one fact, over all devices that they hold."""

    name: str
    namespace: str
    tenant: str
    value: Reading[float]
    """Parts of shared devices that nobody measured are estimated; Unknown where any device's value is not known."""
    lowest: float
    highest: float
    """Certain bounds of it."""
    unit: str


@dataclass(frozen=True, slots=True)
class Collected:
    """All of one text, folder or answer."""

    readings: tuple[NormalReading, ...]
    samples: SampleCounts
    sources: tuple[str, ...] = ()
    """What it was read as."""
    notes: tuple[str, ...] = ()
    """What a person should know about it, in sentences."""
    sums: tuple[OwnerSum, ...] = ()


def united(parts: Iterable[Collected]) -> Collected:
    """Several parts of one answer."""
    readings: list[NormalReading] = []
    samples = SampleCounts()
    sources: dict[str, None] = {}
    notes: dict[str, None] = {}
    sums: list[OwnerSum] = []
    for part in parts:
        sums.extend(part.sums)
        readings.extend(part.readings)
        samples += part.samples
        sources.update(dict.fromkeys(part.sources))
        notes.update(dict.fromkeys(part.notes))
    return Collected(tuple(readings), samples, tuple(sources), tuple(notes), tuple(sums))

"""Durations of rules: divided by the time scale, never below what scrapes can fill, written as PromQL. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 86400.0

_SCRAPE_SECONDS: Final = 15.0
_FASTEST_SCRAPE_SECONDS: Final = 1.0
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1))


@dataclass(frozen=True, slots=True)
class Timing:
    """Turns nominal durations into those of a replay that runs `time_scale` times as fast as real time."""

    time_scale: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.time_scale) and self.time_scale > 0):
            raise ValueError(f"time_scale: {self.time_scale} is not a finite number above 0")

    @property
    def scrape_seconds(self) -> float:
        """How often the rules expect a scrape, at least."""
        return max(_SCRAPE_SECONDS / self.time_scale, _FASTEST_SCRAPE_SECONDS)

    @property
    def minute_seconds(self) -> float:
        """Distance of the samples that indicators are counted in; not below a scrape."""
        return max(MINUTE / self.time_scale, self.scrape_seconds)

    @property
    def look_seconds(self) -> float:
        """How often alerts are evaluated; not below a scrape."""
        return max(MINUTE / 2 / self.time_scale, self.scrape_seconds)

    def seconds(self, nominal_seconds: float) -> float:
        """A range or a `for`: scaled, and never shorter than two scrapes."""
        return max(nominal_seconds / self.time_scale, 2 * self.scrape_seconds)

    def text(self, nominal_seconds: float) -> str:
        """The same, as PromQL writes it."""
        return promql_duration(self.seconds(nominal_seconds))

    def age_limit(self, nominal_seconds: float, floor_seconds: float) -> float:
        """How old a program's work may be: programs do not get faster with the time scale, hence an own floor."""
        return max(nominal_seconds / self.time_scale, floor_seconds)

    def expected_samples(self, nominal_seconds: float) -> float:
        """How many minute samples a window without gaps holds."""
        return self.seconds(nominal_seconds) / self.minute_seconds


def promql_duration(seconds: float) -> str:
    """Seconds as "28d", "1h30m", "500ms": to the millisecond. Raises ValueError below one millisecond."""
    remaining = round(seconds * 1000)
    if remaining < 1:
        raise ValueError(f"{seconds} s is shorter than the millisecond that PromQL can say")
    text = ""
    for unit, size in _UNITS:
        count, remaining = divmod(remaining, size)
        text += f"{count}{unit}" if count else ""
    return text


def promql_number(value: float) -> str:
    """A number with six significant digits and no noise: 0.01, 13.44, 120."""
    return f"{value:.6g}"

"""What two readings of one source tell that one can not: the share of time that counters of time grew by. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from collector.catalogue import accelerators as names
from collector.model.collected import Collected, NormalReading
from collector.model.reading import Known, Reading, Unknown

MOST_OF_THE_TIME: Final = 1.1
"""An exporter's reading is older than its answer by up to its own interval, so a full share may look a little more."""

_Key = tuple[tuple[str, str], ...]


def with_shares(earlier: Collected, later: Collected, seconds: float) -> Collected:
    """The later readings, with the share of throttled time filled in where it takes two readings of counters.

    `seconds`: between the two. Reasons overlap, so the share is that of the worst of them.
    """
    before, after = _throttled(earlier.readings), _throttled(later.readings)
    shares = {
        device: _share(before.get(device, {}), reasons, seconds) for device, reasons in after.items() if seconds > 0
    }
    return replace(later, readings=tuple(_filled(one, shares) for one in later.readings))


def _throttled(readings: Iterable[NormalReading]) -> Mapping[_Key, dict[str, Reading[float]]]:
    found: dict[_Key, dict[str, Reading[float]]] = {}
    for one in readings:
        if one.name == names.THROTTLED:
            found.setdefault(_device(one), {})[one.labels.get("throttle", "")] = one.value
    return found


def _device(one: NormalReading) -> _Key:
    return tuple(sorted((name, one.labels.get(name, "")) for name in ("vendor", "node", "device")))


def _share(before: Mapping[str, Reading[float]], after: Mapping[str, Reading[float]], seconds: float) -> Reading[float]:
    worst = 0.0
    for reason, now in after.items():
        then = before.get(reason, Unknown(f"throttling by {reason} was not told the first time"))
        if isinstance(now, Unknown) or isinstance(then, Unknown):
            return now if isinstance(now, Unknown) else then
        share = (now.value - then.value) / seconds
        if share < 0:
            return Unknown("its counters began again between the two readings")
        if share > MOST_OF_THE_TIME:
            return Unknown(f"throttled {share:.3g} times as long as time passed: the counter's unit must have changed")
        worst = max(worst, share)
    return Known(min(worst, 1.0))


def _filled(one: NormalReading, shares: Mapping[_Key, Reading[float]]) -> NormalReading:
    if one.name != names.THROTTLE or isinstance(one.value, Known):
        return one
    share = shares.get(_device(one))
    return one if share is None else replace(one, value=share)

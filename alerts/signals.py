"""The post of an Alertmanager (webhook, version 4) → typed signals, each with an idempotency key. Pure.

A signal is a reason to look, never a command. Whatever can not be read becomes a `Problem` that names its place, and
does not hide the rest of the post.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from alerts.rules.model import SIGNAL_LABEL, SignalKind
from collector.model.quantities import parse_time

_ZERO_TIME: Final = "0001-01-01T00:00:00"
_WITH_ZONE: Final = re.compile(r".+(?:Z|[+-]\d\d:\d\d)")
_FNV_OFFSET: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_SEPARATOR: Final = b"\xff"


class SignalStatus(StrEnum):
    """Whether the alert goes on. "Resolved" may come late or never: nothing may depend on it alone."""

    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class Signal:
    """One of our alerts, turned into a reason to look. `None`: the alert does not name it, look at all."""

    kind: SignalKind
    alert: str
    status: SignalStatus
    cluster: str | None
    tenant: str | None
    pool: str | None
    starts_at: float
    """Epoch seconds."""
    fingerprint: str
    key: str
    """Equal for every repetition of the same news: group, alert, start and status."""
    labels: Mapping[str, str]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the post that could not be read."""

    path: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class WebhookReading:
    """All that one post says."""

    signals: tuple[Signal, ...] = ()
    unknown_alerts: tuple[str, ...] = ()
    """Names of alerts that carry no kind of signal that we know: somebody else's, or a newer version's."""
    problems: tuple[Problem, ...] = ()
    group_key: str = ""
    truncated: int = 0
    """Alerts that Alertmanager left out: then the signals are not all there is."""
    readable: bool = True
    """False when the body is no post of an Alertmanager at all."""

    @property
    def keys(self) -> frozenset[str]:
        """The idempotency keys of its signals."""
        return frozenset(signal.key for signal in self.signals)

    @property
    def rings(self) -> bool:
        """Whether there is a reason to look now."""
        return self.truncated > 0 or any(signal.status is SignalStatus.FIRING for signal in self.signals)


def signals_from_webhook(payload: object) -> WebhookReading:
    """Reads a decoded JSON body. Unknown keys are left alone; never raises for what a sender may post."""
    if not isinstance(payload, Mapping):
        return WebhookReading(problems=(_problem("body", payload, "an object"),), readable=False)
    alerts = payload.get("alerts")
    if not isinstance(alerts, list):
        return WebhookReading(problems=(_problem("alerts", alerts, "a list"),), readable=False)
    problems: list[Problem] = []
    group_key = _group_key(payload, problems)
    truncated = _truncated(payload, problems)
    read = [_alert(alert, f"alerts[{n}]", payload, group_key, problems) for n, alert in enumerate(alerts)]
    return WebhookReading(
        signals=tuple(one for one in read if isinstance(one, Signal)),
        unknown_alerts=tuple(one for one in read if isinstance(one, str)),
        problems=tuple(problems),
        group_key=group_key,
        truncated=truncated,
    )


def fingerprint(labels: Mapping[str, str]) -> str:
    """What Alertmanager computes for a set of labels, for senders that leave it out: 64-bit FNV-1a, sorted by name."""
    value = _FNV_OFFSET
    for name, text in sorted(labels.items()):
        for byte in name.encode() + _SEPARATOR + text.encode(errors="surrogatepass") + _SEPARATOR:
            value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def _alert(
    alert: object, path: str, payload: Mapping[str, object], group_key: str, problems: list[Problem]
) -> Signal | str | None:
    """A signal, the name of an unknown alert, or None with a problem noted."""
    if not isinstance(alert, Mapping):
        problems.append(_problem(path, alert, "an object"))
        return None
    labels = _labels(alert.get("labels"), f"{path}.labels", problems)
    if labels is None:
        return None
    name = labels.get("alertname", "")
    kind = _kind(labels)
    if kind is None:
        return name or "without a name"
    starts_at = _time(alert.get("startsAt"))
    if starts_at is None:
        problems.append(_problem(f"{path}.startsAt", alert.get("startsAt"), "an RFC 3339 time"))
        return None
    status = _status(alert, payload)
    given = alert.get("fingerprint")
    mark = given if isinstance(given, str) and given else fingerprint(labels)
    annotations = alert.get("annotations")
    summary = annotations.get("summary") if isinstance(annotations, Mapping) else None
    return Signal(
        kind=kind,
        alert=name,
        status=status,
        cluster=labels.get("cluster"),
        tenant=labels.get("tenant"),
        pool=labels.get("pool"),
        starts_at=starts_at,
        fingerprint=mark,
        key=_key(group_key, mark, starts_at, status),
        labels=labels,
        summary=summary if isinstance(summary, str) else "",
    )


def _labels(labels: object, path: str, problems: list[Problem]) -> dict[str, str] | None:
    if not isinstance(labels, Mapping):
        problems.append(_problem(path, labels, "an object of texts"))
        return None
    wrong = [name for name, text in labels.items() if not (isinstance(name, str) and isinstance(text, str))]
    problems += [_problem(f"{path}.{name}", labels[name], "a text") for name in wrong]
    return None if wrong else dict(labels)


def _kind(labels: Mapping[str, str]) -> SignalKind | None:
    name = labels.get(SIGNAL_LABEL)
    return next((kind for kind in SignalKind if kind.value == name), None)


def _status(alert: Mapping[str, object], payload: Mapping[str, object]) -> SignalStatus:
    """Its own status; senders older than that leave it out, and give a firing alert no end."""
    for status in SignalStatus:
        if alert.get("status") == status.value:
            return status
    ended = _time(alert.get("endsAt")) is not None
    resolved = payload.get("status") == SignalStatus.RESOLVED.value or ended
    return SignalStatus.RESOLVED if resolved else SignalStatus.FIRING


def _time(text: object) -> float | None:
    """Epoch seconds; None for what is no time, has no zone, or is Go's zero time."""
    if not isinstance(text, str) or text.startswith(_ZERO_TIME) or not _WITH_ZONE.fullmatch(text):
        return None
    try:
        return parse_time(text)
    except (ValueError, OverflowError):
        return None


def _truncated(payload: Mapping[str, object], problems: list[Problem]) -> int:
    count = payload.get("truncatedAlerts", 0)
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return count
    problems.append(_problem("truncatedAlerts", count, "a count"))
    return 0


def _group_key(payload: Mapping[str, object], problems: list[Problem]) -> str:
    value = payload.get("groupKey", "")
    if isinstance(value, str):
        return value
    problems.append(_problem("groupKey", value, "a text"))
    return ""


def _key(group_key: str, mark: str, starts_at: float, status: SignalStatus) -> str:
    """Of fixed length, since group keys may be long; the start as an instant, since zones are written in many ways."""
    parts = "\x00".join((group_key, mark, f"{starts_at:.3f}", status.value))
    return hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()


def _problem(path: str, value: object, expected: str) -> Problem:
    found = "nothing" if value is None else repr(value)
    return Problem(path, found if len(found) <= 80 else found[:77] + "...", expected)

"""The doorbell: an authenticated webhook for Alertmanager. An alert wakes the loop; it commands nothing.

Each post is answered by what Alertmanager makes of the code: it tries again on 5xx and network errors only. So 503 when
busy, never 429; 400 for what can never be right. The same post a hundred times has one effect at most.
"""

from __future__ import annotations

import hmac
import json
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from alerts.signals import Signal, WebhookReading, signals_from_webhook

LARGEST_BODY_BYTES = 1 << 20
_MOST_WAITING = 1000
"""Signals that may wait for the next tick; beyond that the doorbell is busy."""
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What the poster is told."""

    status: int
    body: Mapping[str, str | int]


@dataclass(slots=True)
class Doorbell:
    """Takes posts from many threads; the loop takes the signals out."""

    token: str
    """Without a token the doorbell stays shut: every post is refused."""
    woken: threading.Event = field(default_factory=threading.Event)
    counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[Signal] = field(default_factory=list)
    _seen: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def authorized(self, header: str | None) -> bool:
        """Whether an Authorization header carries our token."""
        scheme, _, given = (header or "").partition(" ")
        given = given.strip() if scheme.lower() == "bearer" else ""
        return bool(self.token) and hmac.compare_digest(given.encode(), self.token.encode())

    def post(self, authorization: str | None, body: bytes) -> Answer:
        """Answer one post; ring when it says something new."""
        answer = self._answer(authorization, body)
        with self._lock:
            self.counts[str(answer.body["outcome"])] += 1
        return answer

    def taken(self) -> tuple[Signal, ...]:
        """The signals since the last call, oldest first; the bell is silent again."""
        with self._lock:
            signals = tuple(self._waiting)
            self._waiting.clear()
            self.woken.clear()
        return signals

    def _answer(self, authorization: str | None, body: bytes) -> Answer:
        if not self.authorized(authorization):
            return Answer(401, {"outcome": "unauthorized", "message": "expected Authorization: Bearer <token>"})
        if len(body) > LARGEST_BODY_BYTES:
            return Answer(413, {"outcome": "too_large", "message": f"expected at most {LARGEST_BODY_BYTES} bytes"})
        try:
            reading = signals_from_webhook(json.loads(body))
        except (ValueError, RecursionError):
            return Answer(400, {"outcome": "not_json", "message": "expected a JSON object of Alertmanager"})
        if not reading.readable:
            return Answer(400, {"outcome": "no_post", "message": "; ".join(str(p) for p in reading.problems)})
        return self._ring(reading)

    def _ring(self, reading: WebhookReading) -> Answer:
        if not reading.signals and not reading.truncated:
            outcome = "unknown_alert" if reading.unknown_alerts else "empty"
            return Answer(200, {"outcome": outcome, "accepted": 0})
        with self._lock:
            fresh = [signal for signal in reading.signals if signal.key not in self._seen]
            news = [signal.key for signal in fresh]
            if reading.truncated and (cut := _key_of_cut(reading)) not in self._seen:
                news.append(cut)
            if not news:
                return Answer(200, {"outcome": "repeated", "accepted": 0})
            if len(self._waiting) + len(fresh) > _MOST_WAITING:
                return Answer(503, {"outcome": "busy", "message": "the loop has not caught up; try again"})
            for key in news:
                self._seen[key] = None
            while len(self._seen) > _MOST_REMEMBERED:
                self._seen.popitem(last=False)
            self._waiting += fresh
            if reading.rings:
                self.woken.set()
        return Answer(200, {"outcome": "accepted", "accepted": len(fresh)})


def _key_of_cut(reading: WebhookReading) -> str:
    """Equal for every repetition of a post of which Alertmanager left out a part: what it left out is not told."""
    return "\n".join((reading.group_key, str(reading.truncated), *sorted(reading.keys)))

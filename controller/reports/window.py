"""Which time a report covers: an ISO week in a time zone, or a span. Reads time zones; `now` is given.

A window ends where a slot ends, so that every GPU-hour lies in just one of two neighbouring reports.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from controller.api.errors import InputError, Mistake
from controller.api.shown_values import told
from controller.reports.model import Window

LONGEST_DAYS: Final = 35
SLOT_SECONDS: Final = 60
SHORT_SLOT_SECONDS: Final = 10
SHORT_SECONDS: Final = 6 * 3600
"""Up to here slots are short, so that a trial of an hour is more than a few samples."""
_WEEK: Final = re.compile(r"(20\d{2})-W(\d{2})")
_WEEK_EXPECTED: Final = "an ISO week that has begun, such as 2026-W48"
_MOMENT_EXPECTED: Final = "a date such as 2026-11-23, or a time such as 2026-11-23T08:00"


def week_window(week: str | None, time_zone: str, now: float) -> Window:
    """The ISO week in that time zone; None: the last one that has ended. Raises InputError."""
    zone = _zone(time_zone)
    monday = _monday(week) if week is not None else _last_monday(datetime.fromtimestamp(now, zone).date())
    start, end = _midnight(monday, zone), _midnight(monday + timedelta(days=7), zone)
    if start + SLOT_SECONDS > now:
        raise _mistake("--week", week or "", _WEEK_EXPECTED)
    number = monday.isocalendar()
    return _window(start, end, f"{number.year}-W{number.week:02}", time_zone, now)


def span_window(begin: str, finish: str, time_zone: str, now: float) -> Window:
    """From one date or time to another, each in that time zone unless it names its own. Raises InputError."""
    zone = _zone(time_zone)
    start, end = _moment("--from", begin, zone), _moment("--to", finish, zone)
    if start + SLOT_SECONDS > min(end, now):
        raise _mistake("--from", begin, "at least a minute before --to and before now")
    if end - start > LONGEST_DAYS * 86400:
        raise _mistake("--to", finish, f"at most {LONGEST_DAYS} days after --from")
    return _window(start, end, f"{begin} to {finish}", time_zone, now)


def _window(start: float, end: float, title: str, time_zone: str, now: float) -> Window:
    slot_seconds = SHORT_SLOT_SECONDS if end - start <= SHORT_SECONDS else SLOT_SECONDS
    slots = int((min(end, now) - start) // slot_seconds)
    return Window(start, start + slots * slot_seconds, title, time_zone, end <= now, slot_seconds)


def _monday(week: str) -> date:
    match = _WEEK.fullmatch(week)
    try:
        if match is None:
            raise ValueError
        return date.fromisocalendar(int(match[1]), int(match[2]), 1)
    except ValueError:
        raise _mistake("--week", week, _WEEK_EXPECTED) from None


def _last_monday(today: date) -> date:
    return today - timedelta(days=today.weekday() + 7)


def _midnight(day: date, zone: ZoneInfo) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()


def _moment(option: str, text: str, zone: ZoneInfo) -> float:
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError):
        raise _mistake(option, text, _MOMENT_EXPECTED) from None
    if seconds < 0:
        raise _mistake(option, text, _MOMENT_EXPECTED)
    return float(int(seconds))


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _mistake("--time-zone", name, "a name such as Europe/Berlin or UTC") from None


def local_time(epoch_seconds: float, window: Window) -> datetime:
    """A moment as the clocks of the window's time zone show it."""
    return datetime.fromtimestamp(epoch_seconds, UTC).astimezone(ZoneInfo(window.time_zone))


def _mistake(place: str, value: str, expected: str) -> InputError:
    return InputError((Mistake(place, told(value), expected),))

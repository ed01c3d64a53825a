"""Which time a report covers: weeks begin and end where people's clocks say so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from controller.api.errors import InputError
from controller.reports.model import Window
from controller.reports.window import local_time, span_window, week_window

NOW = datetime(2026, 12, 10, 9, 30, tzinfo=UTC).timestamp()


def shown(window: Window) -> tuple[str, str]:
    start, end = (local_time(moment, window) for moment in (window.start, window.end))
    return f"{start:%F %T}", f"{end:%F %T}"


def test_a_week_goes_from_monday_to_monday() -> None:
    window = week_window("2026-W48", "UTC", NOW)
    assert shown(window) == ("2026-11-23 00:00:00", "2026-11-30 00:00:00")
    assert (window.title, window.hours, window.slots, window.closed) == ("2026-W48", 168.0, 10080, True)


def test_without_a_name_it_is_the_last_week_that_ended() -> None:
    assert week_window(None, "UTC", NOW).title == "2026-W49"


def test_the_last_week_is_that_of_the_time_zone() -> None:
    sunday_night = datetime(2026, 12, 6, 23, 30, tzinfo=UTC).timestamp()
    assert week_window(None, "UTC", sunday_night).title == "2026-W48"
    assert week_window(None, "Europe/Berlin", sunday_night).title == "2026-W49"


@pytest.mark.parametrize(
    ("week", "zone", "hours"),
    [
        ("2026-W43", "Europe/Berlin", 169.0),
        ("2026-W13", "Europe/Berlin", 167.0),
        ("2026-W43", "UTC", 168.0),
        ("2026-W14", "Australia/Lord_Howe", 168.5),
    ],
)
def test_a_week_in_which_clocks_change_is_longer_or_shorter(week: str, zone: str, hours: float) -> None:
    window = week_window(week, zone, NOW)
    assert window.hours == hours
    assert window.slots == hours * 60
    assert [moment[11:] for moment in shown(window)] == ["00:00:00", "00:00:00"]


def test_a_year_may_have_a_week_53_and_weeks_touch() -> None:
    last, first = week_window("2020-W53", "UTC", NOW), week_window("2021-W01", "UTC", NOW)
    assert last.end == first.start
    assert shown(last)[0] == "2020-12-28 00:00:00"


def test_a_week_that_has_not_ended_goes_up_to_now() -> None:
    window = week_window("2026-W50", "UTC", NOW)
    assert shown(window)[1] == "2026-12-10 09:30:00"
    assert not window.closed


@pytest.mark.parametrize("week", ["2026-48", "2026-W00", "2025-W53", "2026-W54", "W48", "2026-W51", "", "9999-W52"])
def test_a_week_that_is_none_or_has_not_begun_is_a_mistake(week: str) -> None:
    with pytest.raises(InputError, match=r"--week: got .*, expected an ISO week that has begun"):
        week_window(week, "UTC", NOW)


@pytest.mark.parametrize("zone", ["Berlin", "../etc/passwd", "", "/etc/localtime"])
def test_a_time_zone_that_nobody_knows_is_a_mistake(zone: str) -> None:
    with pytest.raises(InputError, match="--time-zone"):
        week_window("2026-W48", zone, NOW)


def test_a_span_is_read_in_the_time_zone_unless_it_names_its_own() -> None:
    window = span_window("2026-12-01", "2026-12-02T06:00Z", "Europe/Berlin", NOW)
    assert window.start == datetime(2026, 11, 30, 23, tzinfo=UTC).timestamp()
    assert window.end == datetime(2026, 12, 2, 6, tzinfo=UTC).timestamp()


def test_a_short_span_has_short_slots() -> None:
    window = span_window("2026-12-10T09:00Z", "2026-12-10T12:00Z", "UTC", NOW)
    assert (window.slot_seconds, window.slots, window.closed) == (10, 180, False)


@pytest.mark.parametrize(
    ("begin", "finish", "option"),
    [
        ("2026-12-02", "2026-12-01", "--from"),
        ("2026-12-11", "2026-12-12", "--from"),
        ("2026-12-01", "2026-12-01", "--from"),
        ("yesterday", "2026-12-01", "--from"),
        ("2026-12-01", "soon", "--to"),
        ("2026-01-01", "2026-12-01", "--to"),
        ("0001-01-01", "2026-12-01", "--from"),
    ],
)
def test_a_span_that_is_none_is_a_mistake(begin: str, finish: str, option: str) -> None:
    with pytest.raises(InputError, match=f"{option}: got"):
        span_window(begin, finish, "UTC", NOW)

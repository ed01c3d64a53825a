"""Whoever is told to stop, or loses its terminal, ends in order; what nohup started goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from controller.cli.stopping import stop_event

NUMBERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_each_signal_that_asks_for_the_end_is_heard(number: signal.Signals) -> None:
    stop = stop_event()
    assert not stop.is_set()
    signal.raise_signal(number)
    assert stop.is_set()


def test_what_was_started_to_outlive_its_terminal_does() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop = stop_event()
    signal.raise_signal(signal.SIGHUP)
    assert not stop.is_set()


def test_a_background_job_can_still_be_interrupted() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell starts it
    stop = stop_event()
    signal.raise_signal(signal.SIGINT)
    assert stop.is_set()

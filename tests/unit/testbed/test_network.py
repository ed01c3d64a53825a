"""The link of the testbed: rate, delay, order and loss as its terms say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testbed.network import LinkTerms, Way

FRAME = b"x" * 1250  # 10 000 bits
SLOW = LinkTerms(delay_seconds=0.005, bits_per_second=1e6, buffer_seconds=0.025)


def test_a_frame_arrives_after_its_sending_time_and_the_delay() -> None:
    way = Way(0, 1)
    assert way.next_arrival_at is None
    assert way.accept(FRAME, SLOW, 100.0)
    assert way.next_arrival_at == pytest.approx(100.0 + 0.010 + 0.005)
    assert list(way.arrived(100.014)) == []
    assert list(way.arrived(100.016)) == [FRAME]
    assert list(way.arrived(100.016)) == []


def test_frames_queue_behind_each_other_and_a_full_buffer_loses_them() -> None:
    way = Way(0, 1)
    assert [way.accept(FRAME, SLOW, 100.0) for _ in range(5)] == [True, True, True, False, False]
    assert list(way.arrived(100.0 + 0.035 + 1e-6)) == [FRAME] * 3
    assert way.accept(FRAME, SLOW, 100.03), "the queue is empty again"


def test_a_shorter_delay_does_not_let_frames_overtake() -> None:
    way = Way(0, 1)
    way.accept(b"first", LinkTerms(delay_seconds=1.0), 100.0)
    way.accept(b"second", LinkTerms(), 100.1)
    assert list(way.arrived(100.5)) == []
    assert list(way.arrived(101.1)) == [b"first", b"second"]


def test_terms_are_read_as_they_were_written(tmp_path: Path) -> None:
    SLOW.write(tmp_path / "terms.json")
    assert LinkTerms.read(tmp_path / "terms.json") == SLOW

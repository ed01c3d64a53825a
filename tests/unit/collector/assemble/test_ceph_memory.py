"""What is remembered of a Ceph cluster: windows, stalls that are stalls, and who waits for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.ceph_memory import CephMemory, CephState
from collector.model.reading import Known, Unknown
from collector.parse.ceph import RbdImage, ceph_scrape
from collector.parse.exposition import parse_exposition
from tests.ceph_pages import Image, Osd, Page, known

A, B = RbdImage("rbd", "", "a"), RbdImage("rbd", "", "b")


def remembered(*pages: Page, every: float = 5.0) -> CephMemory:
    memory = CephMemory(window_seconds=60.0, stall_seconds=10.0)
    for number, page in enumerate(pages):
        memory = memory.advance(replace(page, round=number).scrape(number * every))
    return memory


def state_of(memory: CephMemory) -> CephState:
    found = memory.state(memory.scrapes[-1].at + 1.0)
    assert isinstance(found, Known)
    return found.value


def working(writes: int, **more: float) -> Page:
    osd = Osd(writes=writes, write_seconds=writes * 0.01, in_progress=1)
    return Page(0, {"osd.0": replace(osd, **more)}, {"a": Image(writes, writes * 1e7)})  # type: ignore[arg-type]  # test


def hanging(writes: int, in_progress: int = 3) -> Page:
    return Page(0, {"osd.0": Osd(writes=writes, in_progress=in_progress)}, {"a": Image(writes, writes * 1e7)})


def test_latencies_are_means_of_the_window() -> None:
    state = state_of(remembered(working(100), working(150), working(200)))
    (image,) = state.readings.images
    assert known(image.write).operations == 100
    assert known(image.write).interval_seconds == 10.0
    assert known(known(image.write).mean_latency_seconds) == pytest.approx(0.01)
    assert state.age_seconds == 1.0


def test_what_lies_before_the_window_is_forgotten() -> None:
    memory = remembered(*(working(100 + 10 * number) for number in range(30)))
    assert memory.scrapes[-1].at - memory.scrapes[0].at == 60.0


def test_operations_in_flight_at_each_look_and_none_that_completes_are_a_stall() -> None:
    state = state_of(remembered(working(100), working(150), hanging(151), hanging(151), hanging(151)))
    assert state.stalled_osds == {"osd.0": Known(True)}
    assert state.waiting_images == {A}


def test_a_stall_goes_on_however_long_and_the_images_wait_for_as_long() -> None:
    pages = [working(100), working(150), *(hanging(151) for _ in range(40))]
    state = state_of(remembered(*pages))
    assert state.stalled_osds == {"osd.0": Known(True)}
    assert state.waiting_images == {A}


def test_a_stall_that_ends_is_over() -> None:
    pages = [working(100), *(hanging(101) for _ in range(4)), working(140), working(180)]
    state = state_of(remembered(*pages))
    assert state.stalled_osds == {"osd.0": Known(False)}
    assert state.waiting_images == frozenset()


def test_an_operation_in_flight_at_one_look_only_is_no_stall() -> None:
    state = state_of(remembered(hanging(9, 0), hanging(9, 0), hanging(9, 0), hanging(9, 1)))
    assert state.stalled_osds == {"osd.0": Known(False)}


def test_reads_that_go_on_do_not_hide_writes_that_hang() -> None:
    def page(reads: int, slow: int) -> Page:
        return Page(0, {"osd.0": Osd(writes=100, reads=reads, in_progress=3, slow=slow)}, {"a": Image(100, 1e9)})

    hangs = [working(50), working(90), *(page(reads, 3) for reads in (1, 2, 3, 4))]
    assert state_of(remembered(*hangs)).stalled_osds == {"osd.0": Known(True)}
    assert state_of(remembered(*hangs)).waiting_images == {A}
    reads_only = [page(reads, 0) for reads in (1, 2, 3, 4)]
    assert state_of(remembered(*reads_only)).stalled_osds == {"osd.0": Known(False)}


def test_an_image_that_was_idle_when_the_stall_began_does_not_wait() -> None:
    idle = Image(writes=7)
    pages = [working(100), working(150), *(hanging(151) for _ in range(3))]
    state = state_of(remembered(*(replace(page, images={**page.images, "b": idle}) for page in pages)))
    assert state.waiting_images == {A}


def test_an_image_on_healthy_osds_goes_on_and_does_not_wait() -> None:
    pages = [working(100), working(150), *(hanging(151) for _ in range(3))]
    moving = [replace(page, images={**page.images, "b": Image(writes=10 * n)}) for n, page in enumerate(pages)]
    state = state_of(remembered(*moving))
    assert B not in state.waiting_images


def test_a_page_served_again_is_no_new_look() -> None:
    memory = remembered(working(100), working(150))
    again = memory.advance(replace(hanging(150), round=1).scrape(30.0))
    assert again.scrapes == memory.scrapes


def test_a_page_that_is_served_for_too_long_is_unknown() -> None:
    assert remembered(working(100)).state(61.0) == Unknown("Ceph was last read 1m 1s ago")
    assert CephMemory().state(0.0) == Unknown("Ceph was not read yet")


def test_before_a_stall_can_be_told_it_is_unknown() -> None:
    state = state_of(remembered(hanging(5), hanging(5)))
    assert state.stalled_osds == {"osd.0": Unknown("watched for less than 10s")}


def test_the_commit_latency_is_the_mean_of_looks_at_which_something_was_committed() -> None:
    state = state_of(remembered(working(1), working(2, commit_ms=400), working(3), working(4, commit_ms=800)))
    assert known(state.readings.osds[0].commit_latency_seconds) == pytest.approx(0.6)


def test_without_counters_of_osds_slow_operations_beside_resting_images_are_a_stall() -> None:
    def page(number: int, writes: int, slow: int) -> str:
        lines = ["ceph_health_status 1", f'ceph_daemon_health_metrics{{type="SLOW_OPS",ceph_daemon="osd.0"}} {slow}']
        lines.append(f'ceph_prometheus_collect_duration_seconds_count{{method="a"}} {number}')
        return "\n".join((*lines, *Image(writes).lines("a"))) + "\n"

    memory = CephMemory(stall_seconds=10.0)
    for number, (writes, slow) in enumerate([(1, 0), (9, 0), (10, 4), (10, 4), (10, 4)]):
        memory = memory.advance(ceph_scrape([parse_exposition(page(number, writes, slow))], number * 5.0))
    assert state_of(memory).waiting_images == {A}

"""What is remembered of a Ceph cluster: windows, stalls that are stalls, and who waits for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from collector.assemble.ceph_memory import CephMemory, CephState
from collector.model.reading import Known, Unknown
from collector.parse.ceph import ceph_scrape
from collector.parse.ceph_names import CEPH_NAMES, RbdImage
from collector.parse.exposition import parse_exposition
from tests.ceph_pages import Image, Osd, Page, known

UP = 'ceph_osd_up{ceph_daemon="osd.0"} 1'
A, B = RbdImage("rbd", "", "a"), RbdImage("rbd", "", "b")


def remembered(*pages: Page, every: float = 5.0) -> CephMemory:
    memory = CephMemory(window_seconds=60.0, stall_seconds=10.0)
    for number, page in enumerate(pages):
        memory = memory.advance(replace(page, round=number).scrape(number * every))
    return memory


def from_two_pages(looks: Iterable[tuple[int, int, int, int]], every: float = 5.0) -> CephMemory:
    """A cluster since Reef: (round of the manager, writes of image a, writes and what is in flight at osd.0) a look."""
    memory = CephMemory(window_seconds=60.0, stall_seconds=10.0)
    for number, (round_number, image, osd, in_flight) in enumerate(looks):
        manager = Page(round_number, images={"a": Image(image, image * 1e7)}, more=(UP,)).text
        exporter = "\n".join(Osd(writes=osd, in_progress=in_flight).lines("osd.0")) + "\n"
        pages = [parse_exposition(text, CEPH_NAMES) for text in (manager, exporter)]
        memory = memory.advance(ceph_scrape(pages, number * every))
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
    assert 50.0 <= memory.scrapes[-1].at - memory.scrapes[0].at <= 60.0
    assert len(memory.scrapes) <= 8, "of a large cluster each weighs megabytes"


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
    again = memory.advance(replace(working(150), round=1).scrape(30.0))
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


def test_a_stall_of_seconds_is_remembered_for_a_minute_so_that_no_scrape_misses_it() -> None:
    pages = [working(100), *(hanging(101) for _ in range(4)), *(working(140 + n) for n in range(6))]
    state = state_of(remembered(*pages))
    assert state.stalled_osds == {"osd.0": Known(False)}
    assert state.longest_stalls == {"osd.0": 15.0}
    later = remembered(*pages, *(working(200 + n) for n in range(12)))
    assert state_of(later).longest_stalls == {}


def test_one_report_that_came_late_is_no_stall() -> None:
    state = state_of(remembered(working(100), working(110), hanging(110), working(120), working(130)))
    assert state.longest_stalls == {}


def test_the_worst_is_between_two_looks_within_the_window() -> None:
    def page(writes: int, seconds: float) -> Page:
        return Page(0, {"osd.0": Osd(writes=writes, write_seconds=seconds)}, {"a": Image(writes, seconds * 1e9)})

    memory = remembered(page(100, 1.0), page(200, 2.0), page(210, 82.0), page(310, 83.0))
    state = state_of(memory)
    assert state.worst_osds["osd.0"].write == pytest.approx(8.0)
    assert state.worst_images[A].write == pytest.approx(8.0)
    assert state.worst_osds["osd.0"].read is None


def test_between_two_rounds_of_the_manager_an_image_is_not_taken_to_wait() -> None:
    # The exporter has news every look, the manager every third one.
    looks = [(n // 3, 100 * (n // 3), 50 * n, 2) for n in range(8)]
    hung = [(2, 200, 350, 4), (2, 200, 350, 5)]
    assert state_of(from_two_pages([*looks, *hung])).waiting_images == frozenset()
    hangs_on = [(3 + n // 3, 210, 350, 5) for n in range(6)]
    state = state_of(from_two_pages([*looks, *hung, *hangs_on]))
    assert state.stalled_osds == {"osd.0": Known(True)}
    assert state.waiting_images == {A}


def test_a_frozen_osd_whose_counters_vanish_is_silent_and_a_page_that_is_gone_is_not() -> None:
    def page(*osds: str) -> Page:
        ups = tuple(f'ceph_osd_up{{ceph_daemon="osd.{n}"}} 1' for n in (0, 1))
        return Page(0, {name: Osd(writes=5) for name in osds}, more=ups)

    both = page("osd.0", "osd.1")
    assert state_of(remembered(both, both, page("osd.0"))).silent_osds == {"osd.1"}
    assert state_of(remembered(both, both, page())).silent_osds == frozenset()
    unreached = replace(both, more=('ceph_daemon_socket_up{ceph_daemon="osd.0"} 0',))
    assert state_of(remembered(both, unreached)).silent_osds == {"osd.0"}


def test_a_paused_cluster_has_nothing_in_flight_and_those_who_worked_wait() -> None:
    def page(writes: int, paused: bool) -> Page:
        flag = f'ceph_health_detail{{name="OSDMAP_FLAGS",severity="HEALTH_WARN"}} {float(paused)}'
        images = {"a": Image(writes, writes * 1e7), "b": Image(7)}
        return Page(0, {"osd.0": Osd(writes=writes)}, images, more=(flag,))

    going = [page(100 * n, paused=False) for n in range(3)]
    state = state_of(remembered(*going, *(page(210, paused=True) for _ in range(4))))
    assert state.paused
    assert state.waiting_images == {A}
    assert state.stalled_osds == {"osd.0": Known(False)}, "no OSD is at fault"
    again = state_of(remembered(*going, *(page(210, paused=True) for _ in range(4)), page(400, paused=False)))
    assert not again.paused
    assert again.waiting_images == frozenset()


def test_a_deleted_image_leaves_nothing_behind() -> None:
    pages = [replace(working(50 * n), images={"a": Image(n), "b": Image(9 * n)}) for n in range(4)]
    gone = [replace(working(500 + n), images={"a": Image(10 + n)}) for n in range(2)]
    memory = remembered(*pages, *gone)
    state = state_of(memory)
    assert [image.image for image in state.readings.images] == [A]
    assert B not in memory.progress.completed_at
    assert B not in memory.progress.bursts.flows
    assert B not in state.worst_images


def test_a_deleted_image_that_the_manager_still_repeats_neither_waits_nor_moves() -> None:
    pages = [replace(working(50 * n), images={"a": Image(9 * n), "b": Image(9 * min(n, 4))}) for n in range(20)]
    state = state_of(remembered(*pages))
    assert B not in state.waiting_images
    assert [known(image.completed) for image in state.readings.images if image.image == B] == [0.0]


def test_what_is_remembered_does_not_grow_with_time() -> None:
    short, long = (remembered(*(working(10 * n) for n in range(count))) for count in (40, 400))
    for memory in (short, long):
        assert len(memory.scrapes) <= 8
        assert len(memory.progress.looks) <= 12

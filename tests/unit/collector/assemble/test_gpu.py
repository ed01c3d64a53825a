"""What is remembered of GPUs: idle is what was seen idle for a whole window, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from collector.assemble.gpu import IDLE_BELOW_RATIO, LOST_REMEMBERED_SECONDS, GpuMemory
from collector.model.accelerator import LOST, GpuHolder, GpuReading, MigSlice
from collector.model.reading import Known, Reading, Unknown
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import parse_exposition

NOW = 1_700_000_000.0
WINDOW = 600.0
HOLDER = GpuHolder("team", "train-0", "main")


def reading(activity: Reading[float], uuid: str = "GPU-1", utilization: Reading[float] | None = None) -> GpuReading:
    missing = Unknown("not exported")
    return GpuReading(
        uuid=uuid,
        index="0",
        node="node-1",
        model="H100",
        mig=None,
        partitioned=False,
        holders=(HOLDER,),
        activity_ratio=activity,
        utilization_ratio=utilization or missing,
        memory_used_bytes=missing,
        memory_total_bytes=missing,
        power_watts=missing,
        temperature_celsius=missing,
        last_xid_code=missing,
    )


def remembered(points: Iterable[tuple[float, float]], memory: GpuMemory | None = None) -> GpuMemory:
    """Scrapes so many seconds before NOW with that activity."""
    memory = memory or GpuMemory(WINDOW)
    for seconds_ago, ratio in points:
        memory = memory.advance([reading(Known(ratio))], NOW - seconds_ago)
    return memory


def every(step: int, since: int, ratio: float, until: int = 0) -> list[tuple[float, float]]:
    return [(float(ago), ratio) for ago in range(since, until - 1, -step)]


def activity(memory: GpuMemory, now: float = NOW) -> Reading[float]:
    readings = memory.readings(now)
    assert isinstance(readings, Known), readings
    (only,) = readings.value
    return only.activity_ratio


def test_quiet_for_the_whole_window_is_known_to_be_quiet() -> None:
    assert activity(remembered(every(30, 600, 0.01))) == Known(0.01, 0.0)


def test_quiet_but_not_watched_for_the_window_is_unknown() -> None:
    assert activity(remembered(every(30, 570, 0.0))) == Unknown("watched for less than 10m")


def test_one_busy_moment_in_the_window_is_busy() -> None:
    assert activity(remembered([*every(30, 900, 0.0, until=330), (300.0, 0.4), *every(30, 270, 0.0)])) == Known(0.4)


def test_busy_is_known_at_once() -> None:
    assert activity(remembered([(0.0, 0.9)])) == Known(0.9)


def test_work_before_the_window_does_not_count() -> None:
    assert activity(remembered([*every(30, 1200, 0.9, until=630), *every(30, 600, 0.0)])) == Known(0.0)


def test_after_a_gap_the_window_begins_anew() -> None:
    gap = GpuMemory(WINDOW).longest_gap_seconds
    assert activity(remembered([*every(30, 1200, 0.0, until=390), *every(30, int(390 - gap - 30), 0.0)])) == Unknown(
        "watched for less than 10m"
    )


def test_one_missed_scrape_is_no_gap() -> None:
    points = [point for point in every(30, 600, 0.0) if point[0] not in (300.0, 330.0)]
    assert activity(remembered(points)) == Known(0.0)


def test_a_device_that_nobody_reads_any_more_is_forgotten() -> None:
    memory = remembered(every(30, 600, 0.0))
    assert isinstance(memory.readings(NOW + memory.longest_gap_seconds + 1), Unknown)
    other = reading(Known(0.5), uuid="GPU-2")
    later = memory.advance([other], NOW + memory.longest_gap_seconds + 1)
    assert set(later.histories) == {other.key}


def test_a_reading_without_activity_keeps_the_device_and_says_nothing_about_its_work() -> None:
    memory = GpuMemory(WINDOW)
    for ago in range(900, -1, -30):
        memory = memory.advance([reading(Unknown("not exported"))], NOW - ago)
    assert isinstance(activity(memory), Unknown)


def test_the_share_of_time_with_a_kernel_stands_in_where_profiling_is_off() -> None:
    memory = GpuMemory(WINDOW)
    for ago in range(600, -1, -30):
        memory = memory.advance([reading(Unknown("not exported"), utilization=Known(0.0))], NOW - ago)
    assert activity(memory) == Known(0.0)


def test_devices_are_apart() -> None:
    memory = GpuMemory(WINDOW)
    for ago in range(600, -1, -30):
        memory = memory.advance([reading(Known(0.0)), reading(Known(0.9), uuid="GPU-2")], NOW - ago)
    readings = memory.readings(NOW)
    assert isinstance(readings, Known)
    assert {one.uuid: one.activity_ratio for one in readings.value} == {"GPU-1": Known(0.0), "GPU-2": Known(0.9)}


def test_nothing_read_is_unknown() -> None:
    assert GpuMemory().readings(NOW) == Unknown("no GPU exporter was read lately")


def test_text_of_an_exporter_is_remembered() -> None:
    labels = 'gpu="0",UUID="GPU-9",modelName="H100",Hostname="n",namespace="team",pod="train-0",container="main"'
    text = f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} 0.5\n"
    memory = GpuMemory(WINDOW).advance(gpu_readings(parse_exposition(text)), NOW)
    assert activity(memory) == Known(0.5)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 400)), min_size=1, max_size=60))
def test_never_idle_when_any_reading_of_the_window_was_busy_and_memory_stays_small(
    steps: list[tuple[float, int]],
) -> None:
    memory, now, seen = GpuMemory(WINDOW), NOW, []
    for ratio, seconds in steps:
        now += seconds
        seen.append((now, ratio))
        memory = memory.advance([reading(Known(ratio))], now)
    found = activity(memory, now)
    window = [ratio for at, ratio in seen if at > now - WINDOW]
    if isinstance(found, Known) and found.value < IDLE_BELOW_RATIO:
        assert max(window) < IDLE_BELOW_RATIO
        assert seen[0][0] <= now - WINDOW, "never called idle before a whole window was watched"
    if max(window[-1:]) >= IDLE_BELOW_RATIO:
        assert isinstance(found, Known)
    (history,) = memory.histories.values()
    assert len(history.points) <= len(window) + 2


def on_node(uuid: str, **more: Any) -> GpuReading:
    return replace(reading(Known(0.9), uuid), **more)


def test_a_device_that_its_node_no_longer_shows_is_lost_and_still_named_with_its_holder() -> None:
    both = [on_node("GPU-1"), on_node("GPU-2")]
    memory = GpuMemory(WINDOW).advance(both, NOW).advance(both[:1], NOW + 15)
    assert [one.uuid for one in memory.latest(NOW + 15) if one.activity_ratio == Unknown(LOST)] == [], "once may be bad"
    memory = memory.advance(both[:1], NOW + 45)
    (gone,) = [one for one in memory.latest(NOW + 45) if one.uuid == "GPU-2"]
    assert (gone.activity_ratio, gone.health, gone.holders) == (Unknown(LOST), Known(0.0), (HOLDER,))
    judged = memory.readings(NOW + 45)
    assert isinstance(judged, Known)
    assert [one.health for one in judged.value if one.uuid == "GPU-2"] == [Known(0.0)]


def test_a_lost_device_is_remembered_while_its_node_is_read_and_comes_back_as_it_is() -> None:
    both = [on_node("GPU-1"), on_node("GPU-2")]
    memory = GpuMemory(WINDOW).advance(both, NOW)
    for seconds in range(60, 1200, 60):
        memory = memory.advance(both[:1], NOW + seconds)
    assert {one.uuid for one in memory.latest(NOW + 1140)} == {"GPU-1", "GPU-2"}
    assert memory.latest(NOW + 1140 + 151) == (), "with the whole node gone nobody says that its devices are"
    back = memory.advance(both, NOW + 1200)
    assert all(one.activity_ratio == Known(0.9) for one in back.latest(NOW + 1200))
    later = memory.advance(both[:1], NOW + LOST_REMEMBERED_SECONDS + 61)
    assert {one.uuid for one in later.latest(NOW + LOST_REMEMBERED_SECONDS + 61)} == {"GPU-1"}


def test_a_slice_that_is_gone_was_cut_otherwise_and_is_not_lost() -> None:
    part = replace(on_node("GPU-1"), mig=MigSlice("1g.10gb", "7"))
    memory = GpuMemory(WINDOW).advance([on_node("GPU-1"), part], NOW)
    for seconds in (30, 60, 90):
        memory = memory.advance([on_node("GPU-1")], NOW + seconds)
    assert all(one.activity_ratio != Unknown(LOST) for one in memory.latest(NOW + 90))


def test_throttling_is_the_growth_of_its_counter_and_unknown_when_it_began_anew() -> None:
    memory = GpuMemory(WINDOW)
    for seconds, counter in ((0, 100.0), (15, 103.0), (30, 106.0), (60, 112.0)):
        memory = memory.advance([on_node("GPU-1", throttled_seconds=Known(counter))], NOW + seconds)
    assert memory.latest(NOW + 60)[0].throttle_ratio == Known(0.2)
    anew = memory.advance([on_node("GPU-1", throttled_seconds=Known(1.0))], NOW + 75)
    assert isinstance(anew.latest(NOW + 75)[0].throttle_ratio, Unknown)

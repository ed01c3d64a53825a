"""Pages of Ceph's manager: units, resets, and the difference between fast, idle and stalled."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.catalogue.spellings.ceph import CEPH_MGR
from collector.model.reading import Known, Unknown
from collector.parse.ceph import (
    CephReadings,
    Transfer,
    ceph_readings,
    ceph_scrape,
    commit_latencies_seconds,
    osds_in_flight,
    osds_with_slow_operations,
)
from collector.parse.ceph_names import CEPH_NAMES, DOCUMENTED, MDS_REPLY, RbdImage
from collector.parse.exposition import Exposition, parse_exposition
from tests.ceph_pages import Image, Osd, Page, known

IMAGE = RbdImage("rbd", "", "a")


def between(before: Page, after: Page, seconds: float = 10.0) -> CephReadings:
    return ceph_readings(before.scrape(100.0), after.scrape(100.0 + seconds), age_seconds=2.0)


def of_osd(before: Osd, after: Osd) -> CephReadings:
    return between(Page(1, {"osd.0": before}), Page(2, {"osd.0": after}))


def test_latencies_of_osds_are_seconds_and_means_of_what_completed_in_between() -> None:
    (osd,) = of_osd(Osd(writes=100, write_seconds=5.0), Osd(writes=120, write_seconds=6.0)).osds
    assert osd.write == Known(Transfer(20.0, 1.0, 20 * 4096.0, 10.0), 2.0)
    assert known(osd.write).mean_latency_seconds == Known(0.05)
    assert osd.completed == Known(20.0, 2.0)


def test_latencies_of_images_are_nanoseconds() -> None:
    before = Page(1, images={"a": Image(writes=40, write_nanoseconds=3e9)})
    after = Page(2, images={"a": Image(writes=2040, write_nanoseconds=3e9 + 109_600_000_000)})
    (image,) = between(before, after).images
    assert image.image == IMAGE
    assert known(known(image.write).mean_latency_seconds) == pytest.approx(0.0548)


def test_nothing_completed_is_unknown_and_not_fast() -> None:
    (osd,) = of_osd(Osd(writes=5, write_seconds=1.0), Osd(writes=5, write_seconds=1.0)).osds
    assert known(osd.write).mean_latency_seconds == Unknown("nothing completed")


def test_a_counter_that_began_again_counts_from_its_beginning() -> None:
    (osd,) = of_osd(Osd(writes=900, write_seconds=9.0), Osd(writes=4, write_seconds=2.0)).osds
    assert known(osd.write).mean_latency_seconds == Known(0.5)


def test_of_counters_that_belong_together_one_that_fell_is_enough() -> None:
    (osd,) = of_osd(Osd(writes=10, write_seconds=9.0), Osd(writes=20, write_seconds=2.0)).osds
    assert known(osd.write).operations == 20


def test_the_first_scrape_has_no_latency_yet() -> None:
    readings = ceph_readings(None, Page(1, {"osd.0": Osd(writes=5)}, {"a": Image(writes=5)}).scrape(0.0))
    assert readings.osds[0].write == Unknown("only one scrape so far")
    assert readings.images[0].completed == Unknown("only one scrape so far")
    assert readings.osds[0].in_progress == Known(0.0)


def test_an_image_that_was_not_there_before_is_unknown_until_the_next_scrape() -> None:
    (image,) = between(Page(1), Page(2, images={"a": Image(writes=5)})).images
    assert image.write == Unknown("it was not there at the scrape before")


def test_a_commit_latency_of_0_means_that_nothing_was_committed() -> None:
    after = Page(2, {"osd.0": Osd(commit_ms=0), "osd.1": Osd(commit_ms=900)})
    idle, slow = between(Page(1, after.osds), after).osds
    assert idle.commit_latency_seconds == Unknown("nothing was committed lately")
    assert slow.commit_latency_seconds == Known(0.9, 2.0)
    assert commit_latencies_seconds(after.scrape(0.0)) == {"osd.1": 0.9}


def test_what_an_osd_without_counters_completed_is_unknown() -> None:
    text = 'ceph_health_status 0.0\nceph_osd_up{ceph_daemon="osd.0"} 1.0\n'
    scrape = ceph_scrape([parse_exposition(text)], 0.0)
    (osd,) = ceph_readings(scrape, scrape).osds
    assert isinstance(osd.completed, Unknown)
    assert osd.up == Known(True)


def test_only_slow_operations_of_osds_are_in_flight_there() -> None:
    more = ('ceph_daemon_health_metrics{type="SLOW_OPS",ceph_daemon="mon.a"} 4.0',)
    page = Page(1, {"osd.0": Osd(), "osd.1": Osd(slow=1), "osd.2": Osd(in_progress=1)}, more=more)
    assert osds_in_flight(page.scrape(0.0)) == {"osd.1", "osd.2"}
    assert osds_with_slow_operations(page.scrape(0.0)) == {"osd.1"}


def test_health_and_the_checks_that_are_raised_now() -> None:
    more = (
        'ceph_health_detail{name="SLOW_OPS",severity="HEALTH_WARN"} 1.0',
        'ceph_health_detail{name="OSD_DOWN",severity="HEALTH_WARN"} 0.0',
    )
    readings = between(Page(1), Page(2, {"osd.0": Osd(slow=9)}, health=1, more=more))
    assert readings.health_status == Known(1, 2.0)
    assert readings.checks == {"SLOW_OPS": "HEALTH_WARN"}
    assert readings.slow_operations == Known(9.0, 2.0)


def test_pages_of_one_cluster_are_read_as_one_and_the_later_counter_counts() -> None:
    manager, exporter = Page(1, {"osd.0": Osd(writes=5)}).text, "\n".join(Osd(writes=7).lines("osd.0")) + "\n"
    scrape = ceph_scrape([parse_exposition(manager), parse_exposition(exporter)], 0.0)
    assert scrape.value("ceph_osd_op_w_latency_count", ("osd.0",)) == Known(7.0)


def test_a_standby_manager_has_nothing_to_say() -> None:
    assert not ceph_scrape([Exposition(())], 0.0).has_cluster
    assert Page(1).scrape(0.0).has_cluster


@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(CEPH_NAMES)),
            st.sampled_from(['ceph_daemon="osd.1"', 'pool="p",image="i"', "", 'type="SLOW_OPS"', 'image=""']),
            st.sampled_from(["0", "1.5", "NaN", "+Inf", "-Inf", "-3", "1e30"]),
        )
    )
)
def test_whatever_stands_in_a_page_it_is_read(lines: list[tuple[str, str, str]]) -> None:
    text = "".join(f"{name}{{{labels}}} {value}\n" for name, labels, value in lines)
    scrape = ceph_scrape([parse_exposition(text, CEPH_NAMES)], 0.0)
    for readings in (ceph_readings(None, scrape), ceph_readings(scrape, scrape)):
        for osd in readings.osds:
            assert osd.name.startswith("osd.")
            assert isinstance(osd.completed, Known | Unknown)


class TestRealPages:
    """Pages that a real manager gave: idle, under load, with slow operations."""

    @staticmethod
    def page(shared_folder: Path, name: str) -> Exposition:
        text = (shared_folder / "fixtures" / "own-captures" / f"ceph-metrics-{name}.txt").read_text()
        return parse_exposition(text, CEPH_NAMES)

    def test_every_name_that_is_read_is_exported_by_a_real_manager(self, shared_folder: Path) -> None:
        pages = [self.page(shared_folder, name) for name in ("load", "slow")]
        assert {sample.name for page in pages for sample in page.samples} == CEPH_NAMES - DOCUMENTED - {*MDS_REPLY}, (
            "that cluster had no metadata server; the real one of the integration tests has"
        )

    def test_names_of_later_releases_are_marked_as_known_by_their_documentation_alone(self) -> None:
        assert {spelling.theirs for spelling in CEPH_MGR.spellings if spelling.documented} == DOCUMENTED

    def test_what_was_done_under_load_is_seen_from_the_idle_page_on(self, shared_folder: Path) -> None:
        idle, load = (ceph_scrape([self.page(shared_folder, name)], at) for name, at in (("idle", 0), ("load", 60)))
        (osd,) = ceph_readings(idle, load).osds
        assert known(osd.write).operations == 9865
        latency = known(osd.write).mean_latency_seconds
        assert known(latency) == pytest.approx(0.01837, rel=1e-3)

    def test_a_real_image_took_milliseconds_whatever_the_help_text_says(self, shared_folder: Path) -> None:
        load = ceph_scrape([self.page(shared_folder, "load")], 60)
        nothing = ceph_scrape([_with_zeros(self.page(shared_folder, "load"))], 0)
        (image,) = ceph_readings(nothing, load).images
        assert image.image == RbdImage("rbd", "", "img0")
        assert known(known(image.write).mean_latency_seconds) == pytest.approx(0.0548, rel=1e-3)
        assert known(known(image.read).mean_latency_seconds) == pytest.approx(0.000188, rel=1e-2)

    def test_real_slow_operations_are_counted_where_they_wait(self, shared_folder: Path) -> None:
        readings = ceph_readings(None, ceph_scrape([self.page(shared_folder, "slow")], 0.0))
        assert [osd.slow_operations for osd in readings.osds] == [Known(3.0), Known(8.0), Known(6.0)]
        assert readings.slow_operations == Known(20.0)
        assert readings.health_status == Known(1)
        assert readings.checks == {"SLOW_OPS": "HEALTH_WARN"}

    def test_rules_of_rook_read_the_same_names(self, shared_folder: Path) -> None:
        rules = (shared_folder / "fixtures" / "rook-ceph-rules" / "localrules.yaml").read_text()
        for name in ("ceph_health_status", "ceph_healthcheck_slow_ops", "ceph_daemon_health_metrics", "ceph_osd_up"):
            assert name in rules
            assert name in CEPH_NAMES


def _with_zeros(page: Exposition) -> Exposition:
    return Exposition(tuple(sample._replace(value=0.0) for sample in page.samples))

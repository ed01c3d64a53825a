"""Around the OSDs of a Ceph cluster: hosts, pools, metadata servers, recovery."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.model.reading import Known, Unknown
from collector.parse.ceph import ceph_scrape
from collector.parse.ceph_cluster import ClusterReadings, cluster_readings
from collector.parse.ceph_names import CEPH_NAMES
from collector.parse.exposition import parse_exposition
from tests.ceph_pages import Page, known


def between(before: tuple[str, ...], after: tuple[str, ...]) -> ClusterReadings:
    return cluster_readings(Page(1, more=before).scrape(0.0), Page(2, more=after).scrape(10.0), age_seconds=2.0)


def test_pools_have_names_and_what_all_clients_did_there_but_no_latency() -> None:
    def lines(count: int) -> tuple[str, ...]:
        about = ('ceph_pool_metadata{pool_id="1",name=".mgr"} 1', 'ceph_pool_metadata{pool_id="2",name="fast"} 1')
        names = ("rd", "wr", "rd_bytes", "wr_bytes")
        return (*about, *(f'ceph_pool_{name}{{pool_id="{n}"}} {count}' for n in (1, 2) for name in names))

    (fast,) = between(lines(100), lines(140)).pools
    assert fast.name == "fast"
    assert known(fast.read).operations == 40
    assert known(fast.write).interval_seconds == 10.0


def test_a_metadata_server_has_the_mean_of_what_it_answered() -> None:
    def lines(count: int, seconds: float) -> tuple[str, ...]:
        label = 'ceph_daemon="mds.a"'
        return (
            f"ceph_mds_reply_latency_count{{{label}}} {count}",
            f"ceph_mds_reply_latency_sum{{{label}}} {seconds}",
        )

    (busy,) = between(lines(10, 1.0), lines(20, 3.0)).metadata_servers
    assert known(busy.reply_latency_seconds) == pytest.approx(0.2)
    (idle,) = between(lines(10, 1.0), lines(10, 1.0)).metadata_servers
    assert idle.reply_latency_seconds == Unknown("nothing completed")


def test_what_the_manager_does_not_export_is_unknown_and_not_none() -> None:
    nothing = between((), ())
    for reading in (nothing.recovering, nothing.scrubbing, nothing.recovery_bytes_per_second):
        assert reading == Unknown("the manager does not export it")
    assert nothing.clients_stopped == Known(False, 2.0)


def test_a_real_page_names_hosts_pools_and_states(shared_folder: Path) -> None:
    text = (shared_folder / "fixtures" / "own-captures" / "ceph-metrics-slow.txt").read_text()
    scrape = ceph_scrape([parse_exposition(text, CEPH_NAMES)], 0.0)
    real = cluster_readings(scrape, scrape)
    assert len(set(real.hosts.values())) == 1
    assert set(real.hosts) == {"osd.0", "osd.1", "osd.2"}
    assert [pool.name for pool in real.pools] == ["rbd"]
    assert (real.recovering, real.scrubbing) == (Known(0.0), Known(0.0))
    assert (real.down, real.flags, real.full) == ((), (), False)

"""The pages of the demonstration are those of the real exporters, as far as the collector's own readers can tell."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from collector.model.reading import Known
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.ceph import CephReadings, ceph_readings, ceph_scrape
from collector.parse.ceph_names import CEPH_NAMES
from collector.parse.exposition import parse_exposition, scrape_problem
from controller.demo.ceph_model import CephModel
from controller.demo.ceph_text import ceph_text
from controller.demo.live_cluster import LiveCluster
from controller.demo.rdma_text import RdmaModel, rdma_text
from controller.demo.scenery import DEMO_SITE, image_of
from controller.demo.story import arranged

IMAGES = {one.name: image_of(one)[::2] for one in DEMO_SITE.tenants}


def readings(model: CephModel, seconds: float, **busy: float) -> CephReadings:
    earlier = ceph_scrape([parse_exposition(ceph_text(model), CEPH_NAMES)], 0.0)
    model.advance(seconds, busy)
    page = parse_exposition(ceph_text(model), CEPH_NAMES)
    assert scrape_problem(page) is None
    return ceph_readings(earlier, ceph_scrape([page], seconds))


def test_a_well_ceph_is_quick_and_idle_images_have_no_latency() -> None:
    found = readings(CephModel(IMAGES), 10.0, vision=8.0)
    by_name = {reading.image.name: reading for reading in found.images}
    busy = by_name["csi-vol-vision"].read
    assert isinstance(busy, Known)
    assert busy.value.operations == pytest.approx(8 * 6 * 10)
    latency = busy.value.mean_latency_seconds
    assert isinstance(latency, Known)
    assert latency.value < 0.001
    idle = by_name["csi-vol-speech"].read
    assert isinstance(idle, Known)
    assert not isinstance(idle.value.mean_latency_seconds, Known)


def test_a_slow_disk_stands_out_and_slows_the_images_of_its_pool_only() -> None:
    model = CephModel(IMAGES)
    model.set_slow({"speech"})
    found = readings(model, 10.0, vision=8.0, speech=2.0)
    commits = {osd.name: osd.commit_latency_seconds for osd in found.osds}
    slow = [name for name, value in commits.items() if isinstance(value, Known) and value.value > 1]
    assert slow == ["osd.7"]
    latencies: dict[str, float] = {}
    for image in found.images:
        for transfer in (image.read, image.write):
            mean = transfer.value.mean_latency_seconds if isinstance(transfer, Known) else transfer
            if isinstance(mean, Known):
                latencies[image.image.name] = max(mean.value, latencies.get(image.image.name, 0.0))
    assert latencies["csi-vol-speech"] > 0.2 > 0.01 > latencies["csi-vol-vision"]
    model.set_slow(())
    assert not any(osd.slow for osd in model.osds)


def test_every_page_is_text_that_prometheus_reads() -> None:
    cluster = LiveCluster(DEMO_SITE, arranged(1), 120.0, 1, lambda: 1_750_000_000.0)
    for text in (cluster.gpu_text(), cluster.ceph_text(), cluster.rdma_text()):
        assert list(text_string_to_metric_families(text))


def test_each_gpu_has_a_line_and_those_of_gangs_their_holder() -> None:
    cluster = LiveCluster(DEMO_SITE, arranged(1), 120.0, 1, lambda: 1_750_000_000.0)
    found = gpu_readings(parse_exposition(cluster.gpu_text()))
    assert len(found) == 64
    held = sum(view.held for view in cluster.tenants())
    assert 0 < held <= 64


def test_only_gangs_over_several_nodes_talk() -> None:
    model = RdmaModel(("demo-0", "demo-1"))
    model.advance(2.0, {"demo-0": 8.0})
    families = {family.name: family for family in text_string_to_metric_families(rdma_text(model))}
    sent = {s.labels["instance"]: s.value for s in families["node_infiniband_port_data_transmitted_bytes"].samples}
    assert sent == {"demo-0": 8 * 3e9 * 2, "demo-1": 0.0}

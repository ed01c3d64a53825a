"""A gang that hangs, end to end: exporter's text → real Prometheus → collector → its series → finding and `explain`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from collector.assemble.gang_devices import troubles_of_window
from collector.exporter.http import Address
from collector.model.objects import Picture
from collector.model.snapshot import Evidence, OtherKind
from collector.sources.evidence import EvidenceLimits, read_evidence
from collector.sources.gpu_series import read_devices
from collector.sources.prometheus import Prometheus
from controller.demo.gpu_text import GpuDevice, Holder, exposition_text
from controller.demo.processes import wait_until
from controller.policy.finding import Cause, Trouble
from controller.policy.findings import find
from controller.runtime.collecting import Collecting, CollectorSettings
from controller.runtime.configuration import Configuration
from tests.builders import look
from tests.integration.test_collecting import DOCUMENTS, Watch
from tests.integration.test_device_parity import served
from tests.pictures import PictureMaker
from tests.testbed import Testbed
from tests.testbed.monitoring import ScrapeTarget

pytestmark = pytest.mark.prometheus

TIME_SCALE = 30.0
"""A gang hangs after 20 seconds."""


def picture() -> Picture:
    maker = PictureMaker()
    maker.labels = {"a": "b"}
    for node in ("n0", "n1"):
        maker.node(node)
    maker.tenant("vision", floor=8, floating=8)
    maker.running("vision", "train", ("n0", "n1"))
    return maker.picture()


def page(*, hangs: bool) -> str:
    return exposition_text(
        GpuDevice(node, index, "NVIDIA H100 80GB HBM3", 0.9, Holder("vision", f"train-{n}", "main"), hangs=hangs)
        for n, node in enumerate(("n0", "n1"))
        for index in range(8)
    )


class Shows(Watch):
    """Always the same cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.settled.set()

    def picture(self, now: float) -> Picture:
        return replace(picture(), taken_at=now)


@pytest.fixture
def pages(monitoring: Testbed, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A collector that reads the GPUs out of the real Prometheus, which scrapes these pages and the collector."""
    documents = tmp_path / "documents.yaml"
    documents.write_text(DOCUMENTS, encoding="utf-8")
    shown, stop = {"/gpus": page(hangs=True)}, threading.Event()
    settings = CollectorSettings(
        "c1", Address("127.0.0.1", 0), prometheus_url=monitoring.prometheus.url, time_scale=TIME_SCALE
    )
    collecting = Collecting(settings, Configuration([documents], "c1"), Shows())
    thread = threading.Thread(target=collecting.run, args=(stop,), daemon=True)
    with served(shown) as url:
        thread.start()
        try:
            wait_until(lambda: collecting.server.port != 0, "the server to listen")
            own = f"http://127.0.0.1:{collecting.server.port}/metrics"
            monitoring.prometheus.configure(
                [ScrapeTarget("gpus", f"{url}/gpus"), ScrapeTarget("trimtab-collector", own, honor_labels=True)]
            )
            yield shown
        finally:
            monitoring.prometheus.configure([])
            stop.set()
            thread.join(60)


def test_a_gang_that_hangs_becomes_a_finding_with_its_evidence_and_ends_with_the_hang(
    monitoring: Testbed, pages: dict[str, str], tmp_path: Path
) -> None:
    asked = Prometheus(monitoring.prometheus.url)
    site = Configuration([tmp_path / "documents.yaml"], "c1").load().site

    def evidence() -> Evidence:
        return read_evidence(asked, site, time.time(), EvidenceLimits(time_scale=TIME_SCALE))

    wait_until(lambda: "vision" in evidence().suspected, "the suspicion")
    wait_until(lambda: "vision" in evidence().other_causes, "the hang")
    snapshot = look(picture(), site, evidence=evidence())
    (finding,) = [one for one in find(snapshot) if one.kind is Trouble.HUNG]
    assert (finding.tenant, finding.cause) == ("vision", Cause.WORKLOAD)
    assert "1 gang with 16 GPUs of pool h100 hangs" in finding.sentence
    told = troubles_of_window(snapshot, read_devices(asked, 8.0))
    assert [(one.kind, one.cause.kind) for one in told.gangs] == [("hung", OtherKind.WORKLOAD)]
    assert told.gangs[0].cause.sentence.startswith("vision/train hangs: for 8s its 16 GPUs seem busy")
    pages["/gpus"] = page(hangs=False)
    wait_until(lambda: "vision" not in evidence().other_causes, "the end of it")
    asked.close()

"""A collector that keeps a history: it ticks on without a database, says so once, and writes when it ends."""

from __future__ import annotations

import threading
from pathlib import Path

from structlog.testing import capture_logs

from collector.accounting.address import read_address
from collector.accounting.recorder import Recorder
from collector.accounting.store import Store
from collector.exporter.http import Address
from controller.demo.processes import wait_until
from controller.runtime.collecting import Collecting, CollectorSettings
from controller.runtime.configuration import Configuration
from controller.runtime.keeping import Keeping
from tests.integration.test_collecting import DOCUMENTS, Watch


def test_a_database_that_is_away_is_said_once_and_stops_nothing(tmp_path: Path) -> None:
    config, folder = tmp_path / "documents.yaml", tmp_path / "volume"
    config.write_text(DOCUMENTS, encoding="utf-8")
    store = Store(read_address(str(folder / "history.db")))
    keeping, watch, stop = Keeping(Recorder(store, "c1", 1e9), "c1"), Watch(), threading.Event()
    settings = CollectorSettings("c1", Address("127.0.0.1", 0), time_scale=60.0)
    collecting = Collecting(settings, Configuration([config], "c1"), watch, keeping)
    with capture_logs() as logs:
        thread = threading.Thread(target=collecting.run, args=(stop,), daemon=True)
        thread.start()
        watch.settled.set()
        wait_until(lambda: collecting._role.published.snapshot is not None, "a tick without a database")
        wait_until(lambda: ("accounting", "", "unwritable") in collecting._health.state().errors, "it to be counted")
        folder.mkdir()
        wait_until(lambda: any(line["event"] == "kept again" for line in logs), "the database to be found")
        wait_until(lambda: collecting._role.clocks.looked, "a look")
        stop.set()
        thread.join(10)
    # Two threads speak: which of them comes first at the beginning is chance.
    told = [line for line in logs if line["event"] != "collecting"]
    assert [line["event"] for line in told] == ["not kept", "kept again", "stopped"]
    assert "unable to open database file" in told[0]["reason"]
    store.begin_reading()
    store.close()

"""The running loop carries no library of tables, learning or drawing: they cost seconds to load and 130 MB to keep."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOO_HEAVY = {"grafanalib", "matplotlib", "numpy", "pandas", "scipy", "sklearn"}
PROGRAM = """
import json, sys, threading
from pathlib import Path
import controller.cli.main, controller.cli.run_controller, controller.runtime.assembly, controller.runtime.web
from collector.exporter.http import Address, HttpServer
from controller.runtime.logs import log_as_json
from tests.unit.controller.runtime.stage import Stage, Stop

log_as_json()
stage = Stage(Path(sys.argv[1]))
loop = stage.loop()
web = HttpServer(
    controller.runtime.web.application(loop.board, loop.doorbell, lambda: True), Address("127.0.0.1", 0)
)
web.start()
loop.run(Stop(stage, 3))
web.stop()
told = {"ticks": loop.board.ticks, "moved": stage.leaf("trimtab-vision"), "modules": sorted(sys.modules)}
json.dump(told, sys.stdout)
"""


def test_a_loop_that_ticked_has_loaded_nothing_heavy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    told = json.loads(done.stdout)
    assert (told["ticks"], told["moved"]) == (3, 16), "it really steered"
    loaded = {name.partition(".")[0] for name in told["modules"]}
    assert "kubernetes" in loaded
    assert loaded.isdisjoint(TOO_HEAVY)

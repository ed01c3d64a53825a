"""`trimtab demo` as its user starts it: real Prometheus and Alertmanager, one JSON object, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from controller.demo.processes import wait_until

pytestmark = [pytest.mark.prometheus]

CHECKOUT = Path(__file__).resolve().parents[2]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The demo, with its temporary folders below ours, so that we see what it leaves."""
    argv = [sys.executable, "-c", "from controller.cli.main import main; main()", "demo", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TMPDIR": str(folder)}
    return subprocess.Popen(
        argv, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """What it has started."""
    return psutil.Process(process.pid).children(recursive=True)


def nothing_is_left(folder: Path, started: list[psutil.Process]) -> bool:
    return not list(folder.iterdir()) and not any(one.is_running() for one in started)


def test_the_demo_shows_an_alert_a_change_that_helped_and_slow_storage_left_alone(tmp_path: Path) -> None:
    process = start(tmp_path, "--for", "80s", "-o", "json")
    wait_until(lambda: len(children(process)) == 2, "Prometheus and Alertmanager")
    started = children(process)
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, f"{out}\n{err}"
    shown = json.loads(out)
    assert shown["passed"] is True
    assert shown["alerts_fired"] >= 1
    assert shown["changes"] >= 1
    assert set(shown["verdicts"]) == {"helped", "no_effect", "hurt", "cannot_tell"}
    assert shown["verdicts"]["helped"] >= 1
    assert shown["wrong_cause_changes"] == 0
    assert shown["storage_fault_named"] is True
    assert shown["seconds"] >= 80
    assert nothing_is_left(tmp_path, started)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_all_that_was_started(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("running until Ctrl-C"):
            break
    started = children(process)
    assert len(started) == 2
    process.send_signal(number)
    process.communicate(timeout=300)
    assert process.returncode == 1, "nothing was shown yet"
    assert nothing_is_left(tmp_path, started)


def test_a_killed_demo_leaves_no_process_behind(tmp_path: Path) -> None:
    process = start(tmp_path)
    wait_until(lambda: len(children(process)) == 2, "Prometheus and Alertmanager")
    started = children(process)
    process.kill()
    process.communicate(timeout=300)
    wait_until(lambda: not any(one.is_running() for one in started), "what it started to end")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--for", "soon"), "--for: got soon, expected a duration"),
        (("--for", "0s"), "a duration from 1s to 7d"),
        (("--listen", "nowhere"), "--listen: got nowhere"),
        (("--trace", "absent.csv"), "absent.csv: got"),
    ],
)
def test_bad_input_is_said_before_anything_is_started(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    process = start(tmp_path, *arguments)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2
    assert said in err


def test_without_prometheus_the_command_to_get_it_is_said(tmp_path: Path) -> None:
    script = (
        "import os, shutil\n"
        "shutil.which = lambda name, *rest, **more: None\n"
        "os.geteuid = lambda: 1000\n"
        "from controller.cli.main import main\n"
        "main()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    argv = [sys.executable, "-c", script, "demo", "--for", "5s"]
    done = subprocess.run(argv, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 3
    assert "apt-get install -y --no-install-recommends prometheus prometheus-alertmanager" in done.stderr

"""The process runner starts, adopts and ends real processes, and nothing that it did not start."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from controller.demo.processes import ProcessIdentity, Service, ServiceFailed, free_port, wait_until

ROOT = Path(__file__).resolve().parents[2]


def service(folder: Path, *argv: str, ready: Callable[[], bool] = lambda: True, tethered: bool = True) -> Service:
    return Service("program", lambda: argv, folder, ready, ready_timeout_seconds=60.0, tethered=tethered)


def python(code: str) -> Sequence[str]:
    return sys.executable, "-c", textwrap.dedent(code)


def test_a_started_service_runs_until_it_is_stopped(tmp_path: Path) -> None:
    program = service(tmp_path, "sleep", "60")
    program.start()
    identity = program.identity
    assert identity is not None
    program.start()  # again: left alone
    assert program.identity == identity
    program.stop()
    assert not identity.is_alive()
    assert not program.pid_file.exists()


def test_a_service_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "ready"
    code = f"""
        import pathlib, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pathlib.Path({str(mark)!r}).touch()
        time.sleep(60)
    """
    program = service(tmp_path, *python(code), ready=mark.exists)
    program.grace_seconds = 0.2
    program.start()
    identity = program.identity
    program.stop()
    assert identity is not None
    assert not identity.is_alive()


def test_a_service_that_ends_early_fails_with_the_end_of_its_log(tmp_path: Path) -> None:
    program = service(tmp_path, *python("raise SystemExit('no such disk')"), ready=lambda: False)
    with pytest.raises(ServiceFailed, match=r"(?s)ended before it was ready.*no such disk"):
        program.start()


def test_a_service_that_is_never_ready_is_stopped(tmp_path: Path) -> None:
    program = service(tmp_path, "sleep", "60", ready=lambda: False)
    program.ready_timeout_seconds = 0.3
    with pytest.raises(ServiceFailed, match=r"not ready in 0\.3 s"):
        program.start()
    assert not program.is_running()


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    program = service(tmp_path, "no-such-program", ready=lambda: False)
    with pytest.raises(ServiceFailed, match="no-such-program: No such file"):
        program.start()


def test_an_id_that_now_belongs_to_another_process_is_left_alone(tmp_path: Path) -> None:
    program = service(tmp_path, "sleep", "60")
    stranger = ProcessIdentity.of(os.getpid())
    assert stranger is not None
    program.pid_file.write_text(f"{stranger.pid} {stranger.started_ticks - 1}")
    program.stop()
    assert stranger.is_alive()


def test_an_untethered_service_is_taken_up_again_by_its_pid_file(tmp_path: Path) -> None:
    first = service(tmp_path, "sleep", "60", tethered=False)
    first.start()
    second = service(tmp_path, "sleep", "60", tethered=False)
    assert second.identity == first.identity
    second.stop()
    assert not first.is_running()
    first.stop()


def test_a_tethered_service_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = f"""
        import pathlib, time
        from controller.demo.processes import Service
        Service("program", lambda: ["sleep", "60"], pathlib.Path({str(tmp_path)!r}), lambda: True).start()
        time.sleep(60)
    """
    parent = subprocess.Popen(python(code), env={**os.environ, "PYTHONPATH": str(ROOT)})
    program = service(tmp_path, "sleep", "60")
    wait_until(lambda: program.identity is not None, "the grandchild to start")
    identity = program.identity
    assert identity is not None
    wait_until(lambda: Path(f"/proc/{identity.pid}/comm").read_text() == "sleep\n", "it to become the program")
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not identity.is_alive(), "the grandchild to die")


def test_a_port_is_given_once_though_nobody_listens_on_it_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    first = free_port()
    drawn = iter([first, first, first + 1, first + 2, first + 3])
    monkeypatch.setattr(random, "choice", lambda candidates: next(drawn))
    assert free_port() > first

"""`trimtab run controller` as a process: it ends when it is told to, whatever the network does."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from collector.sources.kubernetes_api import KubernetesApi
from controller.demo.processes import answers, free_port, wait_until
from controller.runtime.assembly import Settings

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]

ROOT = Path(__file__).resolve().parents[2]


class Wire:
    """A wire to the API server that a test can make swallow everything. A named fake of a network that hangs."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        server = urlsplit(config["clusters"][0]["cluster"]["server"])
        self._there = (str(server.hostname), int(server.port or 443))
        self.swallows = threading.Event()
        self._open = [socket.create_server(("127.0.0.1", 0))]
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self._open[0].getsockname()[1]}"
        self.kubeconfig = folder / "wire.kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(config), encoding="utf-8")
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def close(self) -> None:
        """Cut it, and wait until nobody listens any more."""
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # wakes whoever waits on it
        for thread in self._threads:
            thread.join()
        for end in self._open:
            end.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._open[0].accept()
                there = socket.create_connection(self._there)
                self._open += [here, there]
                pumps = [threading.Thread(target=self._pump, args=ends) for ends in ((here, there), (there, here))]
                self._threads += pumps
                for pump in pumps:
                    pump.start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self.swallows.is_set():
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def controller_process(
    settings: Settings, kubeconfig: Path, *more: str
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    arguments = [
        *("--config", str(settings.config[0]), "--kubeconfig", str(kubeconfig), "--namespace", settings.namespace),
        *("--baseline", str(settings.baseline_file), "--listen", f"127.0.0.1:{port}", "--lease-seconds", "6", *more),
    ]
    command = [sys.executable, "-c", "from controller.cli.main import main; main()", "run", "controller", *arguments]
    with log_of(settings).open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stderr=log)
    try:
        yield process, port
    finally:
        process.kill()
        process.wait()


def log_of(settings: Settings) -> Path:
    """What the process said."""
    return settings.config[0].with_name("controller.log")


def seconds_to_end(process: subprocess.Popen[bytes]) -> float:
    started = time.monotonic()
    process.terminate()
    process.wait(180.0)
    return time.monotonic() - started


def test_a_stop_is_heeded_within_seconds_and_lets_go_of_the_lease(
    api: KubernetesApi, kubeconfig: Path, settings: Settings
) -> None:
    with controller_process(settings, kubeconfig) as (process, port):
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz"), "the first tick")
        path = f"/apis/coordination.k8s.io/v1/namespaces/{settings.namespace}/leases/trimtab-controller"
        assert api.get(path)["spec"]["holderIdentity"]
        assert seconds_to_end(process) < 20.0
        assert process.returncode == 0
        assert api.get(path)["spec"]["holderIdentity"] == ""


def test_a_stop_is_heeded_within_seconds_while_the_network_swallows_everything(
    kubeconfig: Path, settings: Settings, tmp_path: Path
) -> None:
    with closing(Wire(kubeconfig, tmp_path)) as wire, controller_process(settings, wire.kubeconfig) as (process, port):
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz"), "the first tick")
        wire.swallows.set()
        time.sleep(5.0)  # the lease runs out, and a request hangs
        assert seconds_to_end(process) < 30.0, "Kubernetes would kill it then"
        assert process.returncode == 0


def test_a_port_that_is_taken_is_bad_input_and_leaves_nothing_running(kubeconfig: Path, settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        with controller_process(settings, kubeconfig, "--listen", listen) as (process, _):
            assert process.wait(180.0) == 2
        assert "--listen" in log_of(settings).read_text(encoding="utf-8")

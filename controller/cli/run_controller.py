"""`trimtab run controller`: the loop, its web door and its logs, until told to stop."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated, TypeAlias

import structlog
import typer

from collector.exporter.http import HttpServer, ListenError
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_watch import ClusterWatch
from controller.api.errors import InputError, Mistake
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.listening import listen_address, not_free
from controller.cli.options import Cluster, Context, Documents, Kubeconfig, TimeScale
from controller.cli.output import REFUSED
from controller.cli.steering import Baseline, checked_baseline, mode_of
from controller.cli.stopping import stop_event
from controller.cli.values import address_for, path_for
from controller.files.reading import read_text
from controller.runtime.assembly import Settings, loop_for, steering_limits
from controller.runtime.doorbell import Doorbell
from controller.runtime.lease import FenceError
from controller.runtime.logs import log_as_json
from controller.runtime.loop import Loop
from controller.runtime.web import application

_LOG = structlog.get_logger("trimtab.controller")


MaxMode: TypeAlias = Annotated[
    str, typer.Option("--max-mode", help="Ceiling over the policy's mode: Observe, Recommend or Enforce.")
]
RulesPrometheus: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prometheus-url",
        parser=address_for("--prometheus-url"),
        help="Prometheus with Trimtab's rules. Without it nothing is ever changed.",
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--webhook-token-file",
        parser=path_for("--webhook-token-file"),
        help="File with the token that Alertmanager must send. Without it no alert is taken, and the loop looks at its "
        "own pace.",
    ),
]
LeaseSeconds: TypeAlias = Annotated[
    int, typer.Option("--lease-seconds", min=3, max=3600, help="A new controller waits this long for one that died.")
]


def run_controller(
    config: Documents,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    prometheus_url: RulesPrometheus = None,
    max_mode: MaxMode = "Observe",
    listen: Annotated[str, typer.Option("--listen", help="Address of webhook, page and metrics.")] = "127.0.0.1:9109",
    webhook_token_file: TokenFile = None,
    baseline: Baseline = None,
    namespace: Namespace = NAMESPACE,
    cluster: Cluster = "default",
    lease_seconds: LeaseSeconds = 30,
    time_scale: TimeScale = 1.0,
) -> None:
    """Watch, decide, and steer (in mode Enforce), or hand each move to a person (in mode Recommend).

    A plain start observes: it writes nothing but its own status and Lease. Two yeses are needed before anything is
    changed: --max-mode Enforce here, and mode: Enforce in the Policy.

    Example: trimtab run controller --config /etc/trimtab --prometheus-url http://prometheus:9090
    """
    settings = Settings(
        tuple(config), cluster, namespace, mode_of(max_mode), time_scale, baseline, prometheus_url, lease_seconds
    )
    doorbell = Doorbell(_token(webhook_token_file))
    address = listen_address(listen)
    watch = ClusterWatch(connect(kubeconfig, context))
    loop = loop_for(settings, connect(kubeconfig, context, steering_limits(lease_seconds)), watch, doorbell)
    loop.controller.configuration.load()
    checked_baseline(loop.controller)
    stop = stop_event()
    log_as_json()  # what a person must correct was told in sentences; from now on machines read
    watch.start()  # the lists come while the door is made
    web = HttpServer(application(loop.board, doorbell, lambda: loop.board.last is not None), address)
    try:
        web.start()
        _until_stopped(loop, watch, stop)
    except ListenError as error:
        raise not_free(listen, error) from error
    finally:
        loop.lease.release()
        watch.stop()
        web.stop()


def _until_stopped(loop: Loop, watch: ClusterWatch, stop: threading.Event) -> None:
    """Tick once every kind of object is settled: one that was not read yet would look empty."""
    while not stop.is_set() and not watch.wait_ready(5.0):
        _LOG.info("waiting for the first picture of the cluster")
    try:
        loop.run(stop)
    except FenceError as error:
        _LOG.error("stopped", reason=str(error))
        raise typer.Exit(REFUSED) from None


def _token(file: Path | None) -> str:
    """The token in that file; "" without a file. Raises InputError."""
    if file is None:
        return ""
    token = read_text(file, "a file with the token", "--webhook-token-file").strip()
    if not token:
        raise InputError((Mistake(f"--webhook-token-file {file}", "an empty file", "a token"),))
    return token

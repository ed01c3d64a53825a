"""`trimtab run collector`: one picture of the cluster, served as metrics until told to stop. Writes nothing anywhere.

A collector that ends when the API server is away would be missing just when it is needed: it keeps trying, and exports
that it can not see. Only what a person must correct (documents, addresses, kubeconfig) ends it, before it starts.
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from collector.exporter.http import ListenError
from collector.model.fabric import ProbePlan
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_kinds import KINDS, VOLUMES
from collector.sources.kubernetes_watch import ClusterWatch, WatchSettings
from controller.api.errors import InputError, Mistake
from controller.api.rdma_probes import parse_probe_plan
from controller.cli.listening import listen_address
from controller.cli.options import Context, Kubeconfig, MaxModeNotNeeded
from controller.runtime.collecting import Collecting, CollectorSettings
from controller.runtime.configuration import Configuration
from controller.runtime.logs import log_as_json


def run_collector(
    config: Annotated[list[Path], typer.Option("--config", help="File or folder with Tenant and Policy documents.")],
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    gpu_exporter: Annotated[
        list[str] | None,
        typer.Option("--gpu-exporter", help="Address of a dcgm-exporter's metrics (may be repeated).", metavar="URL"),
    ] = None,
    ceph_url: Annotated[
        list[str] | None,
        typer.Option(
            "--ceph-url",
            help="Address of the metrics of Ceph's manager (may be repeated for one cluster).",
            metavar="URL",
        ),
    ] = None,
    rdma_probes: Annotated[
        Path | None,
        typer.Option("--rdma-probes", help="File that names the pairs of nodes to probe with ucx_perftest."),
    ] = None,
    prometheus_url: Annotated[
        str | None,
        typer.Option("--prometheus-url", help="Prometheus to ask whether it really gets what is exported here."),
    ] = None,
    listen: Annotated[str, typer.Option("--listen", help="Address of /metrics, /healthz, /readyz.")] = "127.0.0.1:9108",
    cluster: Annotated[str, typer.Option("--cluster", help="Name of this cluster, as in its metrics.")] = "default",
    time_scale: Annotated[float, typer.Option("--time-scale", min=1.0, help="Divide all durations by this.")] = 1.0,
    max_mode: MaxModeNotNeeded = None,
) -> None:
    """Export who waits, who holds what and what stands idle, per tenant, queue and pool. Needs rights to read only.

    With --ceph-url also how the volumes of each tenant do; whose they are is read from the PersistentVolumes.

    Keeps trying while the API server is away, and exports that it can not see.

    Example: trimtab run collector --config /etc/trimtab --gpu-exporter http://node-1:9400/metrics --listen :9108
    """
    log_as_json()
    settings = CollectorSettings(
        cluster=cluster,
        listen=listen_address(listen),
        gpu_exporters=tuple(_url("--gpu-exporter", url) for url in gpu_exporter or ()),
        ceph_urls=tuple(_url("--ceph-url", url) for url in ceph_url or ()),
        rdma_probes=None if rdma_probes is None else _probe_plan(rdma_probes),
        prometheus_url=None if prometheus_url is None else _url("--prometheus-url", prometheus_url),
        time_scale=time_scale,
    )
    configuration = Configuration(config, cluster)
    configuration.load()
    kinds = (*KINDS, VOLUMES) if settings.ceph_urls else KINDS
    watch = ClusterWatch(connect(kubeconfig, context), _watch_settings(time_scale), kinds=kinds)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        Collecting(settings, configuration, watch).run(stop)
    except ListenError as error:
        raise InputError(
            (Mistake("--listen", repr(listen), f"an address that can be listened on ({error})"),)
        ) from error


def _watch_settings(time_scale: float) -> WatchSettings:
    usual = WatchSettings()
    return WatchSettings(relist_seconds=max(60.0, usual.relist_seconds / time_scale))


def _probe_plan(file: Path) -> ProbePlan:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError((Mistake(str(file), "bytes that are no UTF-8", "YAML text in UTF-8"),)) from None
    except OSError as error:
        raise InputError((Mistake(str(file), (error.strerror or "").lower(), "a file that can be read"),)) from error
    return parse_probe_plan(text, str(file))


def _url(option: str, text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError((Mistake(option, repr(text), "an address such as http://node-1:9400/metrics"),))
    return text

"""`trimtab run collector`: one picture of the cluster, served as metrics until told to stop. Writes nothing anywhere.

A collector that ends when the API server is away would be missing just when it is needed: it keeps trying, and exports
that it can not see. Only what a person must correct (documents, addresses, kubeconfig) ends it, before it starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from collector.exporter.http import ListenError
from collector.model.fabric import ProbePlan
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_kinds import KINDS, VOLUMES
from collector.sources.kubernetes_watch import ClusterWatch, WatchSettings
from controller.api.rdma_probes import parse_probe_plan
from controller.cli.accounting_store import keeping_of
from controller.cli.addresses import http_address
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.listening import listen_address, not_free
from controller.cli.options import (
    Accounting,
    AccountingKeep,
    Cluster,
    Context,
    Documents,
    Kubeconfig,
    MaxModeNotNeeded,
    TimeScale,
)
from controller.cli.stopping import stop_event
from controller.cli.values import address_for, path_for
from controller.files.reading import read_text
from controller.runtime.collecting import Collecting, CollectorSettings
from controller.runtime.configuration import Configuration
from controller.runtime.ledger_store import LedgerStore
from controller.runtime.logs import log_as_json

GpuExporters: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--gpu-exporter", help="Address of a GPU exporter's metrics (may be repeated).", metavar="URL"),
]
CephUrls: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ceph-url",
        help="Address of the metrics of Ceph's manager (may be repeated for one cluster).",
        metavar="URL",
    ),
]
RdmaProbes: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--rdma-probes",
        parser=path_for("--rdma-probes"),
        help="File that names the pairs of nodes to probe with ucx_perftest.",
    ),
]
CollectedBy: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prometheus-url",
        parser=address_for("--prometheus-url"),
        help="Prometheus to ask whether it really gets what is exported here.",
    ),
]


def run_collector(
    config: Documents,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    gpu_exporter: GpuExporters = None,
    ceph_url: CephUrls = None,
    rdma_probes: RdmaProbes = None,
    prometheus_url: CollectedBy = None,
    accounting: Accounting = None,
    accounting_keep: AccountingKeep = "400d",
    namespace: Namespace = NAMESPACE,
    listen: Annotated[str, typer.Option("--listen", help="Address of /metrics, /healthz, /readyz.")] = "127.0.0.1:9108",
    cluster: Cluster = "default",
    time_scale: TimeScale = 1.0,
    max_mode: MaxModeNotNeeded = None,
) -> None:
    """Export who waits, who holds what and what stands idle, per tenant, queue and pool. Needs rights to read only.

    With --ceph-url also how the volumes of each tenant do; whose they are is read from the PersistentVolumes.

    With --accounting also keeps the history of every workload and policy change; waits then survive a restart.

    Keeps trying while the API server is away, and exports that it can not see.

    Example: trimtab run collector --config /etc/trimtab --gpu-exporter http://node-1:9400/metrics --listen :9108
    """
    settings = CollectorSettings(
        cluster=cluster,
        listen=listen_address(listen),
        gpu_exporters=tuple(http_address("--gpu-exporter", url) for url in gpu_exporter or ()),
        ceph_urls=tuple(http_address("--ceph-url", url) for url in ceph_url or ()),
        rdma_probes=None if rdma_probes is None else _probe_plan(rdma_probes),
        prometheus_url=None if prometheus_url is None else http_address("--prometheus-url", prometheus_url),
        time_scale=time_scale,
    )
    configuration = Configuration(config, cluster)
    configuration.load()
    kinds = (*KINDS, VOLUMES) if settings.ceph_urls else KINDS
    watch = ClusterWatch(connect(kubeconfig, context), _watch_settings(time_scale), kinds=kinds)
    ledger = LedgerStore(connect(kubeconfig, context), namespace)
    keeping = None if accounting is None else keeping_of(accounting, accounting_keep, cluster, ledger)
    collecting = Collecting(settings, configuration, watch, keeping)
    stop = stop_event()
    log_as_json()  # what a person must correct was told in sentences; from now on machines read
    try:
        collecting.run(stop)
    except ListenError as error:
        raise not_free(listen, error) from error


def _watch_settings(time_scale: float) -> WatchSettings:
    usual = WatchSettings()
    return WatchSettings(relist_seconds=max(60.0, usual.relist_seconds / time_scale))


def _probe_plan(file: Path) -> ProbePlan:
    return parse_probe_plan(read_text(file, "a file with YAML text"), str(file))

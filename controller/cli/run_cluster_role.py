"""The cluster role of `trimtab run collector`, made from its options. Starts nothing; the caller runs it.

A collector that ends when the API server is away would be missing just when it is needed: it keeps trying, and exports
that it can not see. Only what a person must correct (documents, addresses, kubeconfig) ends it, before it starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from collector.exporter.http import Address
from collector.model.fabric import ProbePlan
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_kinds import KINDS, VOLUMES
from collector.sources.kubernetes_watch import ClusterWatch, WatchSettings
from controller.api.errors import InputError, Mistake
from controller.api.rdma_probes import parse_probe_plan
from controller.cli.accounting_store import keeping_of
from controller.cli.addresses import http_address
from controller.files.reading import read_text
from controller.runtime.collecting import Collecting, CollectorSettings
from controller.runtime.configuration import Configuration
from controller.runtime.keeping import Keeping
from controller.runtime.ledger_store import DEFAULT_NAMESPACE, LedgerStore
from controller.runtime.probe_file import ProbeFile


@dataclass(frozen=True, slots=True)
class CephOptions:
    """Those about Ceph."""

    urls: tuple[str, ...]
    admin: Path | None
    user: str


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """Those about the history, and where the ledger is that it reads."""

    accounting: str | None
    keep: str
    namespace: str | None


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options of the cluster role as they were written."""

    config: tuple[Path, ...]
    kubeconfig: Path | None
    context: str | None
    gpu_exporters: tuple[str, ...]
    ceph: CephOptions
    rdma_probes: Path | None
    probes: Path | None
    prometheus_url: str | None
    history: HistoryOptions
    listen: Address
    cluster: str
    time_scale: float


def cluster_program(options: ClusterOptions) -> Collecting:
    """The collector, its documents read and its kubeconfig found. Raises InputError, CredentialsProblem."""
    if not options.config:
        expected = "a file or folder with Tenant and Policy documents: the cluster role needs them"
        raise InputError((Mistake("--config", "nothing", expected),))
    if options.rdma_probes is not None and options.probes is not None:
        expected = "one of the two: both would say how each tenant's network is"
        raise InputError((Mistake("--probes", "a file beside --rdma-probes", expected),))
    if options.ceph.admin is not None and not options.ceph.urls:
        expected = "--ceph-url beside it: an administrator is only asked about what the pages show"
        raise InputError((Mistake("--ceph-admin", str(options.ceph.admin), expected),))
    asked = options.prometheus_url
    settings = CollectorSettings(
        cluster=options.cluster,
        listen=options.listen,
        gpu_exporters=tuple(http_address("--gpu-exporter", url) for url in options.gpu_exporters),
        ceph_urls=tuple(http_address("--ceph-url", url) for url in options.ceph.urls),
        ceph_admin=options.ceph.admin,
        ceph_user=options.ceph.user,
        rdma_probes=None if options.rdma_probes is None else read_probe_plan(options.rdma_probes),
        probe_file=None if options.probes is None else ProbeFile(options.probes, options.time_scale),
        prometheus_url=None if asked is None else http_address("--prometheus-url", asked),
        time_scale=options.time_scale,
    )
    configuration = Configuration(options.config, options.cluster)
    configuration.load()
    kinds = (*KINDS, VOLUMES) if settings.ceph_urls else KINDS
    api = connect(options.kubeconfig, options.context)
    watch = ClusterWatch(api, _watch_settings(options.time_scale), kinds=kinds)
    return Collecting(settings, configuration, watch, _keeping(options))


def _keeping(options: ClusterOptions) -> Keeping | None:
    if options.history.accounting is None:
        return None
    ledger = LedgerStore(connect(options.kubeconfig, options.context), options.history.namespace or DEFAULT_NAMESPACE)
    return keeping_of(options.history.accounting, options.history.keep, options.cluster, ledger)


def read_probe_plan(file: Path) -> ProbePlan:
    """The pairs of nodes that a file names. Raises InputError."""
    return parse_probe_plan(read_text(file, "a file with YAML text"), str(file))


def _watch_settings(time_scale: float) -> WatchSettings:
    usual = WatchSettings()
    return WatchSettings(relist_seconds=max(60.0, usual.relist_seconds / time_scale))

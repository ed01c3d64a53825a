"""`trimtab run collector`: the cluster or one node, served as metrics until told to stop. Writes nothing anywhere.

Reads the options and loads the role that they name: the node role runs on every node, and must not weigh what the
cluster's documents and the API server's client do.
"""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Protocol, TypeAlias

import typer

from collector.exporter.http import Address, ListenError
from controller.cli.listening import listen_address, not_free
from controller.cli.options import Accounting, AccountingKeep, Cluster, Context, Kubeconfig, MaxModeNotNeeded, TimeScale
from controller.cli.stopping import stop_event
from controller.cli.values import address_for, namespace_for, path_for, words_for
from controller.runtime.logs import log_as_json

DocumentsOfCluster: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        parser=path_for("--config"),
        help="File or folder with Tenant and Policy documents (may be repeated); the cluster role needs it.",
    ),
]
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
# As in `controller.cli.home`, which loads the API server's client: too heavy for the node role.
HomeNamespace: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        parser=namespace_for("--namespace"),
        help="Namespace where Trimtab keeps its own objects; default: trimtab-system.",
    ),
]
NodeName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--node",
        parser=words_for("--node", "the name of this node"),
        help="Node role: name of this node, as in Kubernetes; default: the host's.",
    ),
]
Sysfs: TypeAlias = Annotated[
    Path | None,
    typer.Option("--sysfs", parser=path_for("--sysfs"), help="Node role: where the node's /sys is; default: /sys."),
]
Nvml: TypeAlias = Annotated[
    bool, typer.Option("--nvml", help="Node role: ask NVML about GPUs. Only where no GPU exporter runs.")
]


PodResources: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--pod-resources",
        parser=path_for("--pod-resources"),
        help="Node role, with --nvml: the kubelet's socket that tells which pod holds which GPU, usually "
        "/var/lib/kubelet/pod-resources/kubelet.sock. Needs root.",
    ),
]


class Role(StrEnum):
    """What one collector looks at."""

    CLUSTER = "cluster"
    NODE = "node"


class Program(Protocol):
    """A role that is ready to run."""

    def run(self, stop: threading.Event) -> None:
        """Serve until stopped. Raises ListenError."""
        ...


def run_collector(
    config: DocumentsOfCluster = None,
    role: Annotated[
        Role, typer.Option("--role", help="cluster: tenants, queues and pools, once; node: RDMA and GPUs, on each.")
    ] = Role.CLUSTER,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    gpu_exporter: GpuExporters = None,
    ceph_url: CephUrls = None,
    rdma_probes: RdmaProbes = None,
    prometheus_url: CollectedBy = None,
    accounting: Accounting = None,
    accounting_keep: AccountingKeep = "400d",
    namespace: HomeNamespace = None,
    listen: Annotated[str, typer.Option("--listen", help="Address of /metrics, /healthz, /readyz.")] = "127.0.0.1:9108",
    cluster: Cluster = "default",
    node: NodeName = None,
    sysfs: Sysfs = None,
    nvml: Nvml = False,
    pod_resources: PodResources = None,
    time_scale: TimeScale = 1.0,
    max_mode: MaxModeNotNeeded = None,
) -> None:
    """Export who waits, who holds what and what stands idle, per tenant, queue and pool. Needs rights to read only.

    With --ceph-url also how the volumes of each tenant do; whose they are is read from the PersistentVolumes.

    With --accounting also keeps the history of every workload and policy change; waits then survive a restart.

    With --role node: the RDMA ports of this node, what their counters mean, pauses and drops of their interfaces, and
    with --nvml its GPUs. Needs neither documents nor the API server.

    Keeps trying while the API server is away, and exports that it can not see.

    Example: trimtab run collector --config /etc/trimtab --gpu-exporter http://node-1:9400/metrics --listen :9108
    """
    at = _At(listen_address(listen), cluster, time_scale)
    if role is Role.NODE:
        return _run(_node_program(at, _Node(node, sysfs, nvml, pod_resources)), listen)
    from controller.cli.run_cluster_role import ClusterOptions, cluster_program

    options = ClusterOptions(
        config=tuple(config or ()),
        kubeconfig=kubeconfig,
        context=context,
        gpu_exporters=tuple(gpu_exporter or ()),
        ceph_urls=tuple(ceph_url or ()),
        rdma_probes=rdma_probes,
        prometheus_url=prometheus_url,
        accounting=accounting,
        accounting_keep=accounting_keep,
        namespace=namespace,
        listen=at.listen,
        cluster=cluster,
        time_scale=time_scale,
    )
    return _run(cluster_program(options), listen)


@dataclass(frozen=True, slots=True)
class _At:
    """What both roles have."""

    listen: Address
    cluster: str
    time_scale: float


@dataclass(frozen=True, slots=True)
class _Node:
    """What the node role has alone."""

    name: str | None
    sysfs: Path | None
    nvml: bool
    pod_resources: Path | None


def _node_program(at: _At, node: _Node) -> Program:
    from controller.runtime.node_collecting import NodeCollecting, NodeSettings

    name, folder = node.name or socket.gethostname(), node.sysfs or Path("/sys")
    settings = NodeSettings(at.cluster, name, at.listen, folder, node.nvml, at.time_scale, node.pod_resources)
    return NodeCollecting(settings)


def _run(program: Program, listen: str) -> None:
    stop = stop_event()
    log_as_json()  # what a person must correct was told in sentences; from now on machines read
    try:
        program.run(stop)
    except ListenError as error:
        raise not_free(listen, error) from error

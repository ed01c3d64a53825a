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
CephAdminFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--ceph-admin",
        parser=path_for("--ceph-admin"),
        help="ceph.conf of a client that may ask OSDs; off without. Needs python3-rados of the distribution.",
    ),
]
CephUser: TypeAlias = Annotated[
    str,
    typer.Option(
        "--ceph-user",
        parser=words_for("--ceph-user", "a name such as client.trimtab"),
        help="Its name, for --ceph-admin.",
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
Probes: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--probes",
        parser=path_for("--probes"),
        help="File that names the NICs whose nodes probe each other, the same for every node and for the cluster role, "
        "which gathers what they say. Without it nothing is probed.",
    ),
]
ProbeTokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--probe-token-file",
        parser=path_for("--probe-token-file"),
        help="Node role: file with the token that nodes share.",
    ),
]
ProbeState: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--probe-state",
        parser=path_for("--probe-state"),
        help="Node role: file that keeps what is usual for each link over a restart.",
    ),
]


PodResources: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--pod-resources",
        parser=path_for("--pod-resources"),
        help="Node role: the kubelet's socket that tells which pod holds which GPU and RDMA device, usually "
        "/var/lib/kubelet/pod-resources/kubelet.sock. Needs root.",
    ),
]


class Role(StrEnum):
    """What one collector looks at."""

    CLUSTER = "cluster"
    NODE = "node"


RoleOption: TypeAlias = Annotated[
    Role, typer.Option("--role", help="cluster: tenants, queues and pools, once; node: RDMA and GPUs, on each.")
]


class Program(Protocol):
    """A role that is ready to run."""

    def run(self, stop: threading.Event) -> None:
        """Serve until stopped. Raises ListenError."""
        ...


def run_collector(
    config: DocumentsOfCluster = None,
    role: RoleOption = Role.CLUSTER,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    gpu_exporter: GpuExporters = None,
    ceph_url: CephUrls = None,
    ceph_admin: CephAdminFile = None,
    ceph_user: CephUser = "client.admin",
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
    probes: Probes = None,
    probe_token_file: ProbeTokenFile = None,
    probe_state: ProbeState = None,
    time_scale: TimeScale = 1.0,
    max_mode: MaxModeNotNeeded = None,
) -> None:
    """Export who waits, who holds what and what stands idle, per tenant, queue and pool. Needs rights to read only.

    With --ceph-url also how the volumes of each tenant do; with --ceph-admin also for which OSD others wait. With
    --accounting also keeps the history of every workload and policy change. While the API server is away it says so.

    With --role node: the RDMA ports of this node, what their counters mean, pauses and drops of their interfaces, and
    with --nvml its GPUs. Needs neither documents nor the API server. With --probes it also measures RDMA to others.

    Example: trimtab run collector --config /etc/trimtab --gpu-exporter http://node-1:9400/metrics --listen :9108
    """
    at = _At(listen_address(listen), cluster, time_scale)
    if role is Role.NODE:
        of_node = _NodeOptions(node or socket.gethostname(), sysfs or Path("/sys"), nvml, pod_resources)
        return _run(_node_program(at, of_node, _Probing(probes, probe_token_file, probe_state)), listen)
    from controller.cli.run_cluster_role import CephOptions, ClusterOptions, HistoryOptions, cluster_program

    options = ClusterOptions(
        config=tuple(config or ()),
        kubeconfig=kubeconfig,
        context=context,
        gpu_exporters=tuple(gpu_exporter or ()),
        ceph=CephOptions(tuple(ceph_url or ()), ceph_admin, ceph_user),
        rdma_probes=rdma_probes,
        probes=probes,
        prometheus_url=prometheus_url,
        history=HistoryOptions(accounting, accounting_keep, namespace),
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
class _NodeOptions:
    """What the node role has besides."""

    name: str
    sysfs: Path
    nvml: bool
    pod_resources: Path | None


@dataclass(frozen=True, slots=True)
class _Probing:
    """The options about probes."""

    file: Path | None
    token_file: Path | None
    state: Path | None


def _node_program(at: _At, node: _NodeOptions, probing: _Probing) -> Program:
    from controller.runtime.node_collecting import NodeCollecting, NodeSettings

    settings = NodeSettings(
        at.cluster, node.name, at.listen, node.sysfs, node.nvml, at.time_scale, pod_resources=node.pod_resources
    )
    if probing.file is None:
        return NodeCollecting(settings)
    from controller.cli.probe_options import probing_of

    return NodeCollecting(
        settings, probing_of(node.name, probing.file, probing.token_file, probing.state, at.time_scale)
    )


def _run(program: Program, listen: str) -> None:
    stop = stop_event()
    log_as_json()  # what a person must correct was told in sentences; from now on machines read
    try:
        program.run(stop)
    except ListenError as error:
        raise not_free(listen, error) from error

"""`trimtab run collector`: the cluster or one node, served as metrics until told to stop. Writes nothing anywhere.

Reads the options and loads the role that they name: the node role runs on every node, and must not weigh what the
cluster's documents and the API server's client do.
"""

from __future__ import annotations

import signal
import socket
import threading
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Protocol

import typer

from collector.exporter.http import ListenError
from controller.api.errors import InputError, Mistake
from controller.cli.listening import listen_address
from controller.cli.options import Context, Kubeconfig, MaxModeNotNeeded
from controller.runtime.logs import log_as_json


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
    role: Annotated[
        Role, typer.Option("--role", help="cluster: tenants, queues and pools, once; node: RDMA and GPUs, on each.")
    ] = Role.CLUSTER,
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", help="File or folder with Tenant and Policy documents; the cluster role needs it."),
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    gpu_exporter: Annotated[
        list[str] | None,
        typer.Option("--gpu-exporter", help="Address of a GPU exporter's metrics (may be repeated).", metavar="URL"),
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
    node: Annotated[
        str | None, typer.Option("--node", help="Name of this node, as in Kubernetes; default: the host's.")
    ] = None,
    sysfs: Annotated[
        Path, typer.Option("--sysfs", help="Where the node's /sys is, for the node role.", show_default=True)
    ] = Path("/sys"),
    nvml: Annotated[
        bool, typer.Option("--nvml", help="Node role: ask NVML about GPUs. Only where no GPU exporter runs.")
    ] = False,
    time_scale: Annotated[float, typer.Option("--time-scale", min=1.0, help="Divide all durations by this.")] = 1.0,
    max_mode: MaxModeNotNeeded = None,
) -> None:
    """Export who waits, who holds what and what stands idle, per tenant, queue and pool. Needs rights to read only.

    With --ceph-url also how the volumes of each tenant do; whose they are is read from the PersistentVolumes.

    With --role node: the RDMA ports of this node, what their counters mean, pauses and drops of their interfaces, and
    with --nvml its GPUs. Needs neither documents nor the API server.

    Keeps trying while the API server is away, and exports that it can not see.

    Example: trimtab run collector --config /etc/trimtab --gpu-exporter http://node-1:9400/metrics --listen :9108
    """
    log_as_json()
    address = listen_address(listen)
    program: Program
    if role is Role.NODE:
        from controller.runtime.node_collecting import NodeCollecting, NodeSettings

        name = node or socket.gethostname()
        program = NodeCollecting(NodeSettings(cluster, name, address, sysfs, nvml, time_scale))
    else:
        from controller.cli.run_cluster_role import ClusterOptions, cluster_program

        options = ClusterOptions(
            config=tuple(config or ()),
            kubeconfig=kubeconfig,
            context=context,
            gpu_exporters=tuple(gpu_exporter or ()),
            ceph_urls=tuple(ceph_url or ()),
            rdma_probes=rdma_probes,
            prometheus_url=prometheus_url,
            listen=address,
            cluster=cluster,
            time_scale=time_scale,
        )
        program = cluster_program(options)
    _run(program, listen)


def _run(program: Program, listen: str) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        program.run(stop)
    except ListenError as error:
        raise InputError(
            (Mistake("--listen", repr(listen), f"an address that can be listened on ({error})"),)
        ) from error

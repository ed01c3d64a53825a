"""How much each node exchanges by RDMA, out of a Prometheus: our own node role's counters, else node_exporter's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from collector.model.reading import Known, Reading
from collector.sources.prometheus import Prometheus, quoted

_OWN: Final = ("trimtab_rdma_port_received_bytes_total", "trimtab_rdma_port_transmitted_bytes_total")
_NODE_EXPORTER: Final = (
    "node_infiniband_port_data_received_bytes_total",
    "node_infiniband_port_data_transmitted_bytes_total",
)
_WINDOW: Final = "2m"


def read_traffic(prometheus: Prometheus, cluster: str | None) -> Mapping[str, Reading[float]]:
    """Node → bytes a second, both ways and all ports together, of the last two minutes. Raises SourceError.

    `cluster` None: of the only one that Prometheus has.

    A node of which one way is not told is left out; node_exporter counts where its scrape names the node.
    """
    matcher = '{node!=""}' if cluster is None else f'{{cluster=~{quoted("|" + cluster)},node!=""}}'
    found: dict[str, Reading[float]] = {}
    for received, sent in (_NODE_EXPORTER, _OWN):
        # Replicas that scrape a port twice count once.
        rates = [
            f"sum by (node) (max by (node, device, port) (rate({name}{matcher}[{_WINDOW}])))"
            for name in (received, sent)
        ]
        for one in prometheus.instant(" + ".join(rates)):
            found[one.labels["node"]] = Known(one.value)
    return found

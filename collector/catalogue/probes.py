"""Probes between NICs, by the node role, and what they say together, by the cluster role. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

NIC_LATENCY: Final = "trimtab_rdma_nic_latency_seconds"
FAILED: Final = "trimtab_rdma_failed_probes_total"
PACE: Final = "trimtab_rdma_probe_pace_ratio"
LINK_RATIO: Final = "trimtab_rdma_link_ratio"
LINKS: Final = "trimtab_rdma_links"
SUSPECT: Final = "trimtab_rdma_suspect_ratio"
HOP_USUAL: Final = "trimtab_rdma_hop_usual_seconds"
WORST: Final = 20
"""Links, and suspects, that become series. All others are told by `trimtab probe list`."""


def _entry(name: str, kind: Kind, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    return Metric(name, kind, unit, ("cluster", *labels), Source.COLLECTOR, meaning, traps)


PROBES: Final = (
    _entry(
        NIC_LATENCY,
        Kind.HISTOGRAM,
        Unit.SECONDS,
        ("node", "device", "operation", "path", "le"),
        "Medians of the probes that a NIC sent, of 8 bytes, itself as their destination left out.",
        "half a round trip for write and send, a whole one for read: never add them",
        "bounds double: a quantile of it is as coarse",
    ),
    _entry(
        FAILED,
        Kind.COUNTER,
        Unit.PROBES,
        ("node", "device", "reason"),
        "Probes of a NIC that brought no latency.",
        "busy is no fault: another probe was under way",
    ),
    _entry(
        PACE,
        Kind.GAUGE,
        Unit.RATIO,
        ("node",),
        "Share of periods in which this node probes a link: below 1 while its cores are wanted by others, never 0.",
    ),
    _entry(
        LINK_RATIO,
        Kind.GAUGE,
        Unit.RATIO,
        ("source", "destination", "hop"),
        "Latency of a link (the better of its last two probes, at its worst operation) by what is usual for it; of the "
        "twenty worst links.",
        "a link that is not among them is not unknown: look at trimtab_rdma_links",
        "no sample before five probes of the link, or of five links of its kind",
    ),
    _entry(LINKS, Kind.GAUGE, Unit.LINKS, ("judged",), "Links by what is known of them."),
    _entry(
        SUSPECT,
        Kind.GAUGE,
        Unit.RATIO,
        ("suspect_kind", "suspect"),
        "What slow links point at, and by how much the worst of them is over its usual: a host that is slow with "
        "itself, a NIC with nearly all links slow, a switch that several NICs agree on, else the link.",
        "no sample while nothing is slow",
    ),
    _entry(
        HOP_USUAL,
        Kind.GAUGE,
        Unit.SECONDS,
        ("hop", "operation", "path"),
        "What is usual for links of a kind: the median of their baselines.",
        "no sample before five of them have one",
    ),
)

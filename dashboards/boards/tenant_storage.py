"""The part of a tenant's board about its storage: how slow, how it is used, and what disturbs Ceph. Pure."""

from __future__ import annotations

from typing import Any, Final

from alerts.rules.storage import MERGED_SHARE, READ_SHARE
from dashboards.house import Band, Colour, Query, Told, Unit, series, table
from dashboards.variables import OF_CLUSTER, OF_TENANT

_BY: Final = "max by (cluster, tenant, storage)"
_GOING_ON: Final = "max by (cluster, disturbance, scope, where)"


def storage_band() -> Band:
    """Four panels under a title of their own."""
    return Band(8, (_latency(), _moved(), _evenness(), _disturbed()), title="Its storage")


def _latency() -> Any:
    told = Told(
        "Latency of its volumes",
        "Mean over a minute, and the greatest mean between two looks. A gap: nothing completed, in a stall as well.",
        Unit.SECONDS,
    )
    return series(
        told,
        Query(_of("limit_seconds"), "promised {{storage}}", Colour.PROMISED),
        Query(_of("read_latency_seconds"), "read {{storage}}"),
        Query(_of("write_latency_seconds"), "write {{storage}}", Colour.USED),
        Query(_of("write_worst_latency_seconds"), "worst write {{storage}}", Colour.BAD),
    )


def _moved() -> Any:
    told = Told(
        "Operations",
        "Reads and writes a second of all its volumes whose I/O Ceph counts: subvolumes of CephFS are not among them.",
        Unit.OPERATIONS_PER_SECOND,
    )
    return series(
        told,
        Query(_of("read_operations_per_second"), "reads {{storage}}"),
        Query(_of("write_operations_per_second"), "writes {{storage}}", Colour.USED),
        stacked=True,
    )


def _evenness() -> Any:
    told = Told(
        "Mix and waves",
        "Share of reads; share of requests that kernels merged (sequential from 50 % on, random below 5 %; nothing "
        "where no node tells); how unevenly it writes (standard deviation by mean): waves from 200 % on.",
        Unit.RATIO,
    )
    return series(
        told,
        Query(f"{_BY} ({READ_SHARE}{OF_TENANT})", "reads {{storage}}", Colour.PROMISED),
        Query(f"{_BY} ({MERGED_SHARE}{OF_TENANT})", "merged {{storage}}"),
        Query(_of("write_burstiness_ratio"), "unevenness of writes {{storage}}", Colour.WATCH),
    )


def _disturbed() -> Any:
    told = Told(
        "What disturbs Ceph now",
        "Of the whole cluster, with how far it reaches: an OSD, a host, the cluster. Empty: nothing that is known.",
        Unit.COUNT,
    )
    query = Query(f"{_GOING_ON} (trimtab_storage_disturbance{OF_CLUSTER}) > 0", "")
    return table(told, query, hidden=("cluster", "Value"))


def _of(name: str) -> str:
    return f"{_BY} (trimtab_storage_{name}{OF_TENANT})"

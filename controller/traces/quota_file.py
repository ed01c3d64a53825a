"""Reads who may use how many GPUs: a CSV with a line per tenant, plain or gzip.

Columns, in any order:

    tenant (or vc)               the name, as in the trace
    gpus (or node num, nodes)    its quota in GPUs, or in whole nodes
    guarantee                    how much of the quota may never be moved [default: one node]
    burst, ceiling               GPUs up to which waits count; GPUs never to exceed
    tier, rank                   name of its class of service, and its rank: higher goes first [default: standard, 0]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from controller.api.errors import InputError, Mistake
from controller.files.reading import mistaken
from controller.simulate.shares import GPUS_PER_NODE, Share, share_of
from controller.traces.rows import Rows

_NAMES = ("tenant", "vc")
_NODES = ("node num", "nodes")


def read_quotas(path: Path, gpus_per_node: int = GPUS_PER_NODE) -> tuple[Share, ...]:
    """The tenants in the order of the file. Raises InputError for the first line that can not be understood."""
    rows = Rows.open(path)
    shares: dict[str, Share] = {}
    for number, row in rows:
        share = _share(row, f"{path}:{number}", gpus_per_node)
        if share.tenant in shares:
            raise InputError((Mistake(f"{path}:{number}", share.tenant, "each tenant once"),))
        shares[share.tenant] = share
    if not shares:
        raise mistaken(path, "no tenant", "a line with tenant and gpus for each")
    return tuple(shares.values())


def _share(row: Mapping[str, str], place: str, gpus_per_node: int) -> Share:
    name = next((row[column] for column in _NAMES if row.get(column)), "")
    if not name:
        raise InputError((Mistake(place, "no tenant", "a name in column tenant"),))
    nodes = next((row[column] for column in _NODES if row.get(column)), None)
    quota = _count(row, "gpus", place) if nodes is None else _whole(nodes, "nodes", place) * gpus_per_node
    if quota is None:
        raise InputError((Mistake(place, "no quota", "GPUs in column gpus, or nodes in column nodes"),))
    guarantee = _count(row, "guarantee", place)
    share = share_of(name, quota, gpus_per_node if guarantee is None else guarantee)
    rank = _count(row, "rank", place)
    return replace(
        share,
        burst=_count(row, "burst", place),
        ceiling=_count(row, "ceiling", place),
        tier=row.get("tier") or share.tier,
        rank=share.rank if rank is None else rank,
    )


def _count(row: Mapping[str, str], column: str, place: str) -> int | None:
    text = row.get(column)
    return _whole(text, column, place) if text else None


def _whole(text: str, column: str, place: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError((Mistake(f"{place}: {column}", text, "a whole number from 0 on"),))
    return int(text)

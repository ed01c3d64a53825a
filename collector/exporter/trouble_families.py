"""Gangs that do not get on and GPUs that are not well: as metric families, totals per tenant and pool. Pure.

Every tenant and pool has a sample for each trouble while GPUs are read, so that none is a zero and no gap.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import Metric as Family

from collector.assemble.gang_devices import GpuTroubles
from collector.catalogue.metric import GPU_TROUBLES
from collector.exporter.family import Rows, family
from collector.model.snapshot import Snapshot

_OF_GANGS: Final = ("hung", "suspected", "straggling", "unjudged")
_LASTING: Final = ("hung", "suspected", "straggling")
_Key = tuple[str, str, str]


def trouble_families(troubles: GpuTroubles, snapshot: Snapshot, cluster: str) -> Iterator[Family]:
    """GPUs, gangs and the longest time of each trouble."""
    gpus, gangs, seconds = Counter[_Key](), Counter[_Key](), defaultdict[_Key, float](float)
    told: set[tuple[str, str]] = set()
    for gang in troubles.gangs:
        key = (gang.tenant, gang.pool, gang.kind)
        seconds[key] = max(seconds[key], gang.seconds)
        if (gang.kind, gang.key) not in told:  # several ranks of one gang are one gang
            told.add((gang.kind, gang.key))
            gangs[key] += 1
            gpus[key] += gang.gpus
    for signs in troubles.unjudged:
        gangs[signs.tenant, signs.pool, "unjudged"] += 1
        gpus[signs.tenant, signs.pool, "unjudged"] += signs.gpus
    for device in troubles.devices:
        gpus[device.tenant, device.pool, device.kind] += 1
    pairs = sorted({(item.tenant, item.pool) for item in snapshot.tenants} | {key[:2] for key in (*gpus, *gangs)})

    def rows(values: Counter[_Key] | defaultdict[_Key, float], kinds: tuple[str, ...]) -> Rows:
        return (((cluster, *pair, kind), float(values[*pair, kind])) for pair in pairs for kind in kinds)

    yield family("trimtab_tenant_troubled_gpus", rows(gpus, GPU_TROUBLES))
    yield family("trimtab_tenant_troubled_workloads", rows(gangs, _OF_GANGS))
    yield family("trimtab_tenant_trouble_seconds", rows(seconds, _LASTING))

"""The collector's series about how tenants and volumes use storage, as Prometheus has them now. Asks nobody itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from collector.assemble.storage_advice import StorageUse
from collector.model.reading import Known, Reading, Unknown
from collector.sources.prometheus import VectorSample

_STEM: Final = "trimtab_storage_"
_RATES: Final = {
    f"{way}_{what}_per_second": f"{_STEM}{way}_{what}_per_second"
    for way in ("read", "write")
    for what in ("operations", "bytes")
}
_BURSTINESS: Final = f"{_STEM}write_burstiness_ratio"
_VOLUMES: Final = f"{_STEM}bound_volumes"
_MERGED: Final = "trimtab:tenant_storage_merged_ratio"
USE_SERIES: Final = frozenset((*_RATES.values(), _BURSTINESS, _VOLUMES, _MERGED))
"""What to ask for."""

VOLUME_SERIES: Final = frozenset(name.replace(_STEM, f"{_STEM}volume_") for name in (*_RATES.values(), _BURSTINESS))
_Key = tuple[str, str]


def storage_uses(
    samples: Iterable[VectorSample], slow: Collection[str], age_seconds: float
) -> Mapping[str, tuple[StorageUse, ...]]:
    """Tenant → how it uses each kind of storage. `slow`: tenants whose storage is in trouble. Of two replicas of the
    collector the higher value counts."""
    values: defaultdict[_Key, dict[str, float]] = defaultdict(dict)
    clients: defaultdict[_Key, dict[tuple[str, str], float]] = defaultdict(dict)
    for sample in samples:
        labels = sample.labels
        name, key = labels.get("__name__", ""), (labels.get("tenant", ""), labels.get("storage", ""))
        if name not in USE_SERIES or not all(key):
            continue
        if name == _VOLUMES:
            by = (labels.get("client", ""), labels.get("measured", ""))
            clients[key][by] = max(sample.value, clients[key].get(by, 0.0))
        else:
            values[key][name] = max(sample.value, values[key].get(name, sample.value))
    found: defaultdict[str, list[StorageUse]] = defaultdict(list)
    for key in sorted(values.keys() | clients.keys()):
        tenant, storage = key
        known = _Readings(values[key], age_seconds)
        found[tenant].append(
            StorageUse(
                tenant=tenant,
                storage=storage,
                read_operations_per_second=known(_RATES["read_operations_per_second"]),
                write_operations_per_second=known(_RATES["write_operations_per_second"]),
                read_bytes_per_second=known(_RATES["read_bytes_per_second"]),
                write_bytes_per_second=known(_RATES["write_bytes_per_second"]),
                write_burstiness=known(_BURSTINESS),
                merged_ratio=known(_MERGED, StorageUse(tenant).merged_ratio),
                clients=_by_client(clients[key]),
                unmeasured=sum(count for (_, measured), count in clients[key].items() if measured == "no"),
                slow=tenant in slow,
            )
        )
    return {tenant: tuple(uses) for tenant, uses in found.items()}


def volume_uses(samples: Iterable[VectorSample]) -> Mapping[tuple[str, str], StorageUse]:
    """(namespace, claim) → how it is used, of the volumes that move most: the others have no series."""
    values: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for sample in samples:
        labels = sample.labels
        key = (labels.get("namespace", ""), labels.get("persistentvolumeclaim", ""))
        name = labels.get("__name__", "")
        if name in VOLUME_SERIES and all(key):
            values[key][name] = max(sample.value, values[key].get(name, sample.value))
    found: dict[tuple[str, str], StorageUse] = {}
    for key, own in values.items():
        known = _Readings({name.replace("_volume_", "_"): value for name, value in own.items()}, 0.0)
        found[key] = StorageUse(
            tenant="",
            read_operations_per_second=known(_RATES["read_operations_per_second"]),
            write_operations_per_second=known(_RATES["write_operations_per_second"]),
            read_bytes_per_second=known(_RATES["read_bytes_per_second"]),
            write_bytes_per_second=known(_RATES["write_bytes_per_second"]),
            write_burstiness=known(_BURSTINESS),
        )
    return found


def _by_client(counts: Mapping[tuple[str, str], float]) -> Mapping[str, float]:
    by_client: defaultdict[str, float] = defaultdict(float)
    for (client, _), count in counts.items():
        by_client[client] += count
    return by_client


class _Readings:
    """Values by name, as readings of one age."""

    def __init__(self, values: Mapping[str, float], age_seconds: float) -> None:
        self._values, self._age_seconds = values, age_seconds

    def __call__(self, name: str, otherwise: Reading[float] = Unknown("Ceph counts nothing of it")) -> Reading[float]:
        value = self._values.get(name)
        return otherwise if value is None else Known(value, self._age_seconds)

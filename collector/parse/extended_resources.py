"""Counts of extended resources (GPUs and other devices) in Kubernetes JSON. Pure.

Extended resources are those with a domain of their own, such as nvidia.com/gpu; cpu, memory, hugepages and
everything of kubernetes.io are not. They are counted in whole devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from collector.model.quantities import parse_quantity, whole_gpus
from collector.parse.json_fields import JsonObject, ParseProblem, items, section

_NONE: Final[Mapping[str, int]] = {}
_MOST_DEVICES: Final = 10**15
"""Some device plugins count bandwidth or bytes; beyond this a number is a mistake, and slow to compute with."""


@lru_cache(maxsize=1024)
def is_extended(name: str) -> bool:
    """Whether a resource name belongs to a device plugin rather than to Kubernetes itself."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def device_count(quantity: object, path: str) -> int:
    """A quantity of devices ("8", 8, "1k") as a whole number. Raises ParseProblem."""
    if isinstance(quantity, str | int | float) and not isinstance(quantity, bool):
        try:
            return _whole(quantity)
        except (ValueError, ArithmeticError):
            pass
    raise ParseProblem(path, quantity, "a whole number of devices")


def device_counts(quantities: JsonObject, path: str) -> dict[str, int]:
    """Only the extended resources of a resource list, zero counts included. Raises ParseProblem."""
    return {
        name: device_count(quantity, f"{path}.{name}") for name, quantity in quantities.items() if is_extended(name)
    }


def pod_devices(spec: JsonObject, path: str = "spec") -> Mapping[str, int]:
    """What the scheduler reserves for a pod: resource → devices, without zeros. Raises ParseProblem.

    Containers add up. Init containers run one after the other, so the largest counts; those that keep running
    (restartPolicy Always) add to all that starts after them.
    """
    running: dict[str, int] = {}
    for container in items(spec, "containers", path):
        _add(running, _container_devices(container, path))
    peak: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    for container in items(spec, "initContainers", path):
        wanted = _container_devices(container, path)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, wanted)
            wanted = _NONE
        for name in {*wanted, *sidecars}:
            peak[name] = max(peak.get(name, 0), wanted.get(name, 0) + sidecars.get(name, 0))
    _add(running, sidecars)
    for name, count in peak.items():
        running[name] = max(running.get(name, 0), count)
    return _shared(tuple(sorted((name, count) for name, count in running.items() if count)))


def _container_devices(container: JsonObject, path: str) -> Mapping[str, int]:
    resources = section(container, "resources", path)
    if not resources:
        return _NONE
    # The API server copies limits to requests in pods, but not in pod templates.
    limits = section(resources, "limits", path)
    return device_counts({**limits, **section(resources, "requests", path)}, f"{path}…resources")


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        total[name] = total.get(name, 0) + count


@lru_cache(maxsize=4096)
def _whole(quantity: str | int | float) -> int:
    if parse_quantity(quantity) > _MOST_DEVICES:
        raise ValueError(f"{quantity!r} is no count of devices")
    return whole_gpus(quantity)


@lru_cache(maxsize=4096)
def _shared(counts: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    """One mapping for all pods with equal counts: tens of thousands of them ask for the same thing."""
    return dict(counts)

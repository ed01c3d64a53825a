"""Where every GPU stands right now, so that the columns of a pool add up to all it has. Pure.

A GPU counts once: sick before anything else, then by who holds it and whether it computes, then by whether a pod could
take it. What cannot be judged is unknown, with the reason; it is never called idle or free by default.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from collector.assemble.capacity import pool_nodes
from collector.assemble.gpu import IDLE_BELOW_RATIO
from collector.assemble.infer_pools import is_gpu
from collector.catalogue.error_codes import HARDWARE_XIDS
from collector.model.accelerator import GpuReading
from collector.model.objects import Picture, Pod
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import NodeState, Work
from collector.model.tenancy import Engine, Pool, Site

_MIG_PREFIX: Final = "nvidia.com/mig-"


@dataclass(frozen=True, slots=True)
class Devices:
    """What exporters say of every GPU: activity is the highest of the last `window_seconds`."""

    readings: Reading[tuple[GpuReading, ...]] = Unknown("no Prometheus was asked")
    window_seconds: float = 600.0
    latest: tuple[GpuReading, ...] = ()
    """Each device as it was last read; of one look alone: what speaks most against a hang within the window."""
    traffic: Mapping[str, Reading[float]] = field(default_factory=dict)
    """Node → bytes a second on its RDMA adapters, where they are read."""

    @property
    def missing(self) -> str:
        """Why there are no readings; "" when there are."""
        return self.readings.reason if isinstance(self.readings, Unknown) else ""


@dataclass(frozen=True, slots=True)
class SickDevice:
    """A device that must be looked at, and who holds it."""

    node: str
    index: str
    uuid: str
    model: str
    xid: int | None
    """The error code that says so; None where the exporter judges without one."""
    holders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeldGpus:
    """GPUs of one pod: they add up to `gpus`."""

    pod: Pod
    gpus: int
    active: int = 0
    """Computing, or held for less than the window."""
    idle: int = 0
    sick: int = 0

    @property
    def unknown(self) -> int:
        """Held, and nobody can tell whether they compute."""
        return self.gpus - self.active - self.idle - self.sick


@dataclass(frozen=True, slots=True)
class Stranded:
    """Free GPUs that no ordinary pod can take, for one reason, on these nodes."""

    reason: str
    gpus: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PoolLedger:
    """All GPUs of a pool by where they stand; `pool` is "" for those that no pool covers."""

    pool: str
    resource: str
    total: int = 0
    active: int = 0
    idle_held: int = 0
    free: int = 0
    stranded: int = 0
    sick: int = 0
    unknown: int = 0
    stranded_on: tuple[Stranded, ...] = ()
    """They add up to `stranded`; most GPUs first."""
    unknown_why: str = ""
    pod_size: int = 1
    """GPUs per pod that most of the pool's work asks for."""
    holders: tuple[HeldGpus, ...] = ()
    not_seen: frozenset[str] = frozenset()
    """Kinds of objects that could not be read. Without pods only `total` means anything, without nodes nothing does."""

    @property
    def held(self) -> int:
        """Allocated to a pod, healthy or not known to be sick."""
        return self.active + self.idle_held + self.unknown


def gpu_ledger(
    picture: Picture, site: Site, works: Iterable[Work], devices: Devices, now: float
) -> tuple[PoolLedger, ...]:
    """One ledger per pool in the site's order, then one per resource of nodes that stand in no pool."""
    sizes = _pod_sizes(works)
    seen: set[tuple[str, str]] = set()
    found: list[PoolLedger] = []
    outside = sorted({name for node in picture.nodes.values() for name in node.allocatable if is_gpu(name)})
    pools = [*site.pools, *(Pool("", resource, {}, Engine.NATIVE) for resource in outside)]
    judge = _Judge(picture, devices, now)
    for pool in pools:
        nodes = [node for node in pool_nodes(picture, pool) if (pool.resource, node.name) not in seen]
        seen.update((pool.resource, node.name) for node in nodes)
        if nodes or pool.name:
            found.append(judge.ledger(pool, nodes, sizes.get(pool.name, 1)))
    return tuple(found)


def total_of(ledgers: Iterable[PoolLedger]) -> PoolLedger:
    """The sum of several ledgers, without reasons and holders."""
    total = PoolLedger("all", "")
    for one in ledgers:
        total = replace(
            total,
            total=total.total + one.total,
            active=total.active + one.active,
            idle_held=total.idle_held + one.idle_held,
            free=total.free + one.free,
            stranded=total.stranded + one.stranded,
            sick=total.sick + one.sick,
            unknown=total.unknown + one.unknown,
            not_seen=total.not_seen | one.not_seen,
        )
    return total


def sick_devices(devices: Devices) -> tuple[SickDevice, ...]:
    """Devices that an error code or their exporter calls broken, in order of node and index."""
    if isinstance(devices.readings, Unknown):
        return ()
    return tuple(
        SickDevice(
            node=reading.node,
            index=reading.index,
            uuid=reading.uuid,
            model=reading.model,
            xid=_hardware_code(reading),
            holders=tuple(f"{holder.namespace}/{holder.pod}" for holder in reading.holders),
        )
        for reading in devices.readings.value
        if _is_sick(reading)
    )


def _is_sick(reading: GpuReading) -> bool:
    judged = isinstance(reading.health, Known) and reading.health.value == 0
    return judged or _hardware_code(reading) is not None


def _hardware_code(reading: GpuReading) -> int | None:
    last = reading.last_xid_code
    return last.value if isinstance(last, Known) and last.value in HARDWARE_XIDS else None


def _pod_sizes(works: Iterable[Work]) -> Mapping[str, int]:
    """Pool → GPUs per pod of the middle GPU, when all that run or wait are put in a row by their pod's size."""
    asked: dict[str, Counter[int]] = defaultdict(Counter)
    for work in works:
        if work.pool is not None and work.ineligible is None:
            asked[work.pool][max(1, work.gpus_per_pod)] += work.gpus
    sizes: dict[str, int] = {}
    for pool, counts in asked.items():
        passed = 0
        for size in sorted(counts):
            passed += counts[size]
            if 2 * passed >= sum(counts.values()):
                sizes[pool] = size
                break
    return sizes


class _Judge:
    """Everything that the ledgers of all pools look things up in."""

    def __init__(self, picture: Picture, devices: Devices, now: float) -> None:
        self._devices, self._now = devices, now
        self._not_seen = frozenset({"nodes", "pods"} & picture.unreadable.keys())
        self._pods: dict[tuple[str, str], list[Pod]] = defaultdict(list)
        node_of: dict[tuple[str, str], str] = {}
        for pod in sorted(picture.pods.values(), key=lambda item: (item.namespace, item.name, item.uid)):
            if pod.holds_gpus and pod.node is not None:
                node_of[pod.namespace, pod.name] = pod.node
                for resource, count in pod.gpus.items():
                    if count > 0:
                        self._pods[pod.node, resource].append(pod)
        self._of_node: dict[str, list[GpuReading]] = defaultdict(list)
        self._of_pod: dict[tuple[str, str], list[GpuReading]] = defaultdict(list)
        for reading in () if isinstance(devices.readings, Unknown) else devices.readings.value:
            for holder in reading.holders:
                self._of_pod[holder.namespace, holder.pod].append(reading)
            # Some exporters name their own pod as the host; who holds the device then tells where it is.
            places = [node_of.get((holder.namespace, holder.pod)) for holder in reading.holders]
            place = reading.node if reading.node in picture.nodes else next(filter(None, places), reading.node)
            self._of_node[place].append(reading)

    def ledger(self, pool: Pool, nodes: Sequence[NodeState], pod_size: int) -> PoolLedger:
        """The ledger of these nodes."""
        total = free = sick = 0
        stranded: dict[str, dict[str, int]] = defaultdict(dict)
        holders: list[HeldGpus] = []
        for node in nodes:
            held = self._held_on(node, pool.resource)
            hidden, broken = self._broken_and_free(node, pool.resource)
            left = max(0, node.gpus - sum(item.gpus for item in held) - broken)
            usable = 0 if node.unusable else left // pod_size * pod_size
            if left > usable:
                stranded[node.unusable or f"in fragments smaller than {pod_size}"][node.name] = left - usable
            total, free, sick = total + node.gpus + hidden, free + usable, sick + hidden + broken
            holders.extend(held)
        unknown = sum(item.unknown for item in holders)
        return PoolLedger(
            pool=pool.name,
            resource=pool.resource,
            total=total,
            active=sum(item.active for item in holders),
            idle_held=sum(item.idle for item in holders),
            free=free,
            stranded=sum(sum(nodes.values()) for nodes in stranded.values()),
            sick=sick + sum(item.sick for item in holders),
            unknown=unknown,
            stranded_on=_stranded(stranded),
            unknown_why=self._why_unknown() if unknown else "",
            pod_size=pod_size,
            holders=tuple(holders),
            not_seen=self._not_seen,
        )

    def _why_unknown(self) -> str:
        return self._devices.missing or "no reading of a device of its own names the pod"

    def _held_on(self, node: NodeState, resource: str) -> list[HeldGpus]:
        """What pods hold there. Counts that exceed the node (its plugin withdrew devices) are cut to what it has."""
        held: list[HeldGpus] = []
        left = node.gpus
        for pod in self._pods[node.name, resource]:
            item = self._judged(pod, min(left, pod.gpus[resource]), resource)
            left -= item.gpus
            held.append(item)
        return held

    def _judged(self, pod: Pod, gpus: int, resource: str) -> HeldGpus:
        counts: Counter[str] = Counter()
        readings = [one for one in self._of_pod[pod.namespace, pod.name] if _counts_as(one, resource)]
        for reading in readings[:gpus]:
            counts[self._state(reading, pod)] += 1
        return HeldGpus(pod, gpus, counts["active"], counts["idle"], counts["sick"])

    def _state(self, reading: GpuReading, pod: Pod) -> str:
        if _is_sick(reading):
            return "sick"
        activity = reading.activity_ratio
        if isinstance(activity, Unknown):
            activity = reading.utilization_ratio
        if isinstance(activity, Unknown) or reading.attribution not in ("exclusive", "slice"):
            return "unknown"
        since = pod.ready_at if pod.ready_at is not None else pod.created_at
        young = self._now - since < self._devices.window_seconds
        return "active" if young or activity.value >= IDLE_BELOW_RATIO else "idle"

    def _broken_and_free(self, node: NodeState, resource: str) -> tuple[int, int]:
        """Sick devices that nobody holds: those the node no longer offers, and those it still does."""
        readings = [one for one in self._of_node[node.name] if _counts_as(one, resource)]
        broken = sum(1 for one in readings if _is_sick(one) and not one.holders)
        hidden = min(broken, max(0, len(readings) - node.gpus))
        held = sum(pod.gpus[resource] for pod in self._pods[node.name, resource])
        return hidden, min(broken - hidden, max(0, node.gpus - held))


def _stranded(found: Mapping[str, Mapping[str, int]]) -> tuple[Stranded, ...]:
    reasons = [Stranded(reason, sum(nodes.values()), tuple(nodes)) for reason, nodes in found.items()]
    return tuple(sorted(reasons, key=lambda item: (-item.gpus, item.reason)))


def _counts_as(reading: GpuReading, resource: str) -> bool:
    """Whether the device is one of `resource`: a slice of that profile, or a whole GPU."""
    if resource.startswith(_MIG_PREFIX):
        return reading.mig is not None and reading.mig.profile == resource.removeprefix(_MIG_PREFIX)
    return reading.mig is None and not reading.partitioned

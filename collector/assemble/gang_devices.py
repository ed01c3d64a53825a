"""Live readings of GPUs and adapters, joined to the gangs that hold them: hung, straggling, on sick GPUs. Pure.

What is said of a gang needs all of its GPUs, except that one sign of life is enough to be alive. A device that several
pods share, and the adapters of a node that several gangs use, say nothing of one gang.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from collector.assemble.gang_signs import (
    COMPUTES_FROM_RATIO,
    LOW_POWER_RATIO,
    MEMORY_WORKS_FROM_RATIO,
    SILENT_BYTES_PER_SECOND,
    SPINS_FROM_RATIO,
    GangMemory,
    GangSigns,
    GangTrouble,
    Straggler,
)
from collector.assemble.gpu_ledger import Devices
from collector.catalogue.board_power import board_watts
from collector.catalogue.error_codes import HARDWARE_XIDS
from collector.model.accelerator import LOST, GpuReading
from collector.model.reading import Known, Reading, Unknown, mapped
from collector.model.snapshot import Snapshot, Work, WorkPhase
from collector.model.tenancy import UNASSIGNED

THROTTLED_FROM_RATIO: Final = 0.1
"""A GPU that heat or a brake holds back for a tenth of its time is slower than its gang."""
LEAST_RANKS: Final = 4
"""Of fewer nobody can tell who is far from the others."""
SLOW_CLOCK_RATIO: Final = 0.85
FAR_ACTIVITY: Final = 0.25
FAR_NETWORK_RATIO: Final = 0.5
_WORKS_FROM_RATIO: Final = 0.5
"""Clocks and activity of a gang are compared while it is busy."""
_MOST_OUTLIERS: Final = 4
"""One rank in so many may be far; more are the gang's own way to work (stages of a pipeline)."""

DeviceTroubleKind = Literal["sick", "lost", "throttled"]


@dataclass(frozen=True, slots=True)
class DeviceTrouble:
    """A GPU that a tenant's pod holds and that is not well."""

    kind: DeviceTroubleKind
    node: str
    index: str
    tenant: str
    pool: str
    holder: str
    sentence: str


@dataclass(frozen=True, slots=True)
class GpuTroubles:
    """Everything that is wrong with gangs and the GPUs that they hold, at one moment."""

    gangs: tuple[GangTrouble, ...] = ()
    unjudged: tuple[GangSigns, ...] = ()
    """Gangs of which nobody can tell whether they hang."""
    devices: tuple[DeviceTrouble, ...] = ()


def gang_signs(snapshot: Snapshot, devices: Devices) -> Iterator[GangSigns]:
    """One look at every running gang of two GPUs and more."""
    of_pod: dict[tuple[str, str], list[GpuReading]] = defaultdict(list)
    for reading in devices.latest:
        if reading.attribution in ("exclusive", "slice"):
            of_pod[reading.holders[0].namespace, reading.holders[0].pod].append(reading)
    held_on: dict[str, int] = defaultdict(int)
    for state in snapshot.pools.values():
        for node in state.nodes:
            held_on[node.name] += node.held
    for work in snapshot.works:
        if work.phase is WorkPhase.RUNNING and work.gpus > 1 and work.runs_in is None:
            own = [one for pod in work.pod_names for one in of_pod[work.namespace, pod]]
            exchanged = {node: _own_traffic(work, node, held_on, devices.traffic) for node in work.nodes}
            yield _signs(work, own, exchanged)


def troubles_of_window(snapshot: Snapshot, devices: Devices) -> GpuTroubles:
    """What one look at a whole window tells, without a memory: `devices.latest` speaks for all of the window."""
    window = devices.window_seconds
    memory = GangMemory(math.inf, suspected_after_seconds=window, hung_after_seconds=window)
    looks, now = tuple(gang_signs(snapshot, devices)), snapshot.taken_at
    memory = memory.advance(looks, now - window).advance(looks, now)
    return GpuTroubles(tuple(memory.troubles(now)), memory.unjudged, tuple(device_troubles(snapshot, devices)))


def device_troubles(snapshot: Snapshot, devices: Devices) -> Iterator[DeviceTrouble]:
    """Every held GPU that reports a hardware error, has vanished or is held back by heat or a brake."""
    pools = {node.name: name for name, state in snapshot.pools.items() for node in state.nodes}
    pod_pools = {(work.namespace, pod): work.pool or "" for work in snapshot.works for pod in work.pod_names}
    for reading in devices.latest:
        found = _device_trouble(reading)
        if found is None or reading.mig is not None:  # a slice repeats what its GPU says
            continue
        for holder in dict.fromkeys((one.namespace, one.pod) for one in reading.holders):
            tenant = snapshot.namespace_tenants.get(holder[0], UNASSIGNED)
            pool = pod_pools.get(holder) or pools.get(reading.node, "")
            name = f"{holder[0]}/{holder[1]}"
            sentence = f"GPU {reading.index or reading.uuid} of node {reading.node} {found[1]}, and {name} holds it"
            yield DeviceTrouble(found[0], reading.node, reading.index, tenant, pool, name, sentence)


def _device_trouble(reading: GpuReading) -> tuple[DeviceTroubleKind, str] | None:
    xid, health, throttle = reading.last_xid_code, reading.health, reading.throttle_ratio
    if reading.activity_ratio == Unknown(LOST):
        return "lost", "has vanished from its exporter"
    if isinstance(xid, Known) and xid.value in HARDWARE_XIDS:
        return "sick", f"reports error {xid.value}"
    if isinstance(health, Known) and health.value == 0:
        return "sick", "is called unhealthy by its exporter"
    if isinstance(throttle, Known) and throttle.value >= THROTTLED_FROM_RATIO:
        return "throttled", f"is held back by heat or a brake for {throttle.value:.0%} of its time"
    return None


def _signs(work: Work, own: Sequence[GpuReading], exchanged: Mapping[str, Reading[float]]) -> GangSigns:
    missing = work.gpus - len(own)
    lacking = f"readings of {max(0, len(own))} of its {work.gpus} GPUs" if missing > 0 else ""

    def highest(of: Callable[[GpuReading], Reading[float]], alive_from: float) -> Reading[float]:
        return _extreme([of(one) for one in own], max, lambda value: value >= alive_from, lacking)

    return GangSigns(
        key=work.uid,
        title=work.title,
        tenant=work.tenant,
        gpus=work.gpus,
        utilization_ratio=_extreme(
            [one.utilization_ratio for one in own], min, lambda value: value <= SPINS_FROM_RATIO, lacking
        ),
        tensor_active_ratio=highest(lambda one: one.tensor_active_ratio, COMPUTES_FROM_RATIO),
        power_ratio=highest(power_ratio, LOW_POWER_RATIO),
        network_bytes_per_second=_extreme(
            list(exchanged.values()), max, lambda value: value >= SILENT_BYTES_PER_SECOND, ""
        ),
        memory_active_ratio=highest(lambda one: one.memory_active_ratio, MEMORY_WORKS_FROM_RATIO),
        pool=work.pool or "",
        stragglers=tuple(stragglers(own, exchanged)) if not lacking else (),
    )


def power_ratio(reading: GpuReading) -> Reading[float]:
    """Power by its limit: as told, else as the board is sold."""
    limit = reading.power_limit_watts.value if isinstance(reading.power_limit_watts, Known) else None
    watts = limit or board_watts(reading.model)
    if watts is None:
        return Unknown(f"the power limit of {reading.model or 'the GPU'} is not known")
    return mapped(reading.power_watts, lambda drawn: drawn / watts)


def _extreme(
    values: Sequence[Reading[float]],
    pick: Callable[[Iterable[float]], float],
    alive: Callable[[float], bool],
    lacking: str,
) -> Reading[float]:
    """The lowest or highest of all. Where some are not known, only one that shows life is enough."""
    known = [one for one in values if isinstance(one, Known)]
    unknown = next((one.reason for one in values if isinstance(one, Unknown)), lacking)
    if not known:
        return Unknown(unknown or "nothing is read of it")
    value = pick(one.value for one in known)
    if unknown and not alive(value):
        return Unknown(unknown)
    return Known(value, max(one.age_seconds for one in known))


def _own_traffic(
    work: Work, node: str, held_on: Mapping[str, int], traffic: Mapping[str, Reading[float]]
) -> Reading[float]:
    """What the gang exchanges there: at most what all of the node's adapters do."""
    told = traffic.get(node, Unknown(f"no adapter of node {node} is read"))
    shared = held_on.get(node, 0) > work.nodes[node]
    if isinstance(told, Known) and told.value >= SILENT_BYTES_PER_SECOND and shared:
        return Unknown(f"other work on node {node} uses its adapters too")
    return told


def stragglers(own: Sequence[GpuReading], exchanged: Mapping[str, Reading[float]]) -> Iterator[Straggler]:
    """Ranks that are far from their own gang. None while it is not busy, or while a rank is not known."""
    names = {f"GPU {one.index or one.uuid} of node {one.node}": one for one in own}
    busy = _all_known({name: one.utilization_ratio for name, one in names.items()})
    if busy and median(busy.values()) >= _WORKS_FROM_RATIO:
        clocks = _all_known({name: one.clock_hertz for name, one in names.items()})
        for rank, value, usual in _outliers(clocks, lambda value, usual: value < SLOW_CLOCK_RATIO * usual):
            words = f"{rank} runs at {value / 1e6:.0f} MHz, the others at {usual / 1e6:.0f}"
            yield Straggler(f"{rank} clock", words, sick=True)
        work = _all_known({name: _activity(one) for name, one in names.items()})
        for rank, value, usual in _outliers(work, lambda value, usual: abs(value - usual) > FAR_ACTIVITY):
            words = f"{rank} computes for {value:.0%} of its time, the others for {usual:.0%}"
            yield Straggler(f"{rank} activity", words)
    bytes_per_second = _all_known(exchanged)
    for node, value, usual in _outliers(bytes_per_second, _far_network):
        words = f"node {node} exchanges {value / 1e6:.0f} MB a second, the others {usual / 1e6:.0f}"
        yield Straggler(f"node {node} network", words)


def _activity(reading: GpuReading) -> Reading[float]:
    tensor = reading.tensor_active_ratio
    return tensor if isinstance(tensor, Known) else reading.activity_ratio


def _far_network(value: float, usual: float) -> bool:
    return usual >= SILENT_BYTES_PER_SECOND and value < FAR_NETWORK_RATIO * usual


def _all_known(values: Mapping[str, Reading[float]]) -> Mapping[str, float]:
    """Nothing where one is not known: it might be the one, or not be far at all."""
    known = {name: one.value for name, one in values.items() if isinstance(one, Known)}
    return known if len(known) == len(values) else {}


def _outliers(values: Mapping[str, float], far: Callable[[float, float], bool]) -> Iterator[tuple[str, float, float]]:
    """(rank, its value, the gang's median) of few."""
    if len(values) < LEAST_RANKS:
        return
    usual = median(values.values())
    found = [(name, value, usual) for name, value in values.items() if far(value, usual)]
    if len(found) <= max(1, len(values) // _MOST_OUTLIERS):
        yield from found

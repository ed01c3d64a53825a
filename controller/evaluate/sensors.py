"""A sensor model: what Prometheus would tell of a simulated cluster, late, trembling and with gaps. Judged as live.

Readings are 15 to 30 seconds old, one scrape in twenty is lost, and what was read last stands until it is too old.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from collector.assemble.fabric import FabricMemory, agreed_slow, edge_verdicts, slow_edges_sentence
from collector.assemble.gang_signs import GangMemory, GangSigns, HeldDevice, sick_devices
from collector.assemble.osd_blame import OsdFacts
from collector.assemble.storage import limit_seconds
from collector.assemble.storage_trouble import VolumeFacts, storage_trouble
from collector.model.fabric import QUANTILES, Edge, EdgeProbe
from collector.model.reading import Known
from collector.model.snapshot import Evidence, OtherCause, OtherKind, Snapshot
from collector.model.tenancy import Site
from controller.simulate.chance import Chance
from controller.simulate.cluster import Cluster
from controller.simulate.faults import Fault, NetworkNoise, SickGpu, StorageFault
from controller.simulate.gang import Gang, GangPhase

LOST_RATIO: Final = 0.05
STALE_SECONDS: Final = 90.0
_OSDS: Final = 6
_PROBE_EVERY_SECONDS: Final = 60.0
_BUSY_HOST_RATIO: Final = 0.02
_PROGRAM_ERROR_XID: Final = 31
_PROGRAM_ERROR_RATIO: Final = 0.01
_KINDS: Final = {
    "ceph": OtherKind.CEPH,
    "rdma": OtherKind.RDMA,
    "gpu": OtherKind.GPU_HEALTH,
    "gangs": OtherKind.WORKLOAD,
}
_STANDS_BELOW_SPEED: Final = 0.01
"""A hung gang, for the simulator."""

Causes: TypeAlias = Mapping[str, tuple[OtherCause, ...]]
"""Tenant → what keeps its work slow."""


@dataclass(slots=True)
class SensorModel:
    """All sensors of a cluster. `site` says what tenants were promised. Called as `Sensors`."""

    cluster: Cluster
    site: Site
    chance: Chance
    _faults: list[tuple[float, Fault]] = field(default_factory=list)
    """Since when, and which."""
    _fabric: FabricMemory = field(default_factory=lambda: FabricMemory(3 * _PROBE_EVERY_SECONDS + 40.0))
    _gangs: GangMemory = field(default_factory=GangMemory)
    _maybe_slow: dict[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    _last: dict[str, tuple[float, Causes]] = field(default_factory=dict)
    """Source → when it was read last, and what that told."""

    def begin(self, fault: Fault) -> None:
        """The fault is there from now on: on the cluster at once, in the readings as they come."""
        self._faults.append((self.cluster.now, fault))
        self.cluster.begin_fault(fault)

    def __call__(self, last: Snapshot | None, now: float) -> Evidence:
        """What is known at `now`."""
        read_at = now - self.chance.between(15.0, 30.0)
        self._probe(read_at)
        sources: dict[str, Callable[[float], Causes]] = {
            "ceph": self._ceph,
            "rdma": lambda at: self._rdma(last, at),
            "gpu": self._gpu_health,
            "gangs": self._hung,
        }
        for name, read in sources.items():
            causes = read(read_at)
            if self.chance.uniform() >= LOST_RATIO:
                self._last[name] = (read_at, causes)
        fresh = [causes for at, causes in self._last.values() if now - at <= STALE_SECONDS]
        stale = {name for name in sources if name not in self._last or now - self._last[name][0] > STALE_SECONDS}
        return Evidence(
            other_causes=_merged(fresh),
            suspected=_merged([self._gangs.suspected(read_at), self._maybe_slow]),
            not_ruled_out={kind: "it was not read lately" for name, kind in _KINDS.items() if name in stale},
        )

    def _active(self, at: float) -> list[Fault]:
        return [fault for since, fault in self._faults if since <= at]

    def _about(self, value: float, swing: float = 0.2) -> float:
        return value * self.chance.between(1 - swing, 1 + swing)

    def _ceph(self, at: float) -> Causes:
        """A slow disk under one tenant's images: its OSD commits late, its volumes wait, those of others do not."""
        slow = {fault.tenant for fault in self._active(at) if isinstance(fault, StorageFault)}
        osds = [
            OsdFacts(f"osd.{number}", Known(self._about(0.9 if slow and number == 1 else 0.01)))
            for number in range(_OSDS)
        ]
        found: dict[str, tuple[OtherCause, ...]] = {}
        for tenant in self.site.tenants:
            limit = limit_seconds(tenant)
            if limit is None:
                continue  # it keeps nothing there
            waits = self._about(0.6 if tenant.name in slow else 0.012)
            facts = VolumeFacts(tenant.name, limit, Known(waits / 2), Known(waits), Known(value=False))
            trouble = storage_trouble(facts, osds)
            if trouble is not None:
                found[tenant.name] = (OtherCause(OtherKind.CEPH, trouble.sentence),)
        return found

    def _probe(self, at: float) -> None:
        """One probe of each edge; now and then a busy host makes one slow, which is no slow network."""
        noisy = any(isinstance(fault, NetworkNoise) for fault in self._active(at))
        names = self.cluster.spec.node_names()
        for source, destination in zip(names, (*names[1:], names[0]), strict=True):
            factor = 8.0 if noisy else 6.0 if self.chance.uniform() < _BUSY_HOST_RATIO else 1.0
            latencies = {quantile: Known(self._about(5e-6 * (1 + quantile) * factor)) for quantile in QUANTILES}
            self._fabric = self._fabric.advance(Edge(source, destination), EdgeProbe(at, latencies))

    def _rdma(self, last: Snapshot | None, at: float) -> Causes:
        used: dict[tuple[str, str], dict[Edge, float]] = defaultdict(dict)
        for verdict in edge_verdicts(self._fabric, last, at) if last is not None else ():
            if isinstance(verdict.ratio, Known):
                used[verdict.tenant, verdict.objective][verdict.edge] = verdict.ratio.value
        self._maybe_slow, known = {}, dict[str, tuple[OtherCause, ...]]()
        for (tenant, objective), ratios in used.items():
            missed = {edge: ratio for edge, ratio in ratios.items() if ratio > 1}
            if missed:
                told = known if agreed_slow(len(missed), len(ratios)) else self._maybe_slow
                told[tenant] = (OtherCause(OtherKind.RDMA, slow_edges_sentence(objective, missed)),)
        return known

    def _gpu_health(self, at: float) -> Causes:
        """Error codes of all held GPUs; programs make some of their own now and then, which say nothing of the GPU."""
        sick = {(fault.node, fault.index): fault.xid for fault in self._active(at) if isinstance(fault, SickGpu)}
        return sick_devices(self._held(sick))

    def _held(self, sick: Mapping[tuple[str, int], int]) -> Iterator[HeldDevice]:
        holders = self.cluster.holders()
        for node, slots in self.cluster.nodes.slots.items():
            for index, pod in enumerate(slots):
                if pod is not None:
                    own = _PROGRAM_ERROR_XID if self.chance.uniform() < _PROGRAM_ERROR_RATIO else 0
                    tenant = holders[pod].spec.tenant
                    yield HeldDevice(node, index, tenant, pod, Known(sick.get((node, index), own)))

    def _hung(self, at: float) -> Causes:
        running = self.cluster.of_phase(GangPhase.RUNNING)
        self._gangs = self._gangs.advance([self._signs(gang) for gang in running], at)
        return self._gangs.hung(at)

    def _signs(self, gang: Gang) -> GangSigns:
        """A gang that waits for storage is idle; one that waits for its slowest rank or network spins, and computes."""
        hung = gang.speed < _STANDS_BELOW_SPEED
        waits_for_data = any(
            isinstance(fault, StorageFault) and fault.tenant == gang.spec.tenant for _, fault in self._faults
        )
        busy = gang.speed if waits_for_data else 1.0
        talks = 0.0 if gang.spec.pods == 1 else 2e10 * gang.speed
        return GangSigns(
            key=gang.uid,
            title=f"{gang.spec.tenant}/{gang.spec.name}",
            tenant=gang.spec.tenant,
            gpus=gang.spec.gpus,
            utilization_ratio=Known(min(1.0, self._about(0.99 * busy, 0.01))),
            tensor_active_ratio=Known(0.0 if hung else self._about(0.45 * gang.speed)),
            power_ratio=Known(self._about(0.3 if hung else 0.3 + 0.5 * gang.speed, 0.1)),
            network_bytes_per_second=Known(self._about(1e4 if hung else max(1e4, talks))),
        )


def _merged(parts: Iterable[Causes]) -> Causes:
    found: dict[str, tuple[OtherCause, ...]] = {}
    for part in parts:
        for tenant, causes in part.items():
            found[tenant] = (*found.get(tenant, ()), *causes)
    return found

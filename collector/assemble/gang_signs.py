"""What the GPUs and adapters of a gang show over a while: hung work, stragglers, and sick GPUs that work holds. Pure.

A hung gang seems busy: a collective that waits spins at full utilisation, while its tensor cores, its power and its
network say that nothing is computed. Each sign alone has an innocent reason, so all that are known must agree, the two
that tell most must be known, and it must last. A straggler is one rank that differs from its own gang for as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

from collector.catalogue.error_codes import HARDWARE_XIDS
from collector.model.quantities import counted, format_duration
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import OtherCause, OtherKind

SPINS_FROM_RATIO: Final = 0.95
"""Utilisation of every GPU of a gang that spins."""
COMPUTES_FROM_RATIO: Final = 0.01
"""Tensor activity from here on is work, however slow."""
MEMORY_WORKS_FROM_RATIO: Final = 0.05
"""So is traffic of the GPU's memory: work without matrices has some, a collective that waits has none."""
LOW_POWER_RATIO: Final = 0.5
"""Share of its power limit that a GPU stays below while it only spins."""
SILENT_BYTES_PER_SECOND: Final = 1e6
"""Fewer than this on a gang's adapters is no exchange of gradients: heartbeats, logs."""
SUSPECTED_AFTER_SECONDS: Final = 120.0
HUNG_AFTER_SECONDS: Final = 600.0

GangTroubleKind = Literal["hung", "suspected", "straggling"]


@dataclass(frozen=True, slots=True)
class Straggler:
    """One rank that is far from its own gang."""

    rank: str
    """GPU or node, as people name it."""
    sentence: str
    """What is far from what, without the name of the gang."""
    sick: bool = False
    """The device itself holds it back."""


@dataclass(frozen=True, slots=True)
class GangSigns:
    """One look at a gang. Ratios are of all its GPUs: the lowest utilisation, the highest of all else."""

    key: str
    title: str
    tenant: str
    gpus: int
    utilization_ratio: Reading[float] = Unknown("not exported")
    tensor_active_ratio: Reading[float] = Unknown("not exported")
    power_ratio: Reading[float] = Unknown("not exported")
    network_bytes_per_second: Reading[float] = Unknown("not exported")
    memory_active_ratio: Reading[float] = Unknown("not exported")
    pool: str = ""
    stragglers: tuple[Straggler, ...] = ()

    @property
    def spins(self) -> Reading[bool]:
        """Whether it seems busy and does nothing; Unknown where that can not be told."""
        busy, computing = self.utilization_ratio, self.tensor_active_ratio
        signs = (
            is_below(computing, COMPUTES_FROM_RATIO),
            is_below(self.memory_active_ratio, MEMORY_WORKS_FROM_RATIO),
            is_below(self.power_ratio, LOW_POWER_RATIO),
            is_below(self.network_bytes_per_second, SILENT_BYTES_PER_SECOND),
        )
        if (isinstance(busy, Known) and busy.value <= SPINS_FROM_RATIO) or False in signs:
            return Known(False)
        if isinstance(busy, Unknown):
            return Unknown(busy.reason)
        if isinstance(computing, Unknown):
            return Unknown(computing.reason)
        return Known(True) if True in signs[2:] else Unknown("neither power nor network traffic is known")


def is_below(reading: Reading[float], limit: float) -> bool | None:
    """Whether it is below the limit; None when it is not known."""
    return reading.value < limit if isinstance(reading, Known) else None


@dataclass(frozen=True, slots=True)
class GangTrouble:
    """A gang in trouble, and for how long."""

    kind: GangTroubleKind
    key: str
    tenant: str
    pool: str
    gpus: int
    """Of the whole gang: one straggler slows all of it."""
    seconds: float
    cause: OtherCause


@dataclass(frozen=True, slots=True)
class _Lasting:
    signs: GangSigns
    since: float
    seen_at: float
    straggler: Straggler | None = None

    def later(self, signs: GangSigns, now: float, straggler: Straggler | None = None) -> _Lasting:
        """The same trouble, seen once more."""
        return _Lasting(signs, self.since, now, straggler)


@dataclass(frozen=True, slots=True)
class GangMemory:
    """Gangs that spin or straggle, and since when without a break. A look that can not tell neither begins nor ends."""

    longest_gap_seconds: float = 150.0
    """Unseen for longer, it begins anew."""
    spinning: Mapping[str, _Lasting] = field(default_factory=dict)
    straggling: Mapping[tuple[str, str], _Lasting] = field(default_factory=dict)
    """(gang, rank) → the rank's trouble."""
    suspected_after_seconds: float = SUSPECTED_AFTER_SECONDS
    hung_after_seconds: float = HUNG_AFTER_SECONDS
    unjudged: tuple[GangSigns, ...] = ()
    """Gangs of the last look of which nobody can tell whether they hang."""

    def advance(self, looks: Iterable[GangSigns], now: float) -> GangMemory:
        """The memory after one more look at some or all gangs."""
        kept = {key: one for key, one in self.spinning.items() if self._recent(one, now)}
        behind = {key: one for key, one in self.straggling.items() if self._recent(one, now)}
        unjudged: list[GangSigns] = []
        for signs in looks:
            spins = signs.spins
            if isinstance(spins, Unknown):
                unjudged.append(signs)
            elif spins.value:
                kept[signs.key] = kept.get(signs.key, _Lasting(signs, now, now)).later(signs, now)
            else:
                kept.pop(signs.key, None)
            ranks = {(signs.key, one.rank): one for one in signs.stragglers}
            for key in [key for key in behind if key[0] == signs.key and key not in ranks]:
                del behind[key]
            for key, straggler in ranks.items():
                behind[key] = behind.get(key, _Lasting(signs, now, now)).later(signs, now, straggler)
        return replace(
            self,
            spinning=MappingProxyType(kept),
            straggling=MappingProxyType(behind),
            unjudged=tuple(unjudged),
        )

    def _recent(self, one: _Lasting, now: float) -> bool:
        return now - one.seen_at <= self.longest_gap_seconds

    def troubles(self, now: float) -> Iterator[GangTrouble]:
        """Every gang in trouble, in order."""
        for _, one in sorted(self.spinning.items()):
            lasted, signs = now - one.since, one.signs
            if lasted >= self.suspected_after_seconds:
                known = lasted >= self.hung_after_seconds
                sentence = (
                    f"{signs.title} {'hangs' if known else 'may hang'}: for {format_duration(lasted)} its "
                    f"{counted(signs.gpus, 'GPU')} seem busy, and compute and exchange nothing"
                )
                yield _trouble("hung" if known else "suspected", one, now, OtherKind.WORKLOAD, sentence)
        for _, one in sorted(self.straggling.items()):
            lasted, straggler = now - one.since, one.straggler
            if straggler is not None and lasted >= self.hung_after_seconds:
                sentence = f"{one.signs.title} waits for one rank: for {format_duration(lasted)} {straggler.sentence}"
                kind = OtherKind.GPU_HEALTH if straggler.sick else OtherKind.WORKLOAD
                yield _trouble("straggling", one, now, kind, sentence)

    def hung(self, now: float) -> Mapping[str, tuple[OtherCause, ...]]:
        """Tenant → its hung gangs, each a cause."""
        return self._of_kind("hung", now)

    def suspected(self, now: float) -> Mapping[str, tuple[OtherCause, ...]]:
        """Tenant → gangs that may hang: for less time than it takes to be sure."""
        return self._of_kind("suspected", now)

    def _of_kind(self, kind: GangTroubleKind, now: float) -> Mapping[str, tuple[OtherCause, ...]]:
        found: dict[str, tuple[OtherCause, ...]] = {}
        for one in self.troubles(now):
            if one.kind == kind:
                found[one.tenant] = (*found.get(one.tenant, ()), one.cause)
        return found


def _trouble(kind: GangTroubleKind, one: _Lasting, now: float, cause: OtherKind, sentence: str) -> GangTrouble:
    signs = one.signs
    lasted = now - one.since
    return GangTrouble(kind, signs.key, signs.tenant, signs.pool, signs.gpus, lasted, OtherCause(cause, sentence))


@dataclass(frozen=True, slots=True)
class HeldDevice:
    """A GPU that a tenant's pod holds, and the last error code that its driver reported (0: none)."""

    node: str
    index: int
    tenant: str
    holder: str
    xid: Reading[int]


def sick_devices(devices: Iterable[HeldDevice]) -> Mapping[str, tuple[OtherCause, ...]]:
    """Tenant → GPUs it holds that reported an error of the device itself; errors of programs are none."""
    found: dict[str, tuple[OtherCause, ...]] = {}
    for one in sorted(devices, key=lambda device: (device.node, device.index)):
        if isinstance(one.xid, Known) and one.xid.value in HARDWARE_XIDS:
            sentence = f"GPU {one.index} of node {one.node} reports error {one.xid.value}, and {one.holder} holds it"
            found[one.tenant] = (*found.get(one.tenant, ()), OtherCause(OtherKind.GPU_HEALTH, sentence))
    return found

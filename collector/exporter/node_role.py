"""The collector for one node: RDMA ports, their interfaces and, where asked for, GPUs by NVML, looked at in turn.

Each source is read apart, and each device of it has its own age and coverage: what can not be read costs nothing else.
A device that was there and is not any more stays as an error and an age. Raises nothing for what it can not read.
No decision needs these sources: they have ages of their own, and do not count as blindness of the cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from collector.assemble.port_trouble import PortKey, PortMemory
from collector.assemble.port_usual import PortUsual
from collector.assemble.rdma_holders import RdmaHolders, rdma_holders
from collector.catalogue.rdma import PORT_PREFIX
from collector.catalogue.spellings.network import ETHTOOL
from collector.catalogue.spellings.nvml import NVML
from collector.catalogue.spellings.rdma import SYSFS
from collector.exporter.health import DeviceSeen, Health
from collector.model.collected import Collected, NormalReading
from collector.model.reading import Known
from collector.parse.block_stat import MappedImage, mapped_image_readings
from collector.parse.interface_counters import InterfaceCounters, interface_readings
from collector.parse.nvml import nvml_readings
from collector.parse.pod_resources import DeviceHolder
from collector.parse.rdma_files import RdmaFile, rdma_readings
from collector.sources.nvml import NvmlMissing, NvmlRound
from collector.sources.pod_resources import PodResourcesMissing

PORTS: Final = SYSFS.source
INTERFACES: Final = ETHTOOL.source
GPUS: Final = NVML.source
_SPEED: Final = f"{PORT_PREFIX}rate_bytes_per_second"
HOLDERS: Final = "kubelet"
LOST: Final = "lost"
UNREADABLE: Final = "unreadable"
NOT_SAID: Final = "not said"


class GpuSource(Protocol):
    """What is needed of a `collector.sources.nvml.Nvml`."""

    def read(self) -> NvmlRound:
        """One look at all GPUs. Raises NvmlMissing."""
        ...


@dataclass(frozen=True, slots=True)
class NodeSources:
    """How each source is read."""

    rdma_files: Callable[[], tuple[RdmaFile, ...]]
    """Raises OSError where the node shows no RDMA device at all."""
    interfaces: Callable[[], tuple[InterfaceCounters, ...]]
    mapped_images: Callable[[], tuple[MappedImage, ...]] = tuple
    """Images of RBD; they come and go with pods, so that one that is gone is no loss."""
    open_gpus: Callable[[], GpuSource] | None = None
    """Raises NvmlMissing; tried again at every look until it does not. None: GPUs have an exporter."""
    holders: Callable[[], tuple[DeviceHolder, ...]] | None = None
    """Who holds the devices; raises PodResourcesMissing. None: nobody is asked."""
    rdma_addresses: Callable[[], Mapping[str, str]] = dict
    """PCI address → RDMA device."""


@dataclass(frozen=True, slots=True)
class NodePublished:
    """What the last look left for the exporter. Immutable."""

    readings: tuple[NormalReading, ...] = ()
    ports: PortMemory = field(default_factory=PortMemory)
    usual: PortUsual = field(default_factory=PortUsual)
    rdma_holders: RdmaHolders | None = None
    """None: nobody was asked, or nobody answered."""
    at: float | None = None
    """Epoch seconds; None: nothing was looked at yet."""


class NodeRole:
    """Looks in one thread; what it published may be taken in any."""

    def __init__(self, node: str, sources: NodeSources, health: Health, clock: Callable[[], float]) -> None:
        self._node, self._sources, self._health, self._clock = node, sources, health, clock
        self._gpus: GpuSource | None = None
        self.published = NodePublished()

    def look(self) -> dict[str, str]:
        """One look at everything. Returns a sentence for each source that said nothing at all."""
        now = self._clock()
        failures: dict[str, str] = {}
        ports = self._read_ports(now)
        interfaces = interface_readings(self._sources.interfaces(), self._node, now)
        self._note(INTERFACES, interfaces, now)
        holders = self._read_holders(failures)
        gpus = self._read_gpus(now, failures, holders or ())
        memory = self.published.ports.advance(ports.readings, now)
        images = mapped_image_readings(self._sources.mapped_images(), self._node, now)
        readings = (*ports.readings, *interfaces.readings, *gpus.readings, *images)
        usual = self.published.usual.advance(memory.troubles(), memory.loads(_speeds(ports.readings)))
        of_rdma = None if holders is None else rdma_holders(holders, self._sources.rdma_addresses())
        self.published = NodePublished(readings, memory, usual, of_rdma, now)
        return failures

    def _read_ports(self, now: float) -> Collected:
        try:
            files = self._sources.rdma_files()
        except FileNotFoundError:
            files = ()  # a node without RDMA has no such folder
        except OSError:
            self._health.error(PORTS, "", UNREADABLE)
            self._note_lost(PORTS, frozenset())
            return Collected((), interface_readings(()).samples)
        ports = rdma_readings(files, self._node, now)
        self._note(PORTS, ports, now)
        return ports

    def _read_gpus(self, now: float, failures: dict[str, str], holders: tuple[DeviceHolder, ...]) -> Collected:
        nothing = interface_readings(())
        if self._sources.open_gpus is None:
            return nothing
        try:
            self._gpus = self._gpus or self._sources.open_gpus()
            round_ = self._gpus.read()
        except NvmlMissing as missing:
            failures[GPUS] = str(missing)
            self._health.error(GPUS, "", UNREADABLE)
            self._note_lost(GPUS, frozenset())
            self._gpus = None  # a driver that was loaded anew is found by starting anew
            return nothing
        gpus = nvml_readings(round_.samples, self._node, now, holders)
        self._note(GPUS, gpus, now, frozenset(device for device, _ in round_.failures))
        for device, reason in round_.failures:
            self._health.error(GPUS, device, reason)
        return gpus

    def _read_holders(self, failures: dict[str, str]) -> tuple[DeviceHolder, ...] | None:
        """None when the kubelet does not tell: then the attribution is none, and it is an error."""
        if self._sources.holders is None:
            return None
        try:
            return self._sources.holders()
        except PodResourcesMissing as missing:
            failures[HOLDERS] = str(missing)
            self._health.error(HOLDERS, "", UNREADABLE)
            return None

    def _note(self, source: str, collected: Collected, now: float, gone: frozenset[str] = frozenset()) -> None:
        """Age and coverage of each device, and those that are missing."""
        looks = {device: look for device, look in _looks(collected.readings, now).items() if device not in gone}
        for device, look in looks.items():
            if look.known:
                self._health.seen(source, device, look)
            else:
                self._health.unseen(source, device)
                self._health.error(source, device, UNREADABLE)
        here = frozenset(looks)
        self._health.counted(source, len(here))
        self._note_lost(source, here, gone)

    def _note_lost(self, source: str, here: frozenset[str], told: frozenset[str] = frozenset()) -> None:
        for device in sorted(self._health.known_devices(source) - here):
            self._health.unseen(source, device)
            if device not in told:
                self._health.error(source, device, LOST)


def _speeds(readings: Iterable[NormalReading]) -> dict[PortKey, float]:
    """Port → its speed in bytes per second, where it is known."""
    return {
        (one.labels["device"], one.labels["port"], one.labels["link_layer"]): one.value.value
        for one in readings
        if one.name == _SPEED and isinstance(one.value, Known)
    }


def _looks(readings: Iterable[NormalReading], now: float) -> dict[str, DeviceSeen]:
    known: Counter[str] = Counter()
    unknown: dict[str, Counter[str]] = {}
    for reading in readings:
        labels = reading.labels
        device = f"{labels['device']}/{labels['port']}" if labels.get("port") else labels["device"]
        reasons = unknown.setdefault(device, Counter())
        if isinstance(reading.value, Known):
            known[device] += 1
        else:
            reasons[_word(reading.value.reason)] += 1
    return {device: DeviceSeen(now, known[device], dict(reasons)) for device, reasons in unknown.items()}


_WORDS: Final = {
    "could not be read": "unreadable",
    "is not available": "not available",
    "stands at its end": "saturated",
    "is no whole number": "not a number",
    "is not understood": "not a number",
    "is not exported": NOT_SAID,
    "does not tell": NOT_SAID,
    "expected": "implausible",
    "takes two": "takes two readings",
}


def _word(reason: str) -> str:
    """A sentence as one of few words, since it becomes a series."""
    return next((word for part, word in _WORDS.items() if part in reason), "unknown")

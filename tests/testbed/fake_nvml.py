"""A FAKE of the module pynvml: no GPU and no driver is behind it. Functions, errors and units as the real one has them.

Whoever would load `pynvml` gets a `FakeNvml` instead. Power is in mW, energy in mJ, violation times in ns, as there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

GIB = 2**30


class NVMLError(Exception):
    """As the real one: a number, and what it means."""

    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


@dataclass(eq=False)
class FakeGpu:
    """One GPU. `broken` names functions that fail on it; `lost`: fell off the bus."""

    uuid: str
    name: str = "NVIDIA H100 80GB HBM3"
    utilization: int = 97
    memory_used: int = 60 * GIB
    power_milliwatts: int = 650_000
    temperature: int = 61
    remap_failed: int = 0
    slices: list[tuple[int, str, int]] = field(default_factory=list)
    """(instance, profile, bytes used)"""
    broken: set[str] = field(default_factory=set)
    lost: bool = False
    gpm: tuple[float, float, float, float] | None = None
    """Percent of engine, multiprocessors, tensor cores, memory between two samples; None: no GPM, as before Hopper."""


@dataclass(eq=False)
class FakeSlice:
    """A handle of a slice."""

    name: str
    instance: int
    memory_used: int
    uuid: str


class FakeNvml:
    """The functions that Trimtab calls, under their own names."""

    NVMLError = NVMLError
    NVML_ERROR_NOT_SUPPORTED = 3
    NVML_ERROR_TIMEOUT = 10
    NVML_ERROR_LIBRARY_NOT_FOUND = 12
    NVML_ERROR_GPU_IS_LOST = 15
    nvmlMemory_v2 = 33554472  # noqa: N815  # theirs

    def __init__(self, gpus: list[FakeGpu]) -> None:
        self.gpus = gpus
        self.events: list[tuple[FakeGpu, int]] = []
        """XIDs that nobody has taken yet."""
        self.registered: list[FakeGpu] = []

    def __getattr__(self, name: str) -> object:
        """The real module has hundreds of functions: asking for one that is not here is a mistake of the test."""
        raise AttributeError(f"the fake of NVML has no {name}")

    def _check(self, gpu: FakeGpu | FakeSlice, function: str) -> None:
        if isinstance(gpu, FakeGpu) and gpu.lost:
            raise NVMLError(self.NVML_ERROR_GPU_IS_LOST)
        if isinstance(gpu, FakeGpu) and function in gpu.broken:
            raise NVMLError(self.NVML_ERROR_NOT_SUPPORTED)

    def nvmlInit(self) -> None:  # noqa: N802
        """Nothing to start."""

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:  # noqa: N802
        self._check(self.gpus[index], "handle")
        return self.gpus[index]

    def nvmlDeviceGetUUID(self, gpu: FakeGpu | FakeSlice) -> str:  # noqa: N802
        return gpu.uuid

    def nvmlDeviceGetName(self, gpu: FakeGpu | FakeSlice) -> bytes:  # noqa: N802  # old versions give bytes
        return gpu.name.encode()

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> SimpleNamespace:  # noqa: N802
        self._check(gpu, "utilization")
        return SimpleNamespace(gpu=gpu.utilization, memory=40)

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu | FakeSlice, version: int) -> SimpleNamespace:  # noqa: N802
        assert version == self.nvmlMemory_v2
        self._check(gpu, "memory")
        total = 80 * GIB
        return SimpleNamespace(total=total, used=gpu.memory_used, free=total - gpu.memory_used - GIB, reserved=GIB)

    def nvmlDeviceGetPowerUsage(self, gpu: FakeGpu) -> int:  # noqa: N802
        self._check(gpu, "power")
        return gpu.power_milliwatts

    def nvmlDeviceGetTotalEnergyConsumption(self, gpu: FakeGpu) -> int:  # noqa: N802
        self._check(gpu, "energy")
        return 5_000_000

    def nvmlDeviceGetTemperature(self, gpu: FakeGpu, sensor: int) -> int:  # noqa: N802
        assert sensor == 0
        self._check(gpu, "temperature")
        return gpu.temperature

    def nvmlDeviceGetRemappedRows(self, gpu: FakeGpu) -> tuple[int, int, int, int]:  # noqa: N802
        self._check(gpu, "remapped")
        return (0, 0, 0, gpu.remap_failed)

    def nvmlDeviceGetTotalEccErrors(self, gpu: FakeGpu, error: int, counter: int) -> int:  # noqa: N802
        self._check(gpu, "ecc")
        return 3 if error == 0 and counter == 0 else 0

    def nvmlDeviceGetViolationStatus(self, gpu: FakeGpu, policy: int) -> SimpleNamespace:  # noqa: N802
        self._check(gpu, "violation")
        return SimpleNamespace(violationTime=2_000_000_000 if policy == 0 else 0)

    def nvmlDeviceGetMigMode(self, gpu: FakeGpu) -> list[int]:  # noqa: N802
        self._check(gpu, "mig")
        return [int(bool(gpu.slices)), int(bool(gpu.slices))]

    def nvmlDeviceGetMaxMigDeviceCount(self, gpu: FakeGpu) -> int:  # noqa: N802
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, gpu: FakeGpu, index: int) -> FakeSlice:  # noqa: N802
        if index >= len(gpu.slices):
            raise NVMLError(6)
        instance, profile, used = gpu.slices[index]
        return FakeSlice(f"{gpu.name} MIG {profile}", instance, used, f"MIG-{gpu.uuid}-{instance}")

    def nvmlDeviceGetGpuInstanceId(self, part: FakeSlice) -> int:  # noqa: N802
        return part.instance

    def nvmlEventSetCreate(self) -> object:  # noqa: N802
        return self.events

    def nvmlDeviceRegisterEvents(self, gpu: FakeGpu, kinds: int, events: object) -> None:  # noqa: N802
        assert kinds == 8
        assert events is self.events
        self.registered.append(gpu)

    def nvmlEventSetWait_v2(self, events: object, timeout_milliseconds: int) -> SimpleNamespace:  # noqa: N802
        assert events is self.events
        assert timeout_milliseconds == 0
        if not self.events:
            raise NVMLError(self.NVML_ERROR_TIMEOUT)
        gpu, code = self.events.pop(0)
        return SimpleNamespace(device=gpu, eventType=8, eventData=code)

    def nvmlDeviceGetEnforcedPowerLimit(self, gpu: FakeGpu) -> int:  # noqa: N802
        self._check(gpu, "power_limit")
        return 700_000

    def nvmlDeviceGetClockInfo(self, gpu: FakeGpu, clock: int) -> int:  # noqa: N802
        assert clock == 1
        self._check(gpu, "clock")
        return 1980

    NVML_GPM_METRICS_GET_VERSION = 1

    def nvmlGpmQueryDeviceSupport(self, gpu: FakeGpu) -> SimpleNamespace:  # noqa: N802
        self._check(gpu, "gpm")
        return SimpleNamespace(isSupportedDevice=int(gpu.gpm is not None))

    def nvmlGpmSampleAlloc(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(taken=None)

    def nvmlGpmSampleGet(self, gpu: FakeGpu, sample: SimpleNamespace) -> None:  # noqa: N802
        self._check(gpu, "gpm")
        sample.taken = gpu.gpm

    def nvmlGpmMigSampleGet(self, gpu: FakeGpu, instance: int, sample: SimpleNamespace) -> None:  # noqa: N802
        self.nvmlGpmSampleGet(gpu, sample)

    def c_nvmlGpmMetricsGet_t(self) -> SimpleNamespace:  # noqa: N802
        empty = [SimpleNamespace(metricId=0, nvmlReturn=0, value=0.0) for _ in range(8)]
        return SimpleNamespace(version=0, numMetrics=0, sample1=None, sample2=None, metrics=empty)

    def nvmlGpmMetricsGet(self, asked: SimpleNamespace) -> SimpleNamespace:  # noqa: N802
        assert asked.version == self.NVML_GPM_METRICS_GET_VERSION
        assert asked.sample1 is not asked.sample2
        known = dict(zip((1, 2, 5, 10), asked.sample2.taken, strict=True))
        for row in asked.metrics[: asked.numMetrics]:
            row.value = known[row.metricId]
        return asked

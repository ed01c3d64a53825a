"""Accelerators of every vendor under one set of names. Entries only; the spellings of vendors stand in `spellings`."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

LABELS: Final = ("vendor", "model", "node", "device", "slice", "tenant", "namespace", "pod", "attribution", "via")

UTILIZATION: Final = "trimtab_accelerator_utilization_ratio"
ACTIVE: Final = "trimtab_accelerator_active_ratio"
MULTIPROCESSOR: Final = "trimtab_accelerator_multiprocessor_active_ratio"
TENSOR: Final = "trimtab_accelerator_tensor_active_ratio"
MEMORY_ACTIVE: Final = "trimtab_accelerator_memory_active_ratio"
MEMORY_USED: Final = "trimtab_accelerator_memory_used_bytes"
MEMORY_TOTAL: Final = "trimtab_accelerator_memory_total_bytes"
MEMORY_FREE: Final = "trimtab_accelerator_memory_free_bytes"
MEMORY_RESERVED: Final = "trimtab_accelerator_memory_reserved_bytes"
POWER: Final = "trimtab_accelerator_power_watts"
POWER_LIMIT: Final = "trimtab_accelerator_power_limit_watts"
CLOCK: Final = "trimtab_accelerator_clock_hertz"
ENERGY: Final = "trimtab_accelerator_energy_joules_total"
TEMPERATURE: Final = "trimtab_accelerator_temperature_celsius"
MEMORY_TEMPERATURE: Final = "trimtab_accelerator_memory_temperature_celsius"
HEALTH: Final = "trimtab_accelerator_health"
THROTTLE: Final = "trimtab_accelerator_throttle_ratio"
THROTTLED: Final = "trimtab_accelerator_throttled_seconds_total"
LAST_ERROR: Final = "trimtab_accelerator_last_error_code"
ERRORS: Final = "trimtab_accelerator_errors_total"
ERROR_AT: Final = "trimtab_accelerator_last_error_timestamp_seconds"
RECENT_ERRORS: Final = "trimtab_accelerator_recent_errors"
MEMORY_ERRORS: Final = "trimtab_accelerator_uncorrected_memory_errors_total"
CORRECTED_ERRORS: Final = "trimtab_accelerator_corrected_memory_errors_total"

CORE: Final = (UTILIZATION, ACTIVE, MEMORY_USED, MEMORY_TOTAL, POWER, TEMPERATURE, HEALTH, THROTTLE)
"""What is said of every device, known or not."""

HARMFUL_THROTTLES: Final = frozenset(
    (
        "thermal",
        "hardware_thermal",
        "memory_thermal",
        "regulator_thermal",
        "processor_hot",
        "power_brake",
        "reliability",
    )
)
"""What holds a clock back and should not: heat, a brake, a fault. A cap on power is how many sites run."""

_SHARED: Final = "where attribution is shared, it is the device's: no tenant's, and never to be summed per tenant"


def _entry(name: str, unit: Unit, meaning: str, *traps: str, more: tuple[str, ...] = ()) -> Metric:
    kind = Kind.COUNTER if name.endswith("_total") else Kind.GAUGE
    return Metric(name, kind, unit, (*LABELS, *more), Source.NORMALIZED, meaning, traps)


ACCELERATORS: Final = (
    _entry(
        UTILIZATION,
        Unit.RATIO,
        "Share of time in which any kernel ran.",
        "1 with one small kernel: no measure of load where the active ratio is known",
        _SHARED,
    ),
    _entry(ACTIVE, Unit.RATIO, "Share of time in which the compute engine, else any multiprocessor, worked.", _SHARED),
    _entry(MULTIPROCESSOR, Unit.RATIO, "Mean share of multiprocessors (or cores) that had work.", _SHARED),
    _entry(TENSOR, Unit.RATIO, "Share of time in which the matrix units worked.", _SHARED),
    _entry(MEMORY_ACTIVE, Unit.RATIO, "Share of time in which the device's memory was read or written.", _SHARED),
    _entry(MEMORY_USED, Unit.BYTES, "Memory in use; of a slice or a virtual device its own.", _SHARED),
    _entry(MEMORY_TOTAL, Unit.BYTES, "Memory of the device; of a virtual device its limit.", _SHARED),
    _entry(MEMORY_FREE, Unit.BYTES, "Memory free."),
    _entry(MEMORY_RESERVED, Unit.BYTES, "Memory held by the driver."),
    _entry(POWER, Unit.WATTS, "Power drawn by the whole device.", "unknown on slices, which it would multiply"),
    _entry(POWER_LIMIT, Unit.WATTS, "What the whole device may draw."),
    _entry(
        CLOCK,
        Unit.HERTZ,
        "Clock of the device's multiprocessors now.",
        "falls by itself when nothing runs: compare devices that do the same work",
    ),
    _entry(ENERGY, Unit.JOULES, "Energy since the driver was loaded."),
    _entry(TEMPERATURE, Unit.CELSIUS, "Temperature of the device, at its hottest where several are told."),
    _entry(MEMORY_TEMPERATURE, Unit.CELSIUS, "Temperature of the device's memory."),
    _entry(
        HEALTH,
        Unit.TRUTH,
        "1 healthy, 0 in need of attention, by the vendor's own judgement or an error code of broken hardware.",
        "an application's error code does not make a device unhealthy",
    ),
    _entry(
        THROTTLE,
        Unit.RATIO,
        "Share of time in which something held the clock back.",
        "from counters it takes two readings: the text of one moment can not tell it",
    ),
    _entry(
        THROTTLED,
        Unit.SECONDS,
        "Time in which the clock was held back, by what.",
        "dcgm-exporter's unit is nanoseconds in text and practice, microseconds in DCGM's own documentation: a share "
        "of time above 1 says that it has changed",
        more=("throttle",),
    ),
    _entry(
        LAST_ERROR,
        Unit.CODE,
        "The last error code of the driver, 0 for none.",
        "never goes back to 0, and a repeat of the same code can not be seen",
    ),
    _entry(
        ERRORS,
        Unit.ERRORS,
        "Errors of the driver by code.",
        "unknown where the exporter shows the last code alone",
        more=("code", "kind"),
    ),
    _entry(
        ERROR_AT,
        Unit.TIMESTAMP_SECONDS,
        "When the driver last told an error of this code, by the clock of who was told.",
        "the first event of a new series has no earlier sample: alert by this time, not by an increase",
        more=("code", "kind"),
    ),
    _entry(
        RECENT_ERRORS,
        Unit.ERRORS,
        "Errors of the driver by code within a window of the exporter's.",
        "a gauge over a window: no rate can be taken of it",
        more=("code", "kind"),
    ),
    _entry(MEMORY_ERRORS, Unit.ERRORS, "Errors of memory that could not be corrected."),
    _entry(CORRECTED_ERRORS, Unit.ERRORS, "Errors of memory that were corrected."),
)

"""What `collect` found, as plain data and as tables. Decides nothing; reads nothing."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from collector.model.collected import Collected, NormalReading, OwnerSum
from collector.model.reading import Reading, Unknown
from controller.cli.output import NotedRows, console, left, right, section, talk


def collected_record(found: Collected) -> dict[str, Any]:
    """The answer as plain data with stable keys."""
    return {
        "sources": list(found.sources),
        "readings": [_reading_record(reading) for reading in found.readings],
        "samples": {
            "read": found.samples.read,
            "used": found.samples.used,
            "passed": found.samples.passed,
            "dropped": dict(sorted(found.samples.dropped.items())),
        },
        "sums": [_sum_record(one) for one in found.sums],
        "notes": list(found.notes),
    }


def _reading_record(reading: NormalReading) -> dict[str, Any]:
    return {
        "name": reading.name,
        **_value_record(reading.value),
        "unit": reading.unit,
        "labels": dict(reading.labels),
        "time": reading.time,
        "source": reading.source,
    }


def _sum_record(one: OwnerSum) -> dict[str, Any]:
    bounds: dict[str, float | None] = {"lowest": one.lowest, "highest": one.highest}
    if isinstance(one.value, Unknown):
        bounds = {"lowest": None, "highest": None}
    owner = {"name": one.name, "namespace": one.namespace, "tenant": one.tenant}
    return {**owner, **_value_record(one.value), **bounds, "unit": one.unit}


def _value_record(value: Reading[float]) -> dict[str, Any]:
    known = None if isinstance(value, Unknown) else value.value
    return {"value": known, "unknown": value.reason if isinstance(value, Unknown) else None}


def print_collected(found: Collected) -> None:
    """Readings and sums to where data goes, the fate of samples beside them."""
    columns = (left("METRIC"), right("VALUE"), left("UNIT"), left("OF"))
    rows = ((_cells(reading), _note(reading.value)) for reading in found.readings)
    title = f"Readings: {len(found.readings)}, read as {', '.join(found.sources) or 'nothing that is known'}"
    console().print(section(title, NotedRows(columns, rows)))
    if found.sums:
        sum_columns = (left("METRIC"), left("NAMESPACE"), right("VALUE"), right("LOWEST"), right("HIGHEST"))
        sums = ((_sum_cells(one), _note(one.value)) for one in found.sums)
        console().print(section("Per namespace, no device twice", NotedRows(sum_columns, sums)))
    samples = found.samples
    dropped = "".join(f"\n  {count} dropped: {reason}" for reason, count in sorted(samples.dropped.items()))
    talk(f"samples: {samples.read} read, {samples.used} used, {samples.passed} passed on{dropped}")
    for note in found.notes:
        talk(note)


def _cells(reading: NormalReading) -> list[str | Text]:
    labels = " ".join(f"{name}={value}" for name, value in reading.labels.items() if value)
    return [reading.name.removeprefix("trimtab_"), _shown(reading.value), reading.unit, labels]


def _sum_cells(one: OwnerSum) -> list[str | Text]:
    if isinstance(one.value, Unknown):
        return [one.name.removeprefix("trimtab_"), one.namespace, "unknown", "", ""]
    return [
        one.name.removeprefix("trimtab_"),
        one.namespace,
        *(f"{x:.6g}" for x in (one.value.value, one.lowest, one.highest)),
    ]


def _shown(value: Reading[float]) -> str:
    return "unknown" if isinstance(value, Unknown) else f"{value.value:.6g}"


def _note(value: Reading[float]) -> str:
    return value.reason if isinstance(value, Unknown) else ""

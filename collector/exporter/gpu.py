"""Reads the GPU exporters of all nodes side by side, and keeps what each device did. A bad one costs others nothing.

Each device has its own age: that of the last scrape of its node which could be read. Decides nothing about tenants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol

from collector.assemble.frozen import FROZEN_WINDOWS, Pages, energy_counters
from collector.assemble.gpu import GpuMemory
from collector.assemble.gpu_ledger import Devices
from collector.exporter.health import DeviceSeen, Health
from collector.model.accelerator import GpuReading
from collector.model.quantities import format_duration
from collector.model.reading import Known
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import Exposition, parse_exposition, scrape_problem
from collector.sources.scrape import Scrape, ScrapeFailed, target_label

SOURCE: Final = "dcgm"


class Scrapes(Protocol):
    """What is needed of a `collector.sources.scrape.Scraper`."""

    def scrape_all(self, urls: Iterable[str]) -> Mapping[str, Scrape | ScrapeFailed]:
        """The text of each target, or what went wrong."""
        ...


class GpuExporters:
    """The exporters at `urls`. `read` in one thread, `devices` in any."""

    def __init__(
        self,
        urls: Sequence[str],
        scrapes: Scrapes,
        health: Health,
        clock: Callable[[], float],
        window_seconds: float = 600.0,
    ) -> None:
        self._urls, self._scrapes, self._health, self._clock = tuple(urls), scrapes, health, clock
        self._memory, self._pages = GpuMemory(window_seconds), Pages()
        self._frozen_seconds = FROZEN_WINDOWS * window_seconds
        if urls:
            health.expect(SOURCE)

    def read(self) -> Mapping[str, str]:
        """One round over all exporters. Returns the sentence of each that failed."""
        results = self._scrapes.scrape_all(self._urls)
        now = self._clock()
        texts = {url: parse_exposition(one.text) for url, one in results.items() if isinstance(one, Scrape)}
        self._pages = self._pages.advance({url: energy_counters(text) for url, text in texts.items()}, now)
        readings: list[GpuReading] = []
        failures: dict[str, str] = {}
        for url, result in sorted(results.items()):
            if isinstance(result, ScrapeFailed):
                failures[url] = self._failed(url, result.fault, result.sentence)
                continue
            if self._pages.frozen(url, self._frozen_seconds, now):
                failures[url] = self._failed(url, "frozen", f"{url}: {self._stands_still()}")
                continue
            found, problem = _readings(texts[url])
            readings.extend(found)
            self._note(target_label(url), found, now)
            if problem is not None:
                failures[url] = f"{url}: {problem}"
                self._health.error(SOURCE, target_label(url), "malformed")
        self._memory = self._memory.advance(readings, now)
        # One broken node of many is an error of that node; with most of them gone nobody knows the GPUs any more.
        if 2 * len(failures) < len(results):
            self._health.success(SOURCE, now)
        return failures

    def _failed(self, url: str, fault: str, sentence: str) -> str:
        self._health.error(SOURCE, target_label(url), fault)
        self._health.unseen(SOURCE, target_label(url))
        return sentence

    def _stands_still(self) -> str:
        lasting = format_duration(self._frozen_seconds)
        return f"no counter of energy has moved for {lasting}: the exporter hangs, restart it"

    def _note(self, target: str, found: tuple[GpuReading, ...], now: float) -> None:
        if not found:
            self._health.unseen(SOURCE, target)
            return
        facts = [fact for one in found for fact in (one.activity_ratio, one.memory_used_bytes, one.health)]
        known = sum(isinstance(fact, Known) for fact in facts)
        missing = {"not said": len(facts) - known} if known < len(facts) else {}
        self._health.seen(SOURCE, target, DeviceSeen(now, known, missing))

    def devices(self, now: float) -> Devices:
        """Every device that was read lately, with the highest activity of the window."""
        memory = self._memory
        return Devices(memory.readings(now), memory.window_seconds, memory.latest(now))


def _readings(exposition: Exposition) -> tuple[tuple[GpuReading, ...], str | None]:
    """The readings of one text, and what is wrong with it. Good lines count although others are bad."""
    problem = scrape_problem(exposition)
    if problem is not None:
        return (), problem
    readings = gpu_readings(exposition)
    if not readings:
        return (), "no GPU in it: is this the address of a GPU exporter?"
    return readings, str(exposition.problems[0]) if exposition.problems else None

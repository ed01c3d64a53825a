"""Reads the pages of one Ceph cluster and keeps what it did lately. Decides nothing about tenants.

Several addresses are several pages of the same cluster: its managers, of which only the active one has something to
say, and, since Reef, an exporter per host with the counters of its OSDs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from collector.assemble.ceph_memory import CephMemory, CephState
from collector.exporter.gpu import Scrapes
from collector.exporter.health import DeviceSeen, Health
from collector.model.reading import Reading
from collector.parse.ceph import ceph_scrape
from collector.parse.ceph_names import CEPH_NAMES
from collector.parse.exposition import Exposition, parse_exposition, scrape_problem
from collector.sources.scrape import Scrape, ScrapeFailed, ScrapeFault, target_label

SOURCE: Final = "ceph"
NO_OSD_COUNTERS: Final = (
    "no page counts the operations of OSDs: since Reef ceph-exporter (port 9926) does; name its pages too"
)


class CephPages:
    """The pages at `urls`. `read` in one thread, `state` in any."""

    def __init__(
        self,
        urls: Sequence[str],
        scrapes: Scrapes,
        health: Health,
        clock: Callable[[], float],
        memory: CephMemory,
    ) -> None:
        self._urls, self._scrapes, self._health, self._clock = tuple(urls), scrapes, health, clock
        self._memory = memory
        if urls:
            health.expect(SOURCE)

    def read(self) -> Mapping[str, str]:
        """One round over all pages. Returns the sentence of each that failed."""
        results = self._scrapes.scrape_all(self._urls)
        now = self._clock()
        pages: list[Exposition] = []
        failures: dict[str, str] = {}
        for url, result in sorted(results.items()):
            page = _page(url, result)
            if isinstance(page, Exposition):
                pages.append(page)
                self._health.seen(SOURCE, target_label(url), DeviceSeen(now, known=1))
            else:
                failures[url] = page.sentence
                self._health.error(SOURCE, target_label(url), page.fault)
                self._health.unseen(SOURCE, target_label(url))
        scrape = ceph_scrape(pages, now)
        if not scrape.has_cluster:
            if not failures:
                self._health.error(SOURCE, "", "no_active_manager")
            return failures or {"": "no page is that of an active manager"}
        self._memory = memory = self._memory.advance(scrape)
        if scrape.lacks_osd_counters:
            self._health.error(SOURCE, "", "no_counters_of_osds")
            failures[""] = NO_OSD_COUNTERS
        # A page that is only served again is no reading: success is when the manager last collected.
        self._health.success(SOURCE, memory.scrapes[-1].at)
        return failures

    def state(self, now: float) -> Reading[CephState]:
        """The cluster as it is known at `now`."""
        return self._memory.state(now)


def _page(url: str, result: Scrape | ScrapeFailed) -> Exposition | ScrapeFailed:
    """The samples of one page; that of a standby manager holds none."""
    if isinstance(result, ScrapeFailed):
        return Exposition(()) if result.fault is ScrapeFault.EMPTY else result
    exposition = parse_exposition(result.text, CEPH_NAMES)
    problem = scrape_problem(exposition)
    return exposition if problem is None else ScrapeFailed(ScrapeFault.NOT_TEXT, f"{target_label(url)}: {problem}")

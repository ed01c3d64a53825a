"""Targets that misbehave: each becomes a word and a sentence, and costs the others nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from collector.sources.scrape import Scrape, ScrapeFailed, ScrapeFault, ScrapeLimits, Scraper
from tests.integration.bad_exporters import BEHAVIOURS, GOOD_TEXT, bad_exporters

LIMITS = ScrapeLimits(connect_seconds=3.0, read_seconds=3.0, total_seconds=4.0, body_bytes=2 * 1024 * 1024)
FAULTS = {
    "/cut-off-length": ScrapeFault.CUT_OFF,
    "/cut-off-line": ScrapeFault.CUT_OFF,
    "/cut-off-chunks": ScrapeFault.CUT_OFF,
    "/cut-off-gzip": ScrapeFault.CUT_OFF,
    "/not-gzip": ScrapeFault.NOT_TEXT,
    "/huge": ScrapeFault.TOO_LARGE,
    "/bomb": ScrapeFault.TOO_LARGE,
    "/html": ScrapeFault.NOT_TEXT,
    "/html-as-text": ScrapeFault.NOT_TEXT,
    "/json": ScrapeFault.NOT_TEXT,
    "/binary": ScrapeFault.NOT_TEXT,
    "/nul": ScrapeFault.NOT_TEXT,
    "/empty": ScrapeFault.EMPTY,
    "/500": ScrapeFault.HTTP_STATUS,
    "/404": ScrapeFault.HTTP_STATUS,
    "/redirect": ScrapeFault.HTTP_STATUS,
    "/hang": ScrapeFault.TIMEOUT,
    "/drip-headers": ScrapeFault.TIMEOUT,
    "/drip-body": ScrapeFault.TIMEOUT,
    "/hang-up": ScrapeFault.REFUSED,
    "/no-http": ScrapeFault.NOT_TEXT,
}


@pytest.fixture(scope="module")
def exporters() -> Iterator[str]:
    with bad_exporters() as address:
        yield address


@pytest.fixture
def scraper() -> Iterator[Scraper]:
    scraper = Scraper(LIMITS)
    yield scraper
    scraper.close()


@pytest.mark.parametrize("path", sorted(FAULTS))
def test_a_bad_target_is_a_word_and_a_sentence_that_names_it(exporters: str, scraper: Scraper, path: str) -> None:
    result = scraper.scrape(exporters + path)
    assert isinstance(result, ScrapeFailed), result
    assert result.fault == FAULTS[path], result
    assert result.sentence.startswith(exporters + path + ": ")


@pytest.mark.parametrize("path", sorted(path for path in BEHAVIOURS if path not in FAULTS))
def test_a_good_target_gives_its_whole_text(exporters: str, scraper: Scraper, path: str) -> None:
    for _ in range(2):  # the second time over the connection that was kept
        result = scraper.scrape(exporters + path)
        assert isinstance(result, Scrape), result
        assert result.text == GOOD_TEXT


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("http://127.0.0.1:9/metrics", ScrapeFault.REFUSED),
        ("http://no-such-host.invalid/metrics", ScrapeFault.UNRESOLVED),
        ("http://", ScrapeFault.UNRESOLVED),
        ("ftp://127.0.0.1/metrics", ScrapeFault.UNRESOLVED),
        ("not an address", ScrapeFault.UNRESOLVED),
    ],
)
def test_an_address_where_nobody_is(scraper: Scraper, url: str, fault: ScrapeFault) -> None:
    result = scraper.scrape(url)
    assert isinstance(result, ScrapeFailed), result
    assert result.fault == fault, result


def test_bad_targets_cost_the_good_one_nothing_and_all_of_them_end_in_time(exporters: str, scraper: Scraper) -> None:
    started = time.monotonic()
    results = scraper.scrape_all(exporters + path for path in BEHAVIOURS)
    assert time.monotonic() - started < 60, "neither one after the other nor for ever"
    failed = {
        url.removeprefix(exporters): result.fault for url, result in results.items() if isinstance(result, ScrapeFailed)
    }
    assert failed == FAULTS
    good = results[exporters + "/good"]
    assert isinstance(good, Scrape)


def test_nothing_to_scrape_is_no_error(scraper: Scraper) -> None:
    assert scraper.scrape_all([]) == {}

"""Rounds over the GPU exporters, with texts given: each failure is that of its own target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from collector.exporter.gpu import GpuExporters
from collector.exporter.health import Health
from collector.model.reading import Known, Unknown
from collector.sources.scrape import Scrape, ScrapeFailed, ScrapeFault

NOW = 1_700_000_000.0
ONE, TWO, THREE = (f"http://node-{number}:9400/metrics" for number in (1, 2, 3))


def text(node: str, ratio: float = 0.5) -> str:
    labels = f'gpu="0",UUID="GPU-{node}",modelName="H100",Hostname="{node}"'
    return f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} {ratio}\n"


class Texts:
    """Answers as told."""

    def __init__(self, answers: Mapping[str, str | ScrapeFault]) -> None:
        self.answers = dict(answers)

    def scrape_all(self, urls: Iterable[str]) -> Mapping[str, Scrape | ScrapeFailed]:
        found = {url: self.answers[url] for url in urls}
        return {
            url: ScrapeFailed(answer, f"{url}: {answer}") if isinstance(answer, ScrapeFault) else Scrape(answer, 0.1)
            for url, answer in found.items()
        }


def exporters(answers: Mapping[str, str | ScrapeFault]) -> tuple[GpuExporters, Health]:
    health = Health()
    return GpuExporters(tuple(answers), Texts(answers), health, lambda: NOW), health


def test_all_nodes_are_read() -> None:
    gpus, health = exporters({ONE: text("node-1"), TWO: text("node-2")})
    assert gpus.read() == {}
    readings = gpus.devices(NOW).readings
    assert isinstance(readings, Known)
    assert [one.node for one in readings.value] == ["node-1", "node-2"]
    assert health.state().last_success_at == {"dcgm": NOW}
    assert health.state().errors == {}


def test_one_bad_exporter_is_counted_under_its_address_and_the_others_are_used() -> None:
    gpus, health = exporters({ONE: text("node-1"), TWO: ScrapeFault.TIMEOUT, THREE: text("node-3")})
    assert gpus.read() == {TWO: f"{TWO}: timeout"}
    readings = gpus.devices(NOW).readings
    assert isinstance(readings, Known)
    assert [one.node for one in readings.value] == ["node-1", "node-3"]
    assert health.state().errors == {("dcgm", "node-2:9400", "timeout"): 1}
    assert health.state().last_success_at == {"dcgm": NOW}


def test_with_most_exporters_gone_the_source_is_not_called_read() -> None:
    gpus, health = exporters({ONE: text("node-1"), TWO: ScrapeFault.REFUSED})
    gpus.read()
    assert health.state().last_success_at == {"dcgm": 0.0}


def test_a_text_of_something_else_is_no_reading() -> None:
    gpus, health = exporters({ONE: "node_load1 0.5\n", TWO: "??? 1\n"})
    failures = gpus.read()
    assert "is this the address of a GPU exporter?" in failures[ONE]
    assert "not in the Prometheus text format" in failures[TWO]
    assert health.state().errors == {
        ("dcgm", "node-1:9400", "malformed"): 1,
        ("dcgm", "node-2:9400", "malformed"): 1,
    }
    assert isinstance(gpus.devices(NOW).readings, Unknown)


def test_a_bad_line_is_counted_and_the_good_ones_are_used() -> None:
    gpus, health = exporters({ONE: 'DCGM_FI_DEV_GPU_UTIL{gpu="0" 1\n' + text("node-1")})
    assert list(gpus.read()) == [ONE]
    assert isinstance(gpus.devices(NOW).readings, Known)
    assert health.state().errors == {("dcgm", "node-1:9400", "malformed"): 1}


def test_a_password_in_the_address_stays_out_of_the_labels() -> None:
    gpus, health = exporters({"http://reader:geheim@node-1:9400/metrics": ScrapeFault.REFUSED})
    gpus.read()
    assert list(health.state().errors) == [("dcgm", "node-1:9400", "refused")]


def test_without_exporters_nothing_is_expected() -> None:
    gpus, health = exporters({})
    assert gpus.read() == {}
    assert health.state().last_success_at == {}


def _with_energy(node: str, joules: float) -> str:
    labels = f'gpu="0",UUID="GPU-{node}",Hostname="{node}"'
    return f"{text(node)}DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{labels}}} {joules}\n"


def test_an_exporter_that_hangs_and_serves_old_values_is_frozen_and_nobody_else() -> None:
    texts = Texts({ONE: _with_energy("node-1", 5e9), TWO: _with_energy("node-2", 7e9), THREE: text("node-3")})
    health, now = Health(), NOW
    gpus = GpuExporters(tuple(texts.answers), texts, health, lambda: now)
    failures: Mapping[str, str] = {}
    for look in range(11):
        now = NOW + 30.0 * look
        texts.answers[TWO] = _with_energy("node-2", 7e9 + look)
        failures = gpus.read()
        assert (ONE in failures) == (now - NOW >= 300)
        assert TWO not in failures
        assert THREE not in failures, "a page without counters of energy may say the same for hours"
    assert failures[ONE] == f"{ONE}: no counter of energy has moved for 5m: the exporter hangs, restart it"
    assert health.state().errors == {("dcgm", "node-1:9400", "frozen"): 1}
    texts.answers[ONE] = _with_energy("node-1", 6e9)
    assert ONE not in gpus.read(), "one that goes on is believed at once"

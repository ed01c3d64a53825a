"""GPU readings out of a Prometheus that scrapes GPU exporters: the same readings as from their text.

Asks only for series that exist now, so that a device does not keep the names of pods that held it earlier. Either the
last value of each, for who remembers them, or what one look at a whole window can tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from collector.assemble.frozen import FROZEN_WINDOWS
from collector.assemble.gpu_ledger import Devices
from collector.catalogue import accelerators as names
from collector.catalogue.spelling import Vocabulary
from collector.catalogue.spellings.index import ACCELERATOR_VOCABULARIES, names_of
from collector.catalogue.spellings.nvidia import DCGM
from collector.catalogue.spellings.own import OWN
from collector.model.accelerator import GpuReading
from collector.model.reading import Known, Reading, Unknown
from collector.parse.accelerator_readings import gpu_readings, merge_gpu_readings
from collector.parse.exposition import Exposition, Sample
from collector.sources.errors import SourceError
from collector.sources.node_traffic import read_traffic
from collector.sources.prometheus import Prometheus, quoted

FRESH_SECONDS: Final = 150.0
"""A sample that is older is no reading of now: Prometheus answers with what is up to five minutes old."""
_VOCABULARIES: Final = (*ACCELERATOR_VOCABULARIES, OWN)
_PREFIXED: Final = {"cambricon": "mlu_"}
"""Source → the beginning of its names, where the table has them without."""
_TARGET: Final = ("cluster", "job", "instance")
_ACTIVITY: Final = (names.ACTIVE, names.MULTIPROCESSOR, names.UTILIZATION)
_SIGNS: Final = (names.TENSOR, names.MEMORY_ACTIVE, names.POWER, names.CLOCK)
_NOW: Final = (names.POWER_LIMIT, names.THROTTLE, names.HEALTH, names.LAST_ERROR, names.ERRORS, names.RECENT_ERRORS)
_ENERGY: Final = names_of(DCGM, names.ENERGY)[0]
_LEAST_LOOKS: Final = 4
"""With fewer samples of a page nobody can tell that it stands still."""
_ALL: Final = (*_ACTIVITY, *_SIGNS, *_NOW, names.MEMORY_USED, names.THROTTLED)


def read_latest(prometheus: Prometheus, cluster: str, window_seconds: float) -> tuple[GpuReading, ...]:
    """Every GPU as Prometheus last saw it, of series that name this cluster or none. Raises SourceError."""
    matcher = f"{{cluster=~{quoted('|' + cluster)}}}"

    def of_now(name: str) -> str:
        return f"{name}{matcher} and (timestamp({name}{matcher}) > time() - {FRESH_SECONDS:g})"

    samples = list(_asked(prometheus, present_names(prometheus, _ALL), of_now))
    return _readings(samples, _frozen_pages(prometheus, window_seconds))


def read_devices(prometheus: Prometheus, window_seconds: float) -> Devices:
    """Every GPU over one window: for how it is used its highest activity, for gangs what speaks most against a hang.

    Raises nothing: an answer that does not come is the reason.
    """
    window = f"[{max(1, round(window_seconds))}s]"

    def highest(name: str) -> str:
        return f"max_over_time({name}{window}) and {name}"

    def whole(function: str) -> Callable[[str], str]:
        offset = window[1:-1]
        return lambda name: f"{function}({name}{window}) and {name} and {name} offset {offset}"

    try:
        present = present_names(prometheus, _ALL)
        now = list(_asked(prometheus, present & _spelled(*_NOW), str))
        use = [*now, *_asked(prometheus, present & _spelled(*_ACTIVITY), highest)]
        busy = _asked(prometheus, present & _spelled(*_ACTIVITY), whole("min_over_time"))
        signs = [*now, *busy, *_asked(prometheus, present & _spelled(*_SIGNS), whole("max_over_time"))]
        traffic = read_traffic(prometheus, None)
        frozen = _frozen_pages(prometheus, window_seconds)
    except SourceError as error:
        return Devices(Unknown(f"Prometheus at {prometheus.url} did not answer: {error.message}"), window_seconds)
    found = _readings(use, frozen)
    readings: Reading[tuple[GpuReading, ...]] = Known(found)
    if not found:
        repeats = f"every exporter of GPUs that Prometheus at {prometheus.url} scrapes repeats the same values"
        none = f"Prometheus at {prometheus.url} has no series of a GPU exporter"
        readings = Unknown(repeats if use else none)
    return Devices(readings, window_seconds, _readings(signs, frozen), traffic)


def present_names(prometheus: Prometheus, ours: Iterable[str]) -> frozenset[str]:
    """The names of series about these facts that exist now. Raises SourceError."""
    wanted = "|".join(sorted(_spelled(*ours)))
    found = prometheus.instant(f'group by (__name__) ({{__name__=~"{wanted}"}})')
    return frozenset(one.labels["__name__"] for one in found if "__name__" in one.labels)


def _spelled(*ours: str) -> frozenset[str]:
    return frozenset(
        f"{_prefix(vocabulary)}{name}" for vocabulary in _VOCABULARIES for name in names_of(vocabulary, *ours)
    )


def _prefix(vocabulary: Vocabulary) -> str:
    return _PREFIXED.get(vocabulary.source, "")


def _asked(prometheus: Prometheus, present: Iterable[str], query: Callable[[str], str]) -> Iterator[Sample]:
    for name in sorted(present):
        for one in prometheus.instant(query(name)):
            yield Sample(name, one.labels, one.value)


def _frozen_pages(prometheus: Prometheus, window_seconds: float) -> frozenset[tuple[str, ...]]:
    """The pages on which no counter of energy moved although it was read again and again."""
    energy = f"{_ENERGY}[{max(1, round(FROZEN_WINDOWS * window_seconds))}s]"
    by = f"by ({', '.join(_TARGET)})"
    query = f"(sum {by} (changes({energy})) == 0) and (min {by} (count_over_time({energy})) >= {_LEAST_LOOKS})"
    return frozenset(_target(one.labels) for one in prometheus.instant(query))


def _readings(samples: Iterable[Sample], frozen: frozenset[tuple[str, ...]]) -> tuple[GpuReading, ...]:
    alive = [Exposition(tuple(page)) for target, page in _by_target(samples).items() if target not in frozen]
    return merge_gpu_readings(*(gpu_readings(page, vocabularies=_VOCABULARIES) for page in alive))


def _target(labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(labels.get(label, "") for label in _TARGET)


def _by_target(samples: Iterable[Sample]) -> Mapping[tuple[str, ...], list[Sample]]:
    """What each scraped page said. One page may have had its labels renamed by Prometheus, and another not."""
    pages: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for sample in samples:
        pages[_target(sample.labels)].append(sample)
    return pages

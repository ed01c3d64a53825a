"""What happens in a demonstration, and when: everyday work from the generator, and two events put into it. Pure.

The cluster has run for eight hours when the curtain rises. Then a burst of a critical tenant finds the lent quota
taken; later the storage of another tenant gets slow while its queue is full, which looks alike and is no matter of
scheduling. Times are nominal seconds; the seed moves them a little.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from controller.simulate.chance import Chance
from controller.simulate.cluster_spec import JobSpec, Submission
from controller.simulate.generator import HOUR, SIZES, Demand, submissions

WARM_SECONDS: Final = 8 * HOUR
_FIRST_HOUR: Final = 2.0
"""The warm-up begins at two at night, so the curtain rises at ten in the morning."""
_PLAY_SECONDS: Final = 7 * 24 * HOUR
_ACT_SECONDS: Final = 6 * HOUR
"""The two events come again with this period."""
_MINUTE: Final = 60.0
_QUIET_SECONDS: Final = HOUR
_SMALL: Final = tuple((gpus, weight) for gpus, weight in SIZES if gpus <= 2)
"""Half a node and more is left out: eight nodes are too few for the tail of a cluster of hundreds."""

DEMANDS: Final = (
    Demand("vision", 6.0, sizes=_SMALL, shortest_seconds=1.5 * HOUR, longest_seconds=8 * HOUR),
    Demand("nlp", 2.0, sizes=_SMALL, shortest_seconds=1.5 * HOUR, longest_seconds=8 * HOUR),
    Demand("speech", 4.0, sizes=_SMALL, shortest_seconds=1.5 * HOUR, longest_seconds=8 * HOUR),
    Demand("research", 22.0, sizes=((1, 1.0),), jobs_per_sweep=6.0, shortest_seconds=2 * HOUR, day_swing=0.2),
)


@dataclass(frozen=True, slots=True)
class StorageTrouble:
    """The disks behind a tenant's volume are slow from `begins` to `ends` (seconds after the curtain rises)."""

    tenant: str
    begins: float
    ends: float
    speed: float = 0.2
    """What is left of the tenant's speed."""


@dataclass(frozen=True, slots=True)
class Story:
    """All submissions, counted from `WARM_SECONDS` before the curtain rises, and all faults, counted from then on."""

    submissions: tuple[Submission, ...]
    troubles: tuple[StorageTrouble, ...] = ()


def arranged(seed: int) -> Story:
    """The story of this seed."""
    acts = range(int(_PLAY_SECONDS // _ACT_SECONDS))
    events = [one for act in acts for one in _burst(seed, act)]
    troubles = tuple(_trouble(seed, act) for act in acts)
    quiet = (*_around(events), *(_before(trouble) for trouble in troubles))
    everyday = _without_noise(submissions(DEMANDS, seed, WARM_SECONDS + _PLAY_SECONDS, _FIRST_HOUR), quiet)
    queued = [one for trouble in troubles for one in _behind(trouble)]
    shown = (*_before_the_curtain(), *everyday, *events, *queued)
    return Story(tuple(sorted(shown, key=lambda one: (one.at, one.job.tenant, one.job.name))), troubles)


def _before_the_curtain() -> Iterator[Submission]:
    """A long training over two nodes, and the backlog of those who take whatever is free."""
    yield Submission(0.0, JobSpec("pretrain", "nlp", 2, 8, 5 * 24 * HOUR, checkpoint_seconds=HOUR))
    for number in range(44):
        job = JobSpec(f"grid-{number:02}", "research", 1, 1, (9 + number % 6) * HOUR, checkpoint_seconds=HOUR)
        yield Submission(0.25 * HOUR, job)


def _burst(seed: int, act: int) -> Iterator[Submission]:
    chance = Chance(seed).apart("burst", act)
    at = WARM_SECONDS + act * _ACT_SECONDS + chance.between(20, 28) * _MINUTE
    for number in range(16):
        name, run_seconds = f"eval-{act + 1}-{number + 1}", chance.between(60, 80) * _MINUTE
        yield Submission(at, JobSpec(name, "vision", 1, 1, run_seconds, checkpoint_seconds=HOUR))


class _Quiet(NamedTuple):
    """A time in which a tenant hands in nothing but what the story wants."""

    tenant: str
    begins: float
    ends: float


def _around(events: Iterable[Submission]) -> set[_Quiet]:
    """What follows a burst can be seen to follow from the burst."""
    return {_Quiet(one.job.tenant, one.at - _MINUTE, one.at + _QUIET_SECONDS) for one in events}


def _before(trouble: StorageTrouble) -> _Quiet:
    """Nobody is just being helped when his storage gets slow: no look could tell the two apart so early."""
    begins = WARM_SECONDS + trouble.begins
    return _Quiet(trouble.tenant, begins - _QUIET_SECONDS, begins)


def _without_noise(everyday: Iterable[Submission], quiet: Collection[_Quiet]) -> Iterator[Submission]:
    for one in everyday:
        if not any(one.job.tenant == time.tenant and time.begins < one.at < time.ends for time in quiet):
            yield one


def _trouble(seed: int, act: int) -> StorageTrouble:
    chance = Chance(seed).apart("trouble", act)
    begins = act * _ACT_SECONDS + chance.between(84, 92) * _MINUTE
    return StorageTrouble("speech", begins, begins + chance.between(100, 120) * _MINUTE)


def _behind(trouble: StorageTrouble) -> Iterator[Submission]:
    """Work that comes while the storage is slow, and finds its tenant's quota still held by slow jobs."""
    at = WARM_SECONDS + trouble.begins + 8 * _MINUTE
    for number in range(18):
        name = f"asr-{int(trouble.begins // _ACT_SECONDS) + 1}-{number + 1}"
        yield Submission(at, JobSpec(name, trouble.tenant, 1, 1, 25 * _MINUTE, checkpoint_seconds=HOUR))

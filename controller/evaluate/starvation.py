"""Recipe `starvation`: real queues that stood for an hour or more, found from minute counts with gaps, and told apart.

What is true comes from all minutes, what is found from those that are left: an episode is a run of minutes in which
GPUs are waited for; its class is whether in most of them as many of the tenant's own GPUs stood idle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from collector.model.snapshot import WaitingName
from controller.evaluate.counts import PERIOD_SECONDS, Counts, Telemetry, by_minute
from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell, summed_up
from controller.evaluate.score import SHIPPED
from controller.policy.engine import decide
from controller.policy.finding import Finding
from controller.policy.ledger import Ledger
from controller.simulate.chance import Chance
from controller.traces.helios import read_minutes

EPISODE_MINUTES: Final = 60
LIMIT_SECONDS: Final = EPISODE_MINUTES * PERIOD_SECONDS - 1.0
"""So that an hour of waiting is over the limit when it is reached."""
REMOVED_RATIO: Final = 0.05
_OWN_IDLE: Final = frozenset({WaitingName.BLOCKED, WaitingName.BROKEN})
"""Names of waiting beside own GPUs that nobody uses; the others say that what was agreed is used up."""

Rows = Mapping[str, Mapping[float, Counts]]
"""Tenant → minute → counts."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A tenant waits from the minute `begin` to the minute `end`, both included."""

    tenant: str
    begin: float
    end: float
    own_idle: bool


@dataclass(slots=True)
class Detection:
    """A finding that was there in tick after tick: first and last minute, and how often it was named own-idle."""

    tenant: str
    first: float
    last: float
    named_own_idle: list[bool] = field(default_factory=list)

    @property
    def own_idle(self) -> bool:
        """By most of its ticks."""
        return 2 * sum(self.named_own_idle) > len(self.named_own_idle)


def episodes(rows: Rows) -> tuple[Episode, ...]:
    """All that are long enough, from every minute there is; a minute without a row ends one."""
    found: list[Episode] = []
    for tenant, minutes in sorted(rows.items()):
        begin, idle = None, list[bool]()
        for at in (*sorted(minutes), float("inf")):
            counts = minutes.get(at)
            if begin is not None and (counts is None or not counts.pending or at > begin + len(idle) * PERIOD_SECONDS):
                if len(idle) >= EPISODE_MINUTES:
                    end = begin + (len(idle) - 1) * PERIOD_SECONDS
                    found.append(Episode(tenant, begin, end, 2 * sum(idle) > len(idle)))
                begin, idle = None, []
            if counts is not None and counts.pending:
                begin = at if begin is None else begin
                idle.append(counts.idle >= counts.pending)
    return tuple(found)


def detections(rows: Rows) -> tuple[Detection, ...]:
    """What the shipped loop finds in these minutes, tick after tick."""
    telemetry, ledger = Telemetry(sorted(rows), LIMIT_SECONDS), Ledger()
    open_now: dict[str, Detection] = {}
    found: list[Detection] = []
    for at, minute in by_minute(rows):
        outcome = decide(telemetry.look(at, minute), SHIPPED, SHIPPED.mode, ledger, ())
        ledger = outcome.ledger
        waiting = _waiting(outcome.findings)
        for counts in minute:
            kind = waiting.get(counts.tenant)
            if kind is None:
                open_now.pop(counts.tenant, None)
                continue
            if counts.tenant not in open_now:
                open_now[counts.tenant] = Detection(counts.tenant, at, at)
                found.append(open_now[counts.tenant])
            open_now[counts.tenant].last = at
            open_now[counts.tenant].named_own_idle.append(kind in _OWN_IDLE)
    return tuple(found)


def _waiting(findings: Iterable[Finding]) -> Mapping[str, WaitingName]:
    return {finding.tenant: finding.kind for finding in findings if isinstance(finding.kind, WaitingName)}


def scored(truth: Sequence[Episode], found: Sequence[Detection]) -> dict[str, float]:
    """A detection is right when it begins within an episode; an episode is found when a right one belongs to it."""
    right = 0
    delays, classes = list[float](), list[bool]()
    for one in found:
        right += any(e.tenant == one.tenant and e.begin <= one.first <= e.end for e in truth)
    for episode in truth:
        due = episode.begin + (EPISODE_MINUTES - 1) * PERIOD_SECONDS
        own = [d for d in found if d.tenant == episode.tenant and d.first <= episode.end and d.last >= episode.begin]
        if own:
            delays.append(max(0.0, own[0].first - due) / PERIOD_SECONDS)
            classes.append(own[0].own_idle == episode.own_idle)
    return {
        "recall": len(delays) / len(truth) if truth else float("nan"),
        "precision": right / len(found) if found else float("nan"),
        "max_detection_periods": max(delays, default=float("nan")),
        "class_accuracy": sum(classes) / len(classes) if classes else float("nan"),
    }


def thinned(rows: Rows, seed: int, ratio: float = REMOVED_RATIO) -> Rows:
    """The same without some minutes of each tenant, by chance."""
    left: dict[str, dict[float, Counts]] = {}
    for tenant, minutes in rows.items():
        chance = Chance(seed).apart("removed", tenant)
        left[tenant] = {at: counts for at, counts in sorted(minutes.items()) if chance.uniform() >= ratio}
    return left


def load_rows(folder: TraceFolder) -> Rows:
    """The minutes of every tenant that there is a file of. Raises InputError when there is none."""
    rows: dict[str, Mapping[float, Counts]] = {}
    for path in folder.files("helios-earth", "vc"):
        one = read_minutes(path)
        columns = zip(one.at_seconds, one.running_gpus, one.pending_gpus, one.idle_gpus, strict=True)
        rows[one.tenant] = {at: Counts(one.tenant, running, pending, idle) for at, running, pending, idle in columns}
    return rows


def _load(folder: TraceFolder) -> Run:
    rows = load_rows(folder)

    def run(seeds: int, tell: Tell) -> Outcome:
        truth, per_seed = episodes(rows), list[SeedResult]()
        for seed in range(seeds):
            tell(seed / seeds, f"one month of minutes, seed {seed}")
            per_seed.append(SeedResult(seed, scored(truth, detections(thinned(rows, seed)))))
        details = {
            "episodes": float(len(truth)),
            "own_idle_episodes": float(sum(one.own_idle for one in truth)),
            "tenants": float(len(rows)),
            "worst_max_detection_periods": max(one.results["max_detection_periods"] for one in per_seed),
        }
        return Outcome(summed_up(per_seed, STARVATION.goals), tuple(per_seed), details)

    return run


STARVATION: Final = Recipe(
    "starvation",
    "Queues that stood for an hour, in a month of real telemetry with 5 % of the minutes gone: found, and told apart.",
    "Helios Earth, May 2020: 127 episodes in eleven tenants, 13 of them beside own idle GPUs",
    (
        Goal("recall", Sense.AT_LEAST, 0.99),
        Goal("precision", Sense.AT_LEAST, 0.95),
        Goal("max_detection_periods", Sense.AT_MOST, 2.0),
        Goal("class_accuracy", Sense.AT_LEAST, 0.95),
    ),
    _load,
)

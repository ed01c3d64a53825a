"""One tick: observe, assess, decide, guard, act, verify, each through its own room, and a report that tells it all.

A source that fails makes the tick hold and say so; it never ends the loop. Only a lost lease does (FenceError).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from collector.sources.errors import CredentialsProblem, SourceError
from controller.actuators.port import Actuator
from controller.api.documents import Documents
from controller.api.errors import InputError, InvariantError
from controller.api.policy import Mode, Policy
from controller.knobs.marks import adopted
from controller.knobs.own import Baseline
from controller.policy.engine import Outcome, decide
from controller.policy.ledger import Ledger
from controller.runtime.acting import Acting, Fence, Written
from controller.runtime.advice import Advice, Advised, advice
from controller.runtime.configuration import Configuration
from controller.runtime.control import Control
from controller.runtime.ledger_store import LedgerLost
from controller.runtime.observe import Observation, Observer
from controller.runtime.ports import BaselineReader, LedgerKeeper


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one tick saw, decided and wrote."""

    at: float
    mode: Mode
    paused: str
    outcome: Outcome | None
    observation: Observation | None
    ledger: Ledger
    written: tuple[Written, ...] = ()
    problems: tuple[str, ...] = ()
    """What was refused or could not be read, each a sentence."""
    wake_at: float = 0.0
    budget_remaining: Mapping[str, float] = field(default_factory=dict)
    """Budget → share left, between 0 and 1."""
    advice: tuple[Advice, ...] = ()
    """What a person may apply by hand, in mode Recommend."""

    @property
    def sentence(self) -> str:
        """The one sentence of this tick."""
        if self.outcome is None:
            return f"Held: {self.problems[0]}" if self.problems else "Held."
        return self.outcome.sentence


@dataclass(slots=True)
class Controller:
    """The loop's body. `tick` may be called by a timer, by a doorbell, or by a test."""

    configuration: Configuration
    observer: Observer
    store: LedgerKeeper
    actuator: Actuator
    fence: Fence
    baseline_source: BaselineReader
    read_control: Callable[[], Control]
    clock: Callable[[], float]
    ceiling: Mode = Mode.OBSERVE
    time_scale: float = 1.0
    ledger: Ledger = field(default_factory=Ledger)
    _policy: Policy = field(default_factory=Policy)
    """In force in the last tick that could read one."""
    _paused: str = ""
    _baseline: Baseline | None = None
    _advised: Advised = field(default_factory=Advised)

    def tick(self) -> TickReport:
        """Look, decide, write. Raises FenceError when the lease was lost on the way."""
        now, problems = self.clock(), list[str]()
        try:
            documents = self._documents(problems)
            self._policy = policy = documents.policy.scaled(self.time_scale)
            self._paused = self.read_control().paused or ("paused in the policy" if policy.paused else "")
            baseline = self._read_baseline(problems)
            self.ledger = self.store.reload(self.ledger)
            problems += [f"ledger entry {key}: {why}" for key, why in self.store.unreadable.items()]
            observation = self.observer.look(documents.site.scaled(self.time_scale), baseline, now)
            return self._decided(policy, baseline, observation, problems)
        except (InputError, SourceError, CredentialsProblem, LedgerLost) as error:
            return self._held(now, str(error), *problems)
        except InvariantError as error:
            return self.latch(str(error))

    def latch(self, reason: str) -> TickReport:
        """Decide nothing new from now on, until a person has looked and lifted it; the report that says so."""
        self.ledger = replace(self.ledger, latched=reason)
        return self._held(self.clock(), f"latched: {reason}")

    def keep_latch(self) -> None:
        """Write a latch to where a new start finds it, if we may write. Raises SourceError, LedgerLost."""
        if self.ledger.latched and self.ceiling is not Mode.OBSERVE:
            self.ledger = self.store.reload(self.ledger)
            self.store.save(self.ledger)

    def _held(self, now: float, *problems: str) -> TickReport:
        mode, wake_at = min(self.ceiling, self._policy.mode), now + self._policy.cadence.tick_seconds
        return TickReport(now, mode, self._paused, None, None, self.ledger, (), problems, wake_at)

    def _decided(self, policy: Policy, baseline: Baseline, observation: Observation, problems: list[str]) -> TickReport:
        snapshot = observation.snapshot
        self._adopt(observation, problems)
        policy = replace(policy, paused=bool(self._paused))
        told = self._advice(policy, baseline, observation)
        outcome = decide(snapshot, policy, self.ceiling, self.ledger, observation.targets)
        acting = Acting(self.actuator, self.store, self.fence, baseline, observation.picture, snapshot.site, self.clock)
        self.ledger = outcome.ledger
        if not snapshot.blind:
            self.ledger = acting.bring_about(outcome.ledger, observation.targets)
        return TickReport(
            at=snapshot.taken_at,
            mode=min(self.ceiling, policy.mode),
            paused=self._paused,
            outcome=outcome,
            observation=observation,
            ledger=self.ledger,
            written=tuple(acting.written),
            problems=(*problems, *acting.problems, *filter(None, [self.store.let_go])),
            wake_at=min(outcome.wake_at, snapshot.taken_at + policy.cadence.tick_seconds),
            budget_remaining=outcome.used.remaining(policy.budgets),
            advice=told,
        )

    def _adopt(self, observation: Observation, problems: list[str]) -> None:
        """Changes that only their marks tell of: applied by a person on our advice, or lost with the ledger."""
        for marked in adopted(self.ledger.changes, observation.marks, observation.snapshot.taken_at):
            change = self._advised.recognised(marked)
            if change is None:
                continue
            if change is marked:
                problems.append(f"change {change.id} was adopted from its marks: the ledger did not know it")
            self.ledger = self.ledger.with_change(change)

    def _advice(self, policy: Policy, baseline: Baseline, observation: Observation) -> tuple[Advice, ...]:
        """In mode Recommend: what Enforce would begin now, for a person to apply."""
        if min(self.ceiling, policy.mode) is not Mode.RECOMMEND:
            return ()
        enforced, snapshot = replace(policy, mode=Mode.ENFORCE), observation.snapshot
        outcome = decide(snapshot, enforced, Mode.ENFORCE, self.ledger, observation.targets)
        told = advice(self.ledger, outcome.ledger, baseline, snapshot.site, observation.targets)
        self._advised.remember(told)
        return told

    def _documents(self, problems: list[str]) -> Documents:
        documents, mistake = self.configuration.reload()
        if mistake is not None:
            problems.append(f"the last good documents stay in force: {mistake}")
        return documents

    def _read_baseline(self, problems: list[str]) -> Baseline:
        """The baseline, or the last good one while the present one is broken; empty where there never was one."""
        try:
            self._baseline = self.baseline_source.read()
        except (InputError, OSError) as error:
            last = "there never was one" if self._baseline is None else "the last good one stays in force"
            problems.append(f"the baseline can not be read, {last}: {error}")
        return self._baseline if self._baseline is not None else Baseline()

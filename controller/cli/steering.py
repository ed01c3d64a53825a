"""What the verbs that steer share: the baseline, a one-shot controller without a watch, answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import typer

from collector.assemble.assemble import NEEDED_KINDS
from collector.model.objects import Picture
from collector.model.snapshot import Evidence
from collector.sources.kubernetes_api import KubernetesApi
from collector.sources.kubernetes_lists import look_once
from controller.api.errors import InputError, Mistake
from controller.api.policy import Mode
from controller.api.shown_values import told
from controller.cli.output import OK, REFUSED, UNREACHABLE
from controller.cli.values import path_for
from controller.runtime.assembly import Settings, controller_for, evidence_source
from controller.runtime.control import BaselineSource
from controller.runtime.ledger_store import LedgerLost
from controller.runtime.observe import EvidenceSource
from controller.runtime.tick import Controller

Baseline: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        parser=path_for("--baseline"),
        help="Baseline manifest; else ConfigMap trimtab-baseline.",
        show_default=False,
    ),
]
T = TypeVar("T")
_TRIES = 5


@dataclass(frozen=True, slots=True)
class OneLook:
    """Lists instead of a watch: enough for a program that ticks once."""

    api: KubernetesApi

    def picture(self, now: float) -> Picture:
        """A fresh picture. Raises SourceError when the API server can not be reached at all."""
        return look_once(self.api, now)


@dataclass(frozen=True, slots=True)
class NoLease:
    """For a person at the command line: the ledger's own version guards against a running controller."""

    def check(self) -> None:
        """Always ours."""


def settings_for(
    config: list[Path],
    namespace: str,
    baseline: Path | None,
    cluster: str = "default",
    time_scale: float = 1.0,
    prometheus_url: str | None = None,
) -> Settings:
    """Settings of a one-shot program, with the highest ceiling: what it may do is in the verb itself."""
    return Settings(tuple(config), cluster, namespace, Mode.ENFORCE, time_scale, baseline, prometheus_url)


def one_shot(settings: Settings, api: KubernetesApi, evidence: EvidenceSource | None = None) -> Controller:
    """A controller that looks by lists and holds no lease."""
    return controller_for(settings, api, OneLook(api), evidence or evidence_source(settings), NoLease())


def never_decides(why: str) -> EvidenceSource:
    """Evidence that is always blind: reverts go on, nothing new is decided."""
    return lambda site, now: Evidence(blind=(why,))


def checked_baseline(controller: Controller) -> None:
    """A baseline file that a person names must be good from the start: there is no earlier one to go by.

    Raises InputError.
    """
    source = controller.baseline_source
    if isinstance(source, BaselineSource) and source.file is not None:
        source.read()


def blind_code(reasons: Sequence[str], picture: Picture) -> int:
    """The exit code of a program that could not act because it did not see, for these reasons."""
    if not reasons:
        return OK
    unread = picture.unreadable.keys() & set(NEEDED_KINDS)
    return REFUSED if len(unread) == len(reasons) and unread <= picture.forbidden else UNREACHABLE


def unless_crossed(write: Callable[[], T]) -> T | None:
    """What a write of the ledger gives; None when a running controller wrote it in between, every time of several."""
    for _ in range(_TRIES):
        try:
            return write()
        except LedgerLost:
            continue  # it looks again
    return None


def now() -> float:
    """Wall clock, epoch seconds."""
    return time.time()


def mode_of(word: str) -> Mode:
    """The mode of that word. Raises InputError."""
    found = {mode.word: mode for mode in Mode}.get(word)
    if found is None:
        raise InputError((Mistake("--max-mode", told(word), "Observe, Recommend or Enforce"),))
    return found

"""What keeps the history beside the collector: the ledger's changes as steps, and problems that stop nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from collector.accounting.address import read_address
from collector.accounting.recorder import Recorder
from collector.accounting.store import Store, Wanted
from collector.sources.errors import Forbidden
from controller.policy.change import Change, Stage, Verdict
from controller.runtime.keeping import Keeping, policy_steps
from tests.pictures import NOW
from tests.unit.controller.cli.test_explain import CHANGE


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(read_address(str(tmp_path / "history.db")))
    yield made
    made.close()


def test_a_change_tells_the_steps_it_has_gone_so_far() -> None:
    change = replace(CHANGE, judged_at=NOW + 90)
    told = [(step.stage, step.at - NOW, step.verdict, step.reason) for step in policy_steps("c1", change)]
    assert told == [
        ("intended", 0, "", "vision lacks 8 GPUs while nlp borrows 16."),
        ("on-trial", 30, "", ""),
        ("judged", 90, "helped", "vision/eval became Ready after 40s."),
    ]
    ended = replace(change, stage=Stage.ENDED, returning_since=NOW + 100, return_reason="expired", ended_at=NOW + 200)
    assert [step.stage for step in policy_steps("c1", ended)][-2:] == ["returning", "ended"]
    assert list(policy_steps("c1", ended))[-1].verdict == Verdict.HELPED.value


def test_changes_reach_the_history_and_are_read_again_now_and_then(store: Store) -> None:
    asked: list[int] = []

    def changes() -> Iterable[Change]:
        asked.append(1)
        return [CHANGE]

    keeping = Keeping(Recorder(store, "c1", 1e9), "c1", changes)
    for _ in range(6):
        assert keeping.write() == {}
    assert len(asked) == 2
    assert [step.stage for step in store.policy_steps(Wanted())] == ["intended", "on-trial"]


def test_a_ledger_that_may_not_be_read_is_told_and_the_rest_is_kept(store: Store) -> None:
    def changes() -> Iterable[Change]:
        raise Forbidden("GET", "configmaps/trimtab-ledger", "no right", status=403)

    keeping = Keeping(Recorder(store, "c1", 1e9), "c1", changes)
    problems = keeping.write()
    assert problems.keys() == {"ledger"}
    assert "policy changes: GET configmaps/trimtab-ledger: 403: no right" in problems["ledger"]
    assert keeping.close().keys() == {"ledger"}
    store.begin_reading()

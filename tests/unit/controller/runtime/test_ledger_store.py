"""The ledger's store: durable before it returns, never over somebody else's, never without what it can not read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from controller.policy.change import Change
from controller.policy.change import Stage as ChangeStage
from controller.policy.ledger import Ledger
from controller.runtime.ledger_store import LARGEST_BYTES, LedgerLost, LedgerStore
from controller.runtime.reverting import lifted_latch
from tests.builders import a_change
from tests.unit.controller.runtime.memory_api import MemoryApi
from tests.unit.controller.runtime.stage import CONFIG_MAPS, HOME, Stage

PATH = f"{CONFIG_MAPS}/trimtab-ledger"


@pytest.fixture
def api(tmp_path: Path) -> MemoryApi:
    return Stage(tmp_path).api


def change(identifier: str) -> Change:
    return a_change(id=identifier, created_at=1.0, expires_at=2.0)


def test_what_is_saved_is_read_by_the_next(api: MemoryApi) -> None:
    ledger = Ledger((change("a"), change("b")))
    store = LedgerStore(api, HOME)
    store.load()
    store.save(ledger)
    assert LedgerStore(api, HOME).load() == ledger


def test_what_is_saved_already_is_not_written_again(api: MemoryApi) -> None:
    store = LedgerStore(api, HOME)
    store.load()
    store.save(Ledger())
    assert api.writes == []
    store.save(Ledger((change("a"),)))
    api.asked.clear()
    store.save(Ledger((change("a"),)))
    assert api.writes == []


def test_of_two_that_write_the_second_is_told(api: MemoryApi) -> None:
    first, second = LedgerStore(api, HOME), LedgerStore(api, HOME)
    first.load()
    first.save(Ledger((change("a"),)))
    second.load()
    first.save(Ledger((change("a"), change("b"))))
    with pytest.raises(LedgerLost):
        second.save(Ledger((change("a"), change("c"))))
    assert [item.id for item in second.load().changes] == ["a", "b"]


def test_of_two_that_make_it_the_second_takes_nothing_out(api: MemoryApi) -> None:
    first, second = LedgerStore(api, HOME), LedgerStore(api, HOME)
    first.load()
    second.load()
    first.save(Ledger((change("a"),)))
    with pytest.raises(LedgerLost):
        second.save(Ledger((change("b"),)))
    assert [item.id for item in second.load().changes] == ["a"]


def test_a_ledger_that_was_deleted_is_written_anew(api: MemoryApi) -> None:
    store = LedgerStore(api, HOME)
    store.load()
    store.save(Ledger((change("a"),)))
    del api.objects[PATH]
    store.save(Ledger((change("a"), change("b"))))
    assert [item.id for item in LedgerStore(api, HOME).load().changes] == ["a", "b"]


def test_an_entry_that_is_no_change_is_set_aside_and_kept(api: MemoryApi) -> None:
    store = LedgerStore(api, HOME)
    store.load()
    store.save(Ledger((change("a"),)))
    api.objects[PATH]["data"]["broken"] = "{not json"
    assert [item.id for item in store.load().changes] == ["a"]
    assert list(store.unreadable) == ["broken"]
    store.save(Ledger((change("a"), change("b"))))
    assert api.objects[PATH]["data"]["broken"] == "{not json"


def test_nothing_is_said_of_a_broken_entry_once_it_is_gone(api: MemoryApi) -> None:
    store = LedgerStore(api, HOME)
    store.load()
    store.save(Ledger((change("a"),)))
    api.objects[PATH]["data"]["broken"] = "{not json"
    store.load()
    del api.objects[PATH]
    store.load()
    assert store.unreadable == {}


def test_only_what_lives_in_memory_outlasts_a_new_reading(api: MemoryApi) -> None:
    store = LedgerStore(api, HOME)
    before = Ledger((change("a"),), {("vision", "h100", "starved"): 1}, "a fight")
    after = store.reload(before)
    assert (after.changes, after.confirmations, after.latched) == ((), before.confirmations, "a fight")


def test_a_latch_outlasts_a_new_start(api: MemoryApi) -> None:
    store = LedgerStore(api, HOME)
    store.save(replace(store.load(), latched="levels below zero"))
    fresh = LedgerStore(api, HOME)
    assert fresh.reload(Ledger()).latched == "levels below zero"
    assert fresh.unreadable == {}
    fresh.save(replace(fresh.load(), changes=(change("a"),)))
    assert LedgerStore(api, HOME).load() == Ledger((change("a"),), latched="levels below zero")


def test_a_latch_that_a_person_lifted_is_lifted_for_the_running_controller(api: MemoryApi) -> None:
    store = LedgerStore(api, HOME)
    before = replace(store.load(), latched="levels below zero")
    store.save(before)
    assert lifted_latch(LedgerStore(api, HOME)) == "levels below zero"
    assert lifted_latch(LedgerStore(api, HOME)) == ""
    assert store.reload(before).latched == ""


@pytest.mark.parametrize("deleted", [True, False])
def test_a_latch_that_was_never_written_or_whose_ledger_is_gone_stays(api: MemoryApi, deleted: bool) -> None:
    store = LedgerStore(api, HOME)
    store.load()
    latched = Ledger((change("a"),), latched="levels below zero")
    store.save(latched if deleted else replace(latched, latched=""))
    if deleted:
        del api.objects[PATH]
    assert store.reload(latched).latched == "levels below zero"


def test_a_ledger_that_outgrows_its_config_map_lets_go_of_the_oldest_that_ended(api: MemoryApi) -> None:
    long, count = "x" * 50_000, 30
    many = [replace(change(f"c{number:02}"), created_at=float(number), reason=long) for number in range(count)]
    ledger = Ledger((many[0], *(replace(one, stage=ChangeStage.ENDED) for one in many[1:])))
    store = LedgerStore(api, HOME)
    store.load()
    store.save(ledger)
    kept = [one.id for one in LedgerStore(api, HOME).load().changes]
    assert kept[0] == "c00", "it is in force"
    assert kept[1:] == [f"c{number:02}" for number in range(count - len(kept) + 1, count)], "the youngest"
    assert sum(map(len, api.objects[PATH]["data"].values())) <= LARGEST_BYTES
    assert store.let_go.startswith(f"ConfigMap trimtab-ledger is full: the oldest {count - len(kept)} ended changes")
    store.load()
    assert store.let_go == ""

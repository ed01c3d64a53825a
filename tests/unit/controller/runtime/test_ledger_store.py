"""The ledger's store: durable before it returns, never over somebody else's, never without what it can not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.policy.change import Change, Forecast
from controller.policy.ledger import Ledger
from controller.runtime.ledger_store import LedgerLost, LedgerStore
from tests.unit.controller.runtime.memory_api import MemoryApi
from tests.unit.controller.runtime.stage import CONFIG_MAPS, HOME, Stage

PATH = f"{CONFIG_MAPS}/trimtab-ledger"


@pytest.fixture
def api(tmp_path: Path) -> MemoryApi:
    return Stage(tmp_path).api


def change(identifier: str) -> Change:
    return Change(
        id=identifier,
        policy="default",
        tenant="vision",
        pool="h100",
        source="trimtab-shared",
        destination="trimtab-vision",
        amount=8,
        reason="",
        finding="",
        forecast=Forecast((), 0.0),
        created_at=1.0,
        expires_at=2.0,
    )


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

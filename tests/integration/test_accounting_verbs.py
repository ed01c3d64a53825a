"""`trimtab accounting list` and `export` on a real file: rows, filters, gaps, forms, and mistakes in one sentence."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from collector.accounting.address import read_address
from collector.accounting.schema.rows import Batch, PolicyStep, State
from collector.accounting.store import Store
from controller.cli import run_collector as command
from controller.cli.main import run
from tests.integration.test_run_collector import DOCUMENTS, KUBECONFIG
from tests.unit.collector.accounting.lives import CLUSTER, START, Life, Looker, turns
from tests.unit.collector.accounting.test_derive import WHOLE

STEP = PolicyStep(
    CLUSTER, "c-1", "judged", START, "default", "vision", "h100", "a", "b", 8, "helped", "=it became Ready"
)
SPAN = ["--from", "2025-06-15T15:06:40Z", "--to", "2025-06-15T16:06:40Z"]
"""From START on, for an hour."""


@pytest.fixture
def history(tmp_path: Path) -> str:
    gone = Life("=odd", turns((State.PENDING, 50), (State.GONE, 700)), tenant="nlp")
    looker = Looker([WHOLE, gone])
    for after in (0, 60, 110, 140, 160, 200, 260, 320, 380, 420, 480, 510, 560, 600, 2000):
        looker.look(after)
    path = tmp_path / "history.db"
    store = Store(read_address(str(path)))
    store.begin_writing()
    for batch in (*looker.batches, Batch(policy=(STEP,))):
        store.write(batch)
    store.close()
    return str(path)


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["accounting", "list", *arguments, *SPAN, "-o", "json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_what_happened_is_listed_with_its_gaps(history: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = listed(capsys, "--accounting", history)
    assert [row["state"] for row in document["rows"] if row["tenant"] == "vision"] == [
        "pending", "admitted", "running", "evicted", "admitted", "finished",
    ]  # fmt: skip
    evicted = next(row for row in document["rows"] if row["state"] == "evicted")
    assert (evicted["evicted_by"], evicted["why"]) == ("nlp", "Preempted")
    assert (evicted["at"], evicted["waited_seconds"]) == ("2025-06-15T15:15:00.000Z", 130)
    assert document["gaps"][0] == {"from": "2025-06-15T15:16:40Z", "to": "2025-06-15T15:40:00Z"}
    assert document["schema_version"] == 1


def test_rows_are_filtered_by_tenant_and_span_and_bounded(history: str, capsys: pytest.CaptureFixture[str]) -> None:
    own = listed(capsys, "--accounting", history, "--tenant", "nlp")
    assert [row["state"] for row in own["rows"]] == ["pending", "gone"]
    assert own["rows"][1]["seen_before"] == "2025-06-15T15:16:40.000Z", "nobody looked: a span, no moment"
    last = listed(capsys, "--accounting", history, "--limit", "1")
    assert (len(last["rows"]), last["rows_left_out"]) == (1, 7)
    policy = listed(capsys, "--accounting", history, "--what", "policy")
    assert [(row["change"], row["verdict"]) for row in policy["rows"]] == [("c-1", "helped")]


@pytest.mark.parametrize("what", ["workloads", "policy"])
def test_people_get_a_table(history: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["accounting", "list", "--accounting", history, "--what", what, *SPAN]) == 0
    told = capsys.readouterr().out
    assert ("by nlp Preempted" if what == "workloads" else "judged: helped") in told
    assert "Gaps: nobody looked" in told


def test_the_address_may_stand_in_the_environment(
    history: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIMTAB_ACCOUNTING", history)
    assert len(listed(capsys)["rows"]) == 8


def test_csv_has_every_row_and_no_formula(history: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["accounting", "export", "--accounting", history]) == 0
    told = capsys.readouterr()
    assert told.err == "8 rows\n"
    rows = list(csv.DictReader(io.StringIO(told.out, newline="")))
    assert {row["name"] for row in rows} == {"w", "'=odd"}
    assert [row["waited_seconds"] for row in rows if row["name"] == "w"][-1] == "330.0"
    out = tmp_path / "rows.csv"
    assert run(["accounting", "export", "--accounting", history, "--out", str(out)]) == 0
    assert out.read_bytes().decode() == told.out
    assert run(["accounting", "export", "--accounting", history, "--what", "policy"]) == 0
    assert "'=it became Ready" in capsys.readouterr().out


def test_parquet_keeps_types_and_nothing_as_nothing(history: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.parquet"
    assert run(["accounting", "export", "--accounting", history, "-o", "parquet", "--out", str(out)]) == 0
    table = parquet.read_table(out)
    assert table.num_rows == 8
    kinds = {field.name: str(field.type) for field in table.schema}
    assert (kinds["at"], kinds["gpus"], kinds["state"]) == ("timestamp[ms, tz=UTC]", "int64", "string")
    assert (kinds["seen_before"], table["seen_before"].null_count) == ("timestamp[ms, tz=UTC]", 7)
    empty = [*SPAN[:2], "--to", "2025-06-15T15:06:41Z", "--tenant", "nobody"]
    assert run(["accounting", "export", "--accounting", history, "-o", "parquet", "--out", str(out), *empty]) == 0
    assert parquet.read_table(out).schema == table.schema


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["list"], 2, "--accounting: got nothing, expected where the history is kept"),
        (["list", "--accounting", "mysql://h/d"], 2, "--accounting: got mysql://h/d, expected a file such as"),
        (["list", "--accounting", "mysql://u:secret@h/d"], 2, "got mysql://…@h/d"),
        (["list", "--accounting", "/nonexistent/history.db"], 3, "there is no such file"),
        (["list", "--accounting", "postgresql://u:secret@127.0.0.1:1/d"], 3, "postgresql://u:***@127.0.0.1:1/d"),
        (["list", "--accounting", "HISTORY", "--from", "yesterday"], 2, "--from: got yesterday, expected a date"),
        (["list", "--accounting", "HISTORY", "--to", "2000-01-01"], 2, "expected a moment before --to"),
        (["list", "--accounting", "HISTORY", "--cluster", "c9"], 2, "got c9, expected one that the history knows: c1"),
        (["export", "--accounting", "HISTORY", "-o", "parquet"], 2, "--out: got nothing, expected a file"),
        (
            ["export", "--accounting", "HISTORY", "--out", "/nonexistent/x"],
            2,
            "--out /nonexistent/x: got no such file or folder",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_an_exit_code(
    history: str, arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [history if word == "HISTORY" else word for word in arguments]
    assert run(["accounting", *asked]) == code
    told = capsys.readouterr()
    assert said in told.err
    assert "secret" not in told.err
    assert "Traceback" not in told.err


def test_without_pyarrow_it_says_what_to_install(
    history: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.cli.accounting.find_spec", lambda name: None)
    assert run(["accounting", "export", "--accounting", history, "-o", "parquet", "--out", "x"]) == 2
    assert ".[parquet]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--accounting", "mysql://u:secret@h/d"], "--accounting: got mysql://…@h/d, expected a file such as"),
        (
            ["--accounting", "x.db", "--accounting-keep", "1h"],
            "--accounting-keep: got 1h, expected a duration of a day",
        ),
        (["--accounting", "x.db", "--accounting-keep", "for ever"], "--accounting-keep: got for ever"),
    ],
)
def test_a_collector_that_can_keep_no_such_history_does_not_start(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "log_as_json", lambda: None)
    config, kubeconfig = tmp_path / "documents.yaml", tmp_path / "kubeconfig"
    config.write_text(DOCUMENTS, encoding="utf-8")
    kubeconfig.write_text(KUBECONFIG, encoding="utf-8")
    assert run(["run", "collector", "--config", str(config), "--kubeconfig", str(kubeconfig), *arguments]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert "secret" not in told.err

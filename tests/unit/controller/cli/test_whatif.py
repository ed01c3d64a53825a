"""`trimtab whatif` and `trimtab replay`: what people and scripts see, from a trace and from the history."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from collector.accounting.address import read_address
from collector.accounting.schema.rows import Batch, Look, State, Transition
from collector.accounting.store import Store
from controller.cli.main import run

DAY = 86400.0
BEGIN = 20_000 * DAY
DOCUMENTS = """apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  pools: [{name: h100, resource: nvidia.com/gpu, engine: kueue, flavor: h100}]
  tiers: [{name: standard, rank: 50, startWithin: {single-node: 15m}}]
  cadence: {tick: 10m, dwell: 30m}
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: giver}
spec: {tier: standard, members: {namespaces: [giver]}, pools: [{pool: h100, guarantee: 8, floating: 24}]}
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: taker}
spec: {tier: standard, members: {namespaces: [taker]}, pools: [{pool: h100, guarantee: 8, floating: 8}]}
"""


class Called(NamedTuple):
    """How a call ended, and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str


Call: TypeAlias = Callable[..., Called]


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: str) -> Called:
        code = run(arguments)
        return Called(code, *capsys.readouterr())

    return call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows = [
        f"{tenant},{BEGIN + 600 * number},7200,8"
        for number in range(60)
        for tenant in ("taker", "giver")
        if tenant == "taker" or number % 2
    ]
    (tmp_path / "trace.csv").write_text("\n".join(["tenant,submitted,run_seconds,gpus", *rows]), encoding="utf-8")
    (tmp_path / "quotas.csv").write_text("tenant,gpus\ngiver,32\ntaker,16\n", encoding="utf-8")
    (tmp_path / "documents.yaml").write_text(DOCUMENTS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def history(tmp_path: Path) -> str:
    place = str(tmp_path / "history.db")
    store = Store(read_address(place))
    store.begin_writing()
    rows = [row for number in range(40) for row in _life(number)]
    store.write(Batch(rows=tuple(rows), looks=(Look("default", BEGIN, BEGIN + DAY),)))
    store.close()
    return place


def _life(number: int) -> list[Transition]:
    """Waits, runs for two hours, ends; the last one runs still."""
    at = BEGIN + 600.0 * number
    steps = [(at, State.PENDING), (at + 60.0, State.RUNNING), (at + 7260.0, State.FINISHED)]
    return [
        Transition(
            "default", f"uid-{number}", step, moment, state, f"key-{number}", "taker", f"job-{number}", "Job",
            "taker", "standard", "h100", "", 8, 1,
        )
        for step, (moment, state) in enumerate(steps[: 2 if number == 39 else 3])
    ]  # fmt: skip


def test_one_sentence_for_people_and_the_figures_below(called: Call, files: Path) -> None:
    result = called(
        "whatif", "giver=-16", "taker=+16", "--trace", str(files / "trace.csv"), "--quotas", str(files / "quotas.csv"),
        "--policy", "static", "--seeds", "2",
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    assert " ".join(result.stdout.split()).startswith("Moving 16 GPUs from giver to taker, from 2024-10-04 to")
    assert "32 → 16" in result.stdout
    assert "medians of 2 seeds" in result.stdout


def test_scripts_get_every_figure_with_its_range(called: Call, files: Path) -> None:
    result = called(
        "whatif", "giver=-16", "taker=+16", "--trace", str(files / "trace.csv"), "--config",
        str(files / "documents.yaml"), "--policy", "static", "--seeds", "2", "--weeks", "1", "-o", "json",
    )  # fmt: skip
    document = json.loads(result.stdout)
    assert document["shifts_gpus"] == {"giver": -16, "taker": 16}
    assert document["quotas"] == "quotas of the documents"
    taker = document["tenants"]["taker"]
    assert (taker["felt"], taker["quota_gpus"]) == ("shorter", {"before": 16, "after": 32})
    assert set(taker["mean_wait_seconds"]["difference"]) == {"median", "low", "high"}
    assert document["changes"] is None


def test_the_history_is_asked_as_a_trace_is(called: Call, files: Path, history: str) -> None:
    result = called(
        "whatif", "taker=+8", "--accounting", history, "--config", str(files / "documents.yaml"), "--seeds", "1",
        "--weeks", "9999", "-o", "json",
    )  # fmt: skip
    document = json.loads(result.stdout)
    assert document["source"] == "history of pool h100"
    assert document["tenants"]["taker"]["jobs"] == 40  # what runs still counts with its time so far
    assert document["sentence"].startswith("With 8 GPUs more for taker (a cluster of 8 GPUs more), from 2024-10-04")


def test_a_policy_is_replayed_with_the_tenants_that_stand_beside_it(called: Call, files: Path) -> None:
    arguments = ["--trace", str(files / "trace.csv"), "--policy", str(files / "documents.yaml"), "--seeds", "1"]
    span = ["--from", "2024-10-04T04:00", "--to", "2024-10-05"]
    document = json.loads(called("replay", *arguments, *span, "-o", "json").stdout)
    assert (document["against"], document["quotas"]) == ("kueue-fixed", "quotas of the documents")
    assert document["changes"]["low"] <= document["changes"]["high"]
    assert set(document["tenants"]) == {"giver", "taker"}
    assert document["all"]["jobs"] < 90  # the hours before fill the cluster and do not count
    assert "instead of kueue-fixed" in " ".join(called("replay", *arguments).stdout.split())


def test_both_can_be_drawn(called: Call, files: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for name in ("effect.html", "effect.png"):
        plot = tmp_path / name
        common = ["--trace", str(files / "trace.csv"), "--seeds", "1", "--plot", str(plot)]
        assert called("whatif", "giver=-8", *common).exit_code == 0
        assert plot.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("whatif giver=-8", "--trace or --accounting: got nothing, expected a trace, or where the history is kept"),
        ("whatif nobody=-8 --trace trace.csv", "got nobody, expected a tenant with a quota: giver, taker"),
        ("whatif giver --trace trace.csv", "TENANT=GPUS: got giver, expected a tenant and GPUs"),
        ("whatif giver=-8 --accounting none.db", "there is no such file"),
        ("replay --policy best --trace trace.csv", "--policy: got best, expected with engine kueue one of"),
        ("replay --policy static --trace trace.csv --from soon", "--from: got soon, expected an ISO date or time"),
        ("replay --policy static --trace trace.csv --from 2030-01-01", "--from, --to: got no job in this span"),
    ],
)
def test_what_can_not_be_is_refused(
    called: Call, files: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, said: str
) -> None:
    monkeypatch.chdir(files)
    result = called(*arguments.split())
    assert result.exit_code in (2, 3)
    assert said in result.stderr

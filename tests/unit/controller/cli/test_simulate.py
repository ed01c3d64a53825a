"""`trimtab simulate`: what people and scripts see, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from controller.cli.main import run

ROWS = "tenant,submitted,run_seconds,gpus,deadline\na,0,100,8,\na,10,100,8,50\nb,20,10,8,\nx,x,1,1,\n"
KEYS = {
    "jobs", "wall_seconds", "jobs_per_second", "mean_wait_seconds", "p95_wait_seconds", "preemptions",
    "gpu_seconds_lost", "allocation_ratio", "tenants", "changes", "policy_digest",
}  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> str:
    (tmp_path / "trace.csv").write_text(ROWS, encoding="utf-8")
    return str(tmp_path / "trace.csv")


class Called(NamedTuple):
    """How a call ended, and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str


Call: TypeAlias = Callable[..., Called]


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: str) -> Called:
        code = run(["simulate", *arguments])
        return Called(code, *capsys.readouterr())

    return call


def test_scripts_get_the_agreed_keys(called: Call, trace: str) -> None:
    document = json.loads(called("--trace", trace, "-o", "json").stdout)
    assert set(document) >= KEYS
    assert set(document["tenants"]["a"]) >= {"jobs", "mean_wait_seconds", "p95_wait_seconds", "attainment"}
    assert document["policy"] == "kueue-fixed"


@pytest.mark.parametrize("policy", ["static", "pool", "kueue-fixed", "strict", "edf"])
def test_people_get_a_row_for_each_tenant_and_the_account_of_rows(called: Call, trace: str, policy: str) -> None:
    result = called("--trace", trace, "--policy", policy, "--placement", "nodes")
    assert result.exit_code == 0
    assert "left out: 1 rows: a time that is no time" in result.stdout
    assert "missed it" in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines()[1:4]] == ["a", "b", "all"]


def test_a_tenant_without_a_job_in_the_span_has_a_row_and_no_wait(called: Call, trace: str, tmp_path: Path) -> None:
    quotas = tmp_path / "quotas.csv"
    quotas.write_text("tenant,gpus\na,8\nb,8\nidle,8\n", encoding="utf-8")
    told = called("--trace", trace, "--quotas", str(quotas))
    assert told.exit_code == 0, told.stderr
    assert "nan%" not in told.stdout
    (row,) = (line for line in told.stdout.splitlines() if line.startswith("idle"))
    assert row.split()[:5] == ["idle", "8", "0", "-", "-"]


@pytest.mark.parametrize("arguments", [("--capacity", "inf"), ("--capacity", "nan"), ("--restart", "inf")])
def test_what_is_no_size_and_no_time_is_refused(called: Call, trace: str, arguments: tuple[str, str]) -> None:
    assert called("--trace", trace, *arguments).exit_code == 2


def test_trimtab_and_a_policy_of_ones_own_can_be_run(called: Call, trace: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    head = "apiVersion: trimtab.io/v1alpha1\nkind: Policy\nmetadata: {name: default}\n"
    policy.write_text(head + "spec: {budgets: {changesPerDay: 3}}\n", encoding="utf-8")
    shipped, own = (
        json.loads(called("--trace", trace, "--policy", said, "-o", "json").stdout) for said in ("trimtab", str(policy))
    )
    assert (shipped["policy"], own["policy"]) == ("trimtab", str(policy))
    assert shipped["policy_digest"] != own["policy_digest"]
    assert shipped["changes"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--policy", "best"],
            "got best, expected with engine kueue one of static, pool",
        ),
        (["--policy", "trimtab", "--engine", "native"], "got trimtab, expected with engine native one of"),
        (["--policy", __file__], "test_simulate.py"),
        (["--policy", "edf", "--engine", "native"], "--policy: got edf, expected with engine native one of static"),
        (["--from", "soon"], "--from: got soon, expected an ISO date or time"),
        (["--format", "csv"], "--format: got csv, expected one of"),
        (["--quotas", "absent.csv"], "absent.csv: got no such file or folder"),
    ],
)
def test_what_can_not_be_is_refused_with_two(
    trace: str, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", "--trace", trace, *arguments]) == 2
    assert said in capsys.readouterr().err

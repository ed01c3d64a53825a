"""What could not be read is said, with what is therefore not known; never shown as zero, nor as nothing."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.console import Console, RenderableType

from collector.assemble.gpu_ledger import Devices
from collector.model.objects import Picture
from collector.model.reading import Unknown
from controller.cli.explain_facts import tenant_facts, work_facts
from controller.cli.explain_screen import tenant_screen, work_screen
from controller.cli.look_report import look_report, report_record
from controller.cli.look_screen import look_screen
from controller.cli.main import run
from controller.cli.view import View
from tests.views import starving_site, view_of_picture

DENIED = "GET /api/v1/pods: 403 Forbidden: pods is forbidden"
WORK = ("jobs", "pods", "workloads")


def _hidden(*kinds: str, forbidden: bool = True, picture: Picture | None = None) -> Picture:
    """The starving site in which these kinds could not be read: their objects are not there."""
    seen = picture or starving_site().picture()
    gone: dict[str, Any] = {"pods": {}, "jobs": {}, "workloads": {}, "nodes": {}}
    return replace(
        seen,
        unreadable=dict.fromkeys(kinds, DENIED),
        forbidden=frozenset(kinds if forbidden else ()),
        **{kind: empty for kind, empty in gone.items() if kind in kinds},
    )


def _words(parts: Iterable[RenderableType], width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def _look(view: View) -> tuple[str, dict[str, Any]]:
    report = look_report(view)
    record: dict[str, Any] = orjson.loads(orjson.dumps(report_record(report)))
    return _words(look_screen(report)), record


def _answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], picture: Picture, *arguments: str
) -> tuple[int, str, dict[str, Any]]:
    """Exit code, words for people, JSON for scripts of a verb that meets this picture."""
    view = view_of_picture(picture)
    monkeypatch.setattr(f"controller.cli.{arguments[0]}.view_of", lambda *_: view)
    kubeconfig = Path(__file__).with_name("kubeconfig.yaml")
    where = ["--kubeconfig", str(kubeconfig)]
    code = run([*arguments, *where])
    words = " ".join(capsys.readouterr().out.split())
    assert run([*arguments, *where, "-o", "json"]) == code
    record: dict[str, Any] = orjson.loads(capsys.readouterr().out)
    return code, words, record


def test_without_the_pods_nobody_says_how_many_gpus_are_free_or_held() -> None:
    words, record = _look(view_of_picture(_hidden("pods")))
    (pool,) = record["pools"]
    assert (pool["total"], pool["free"], pool["unknown"], pool["stranded_on"]) == (40, None, None, None)
    assert "h100 40 ? ? ? ? ? ?" in words
    assert "pods: GET /api/v1/pods: 403 Forbidden: pods is forbidden." in words
    assert "Not known without them: who holds which GPUs, and which pods wait." in words
    assert "a role with the verbs get and list on pods" in words


def test_without_the_nodes_nobody_says_that_there_are_no_gpus_nor_that_work_can_never_start() -> None:
    words, record = _look(view_of_picture(_hidden("nodes")))
    assert "No node offers GPUs" not in words
    assert "can never start" not in words.lower()
    assert record["all_gpus"] is None
    assert record["pools"][0]["total"] is None
    assert record["never_start"] is None


def test_without_the_sources_of_work_nobody_says_that_nobody_waits() -> None:
    words, record = _look(view_of_picture(_hidden(*WORK)))
    assert "Nobody waits" not in words
    assert "Whether anybody waits is not known." in words
    assert (record["waiting_count"], record["longest_waits"]) == (None, None)
    assert [gap["kind"] for gap in record["not_known"]] == list(WORK)
    assert all(state["used"] is None and state["waiting"] is None for state in record["tenants"])


def test_a_part_that_was_seen_is_told_as_a_part() -> None:
    words, record = _look(view_of_picture(_hidden("jobs")))
    assert "Waiting: at least" in words
    assert record["waiting_count"] is None
    assert record["longest_waits"]
    assert {state["used"] for state in record["tenants"] if state["tenant"] == "nlp"} == {24}


def test_a_prometheus_that_was_asked_and_did_not_answer_is_a_finding() -> None:
    devices = Devices(Unknown("Prometheus at http://prometheus:9090 did not answer: connection refused"))
    view = view_of_picture(starving_site().picture(), devices)
    words, record = _look(view)
    assert "GPU readings: Prometheus at http://prometheus:9090 did not answer" in words
    assert (record["sick_devices"], record["idle_holders"]) == (None, None)
    assert [gap["kind"] for gap in record["not_known"]] == ["GPU readings"]
    assert look_report(view).findings == look_report(replace(view, devices=Devices())).findings + 1


def test_the_findings_in_the_head_are_counted_by_kind() -> None:
    words, _ = _look(view_of_picture(_hidden("jobs")))
    assert "1 thing that was not seen" in words
    head = words.split("; nothing was written")[0]
    counts = [int(part.split()[0]) for part in head.split(": ", 1)[1].split(", ")]
    total = int(head.split(" findings:")[0].split()[-1])
    assert sum(counts) == total


@pytest.mark.parametrize(
    ("kinds", "forbidden", "code"),
    [(("jobs",), True, 1), (("pods",), False, 1), (WORK, True, 4), (WORK, False, 3)],
)
def test_waits_says_how_much_of_its_answer_is_missing(
    kinds: tuple[str, ...],
    forbidden: bool,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found, words, record = _answers(monkeypatch, capsys, _hidden(*kinds, forbidden=forbidden), "waits")
    assert found == code
    assert "Nobody waits" not in words
    assert "Not seen, therefore not known" in words
    assert [gap["kind"] for gap in record["not_known"]] == sorted(kinds)
    assert (record["waits"] is None) == (kinds == WORK)


def test_waits_of_a_cluster_that_was_seen_whole_are_as_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, words, record = _answers(monkeypatch, capsys, starving_site().picture(), "waits")
    assert (code, record["not_known"]) == (1, [])
    assert words.startswith("Waiting: 3, of them ")
    assert "known" not in words


def test_a_tenant_that_may_only_be_hidden_is_not_called_a_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, record = _answers(monkeypatch, capsys, _hidden(*WORK), "waits", "--tenant", "sound")
    assert (code, record["exit_code"]) == (4, 4)
    assert record["error"].startswith("Whether there is a tenant sound is not known: jobs and pods and workloads")


def test_explain_gives_no_cure_that_stands_on_what_was_not_seen() -> None:
    view = view_of_picture(_hidden("pods"))
    work = next(one for one in view.snapshot.works if one.name == "eval")
    facts = work_facts(view, work)
    assert (facts.help, facts.holders) == ((), ())
    assert "Not known: pods could not be read." in _words(work_screen(facts, view))


def test_explain_of_a_tenant_shows_question_marks_for_what_is_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    view = view_of_picture(_hidden("pods"))
    tenant = next(one for one in view.site.tenants if one.name == "vision")
    assert "h100 8 0 8 – ? ? ? ?" in _words(tenant_screen(tenant_facts(view, tenant), view))
    code, words, record = _answers(monkeypatch, capsys, _hidden("pods"), "explain", "tenant/vision")
    assert code == 1
    assert "Not seen, therefore not known" in words
    assert record["tenant"]["pools"][0]["used"] is None


def test_a_look_that_saw_neither_nodes_nor_work_was_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, words, record = _answers(monkeypatch, capsys, _hidden("nodes", *WORK), "look")
    assert code == 4
    assert record["pools"] is None or record["pools"][0]["total"] is None
    assert "Whether anybody waits is not known." in words

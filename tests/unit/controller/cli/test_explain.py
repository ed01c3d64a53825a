"""`trimtab explain`: which thing is meant, and what is said of it."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console, RenderableType

from collector.accounting.schema.rows import State, Transition
from collector.assemble.gpu_ledger import Devices
from collector.model.accelerator import GpuHolder, GpuReading
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import UseTold, Work
from collector.model.tenancy import Tenant
from collector.sources.errors import Forbidden, NotFound
from collector.sources.kubernetes_api import KubernetesApi
from controller.api.errors import InputError
from controller.cli.explain_facts import WorkFacts, tenant_facts, work_facts
from controller.cli.explain_screen import change_screen, tenant_screen, work_screen
from controller.cli.main import run
from controller.cli.records import tenant_facts_record, work_facts_record
from controller.cli.subjects import subject
from controller.cli.view import StorageSeen, View
from controller.policy.change import Change, Forecast, Stage, Verdict, WorkRef
from controller.policy.ledger_text import change_text
from controller.runtime.ledger_store import LedgerStore
from tests.pictures import NOW, PictureMaker
from tests.views import starving_site, view_of_picture

CHANGE = Change(
    id="vision-h100-20250615-1",
    policy="default",
    tenant="vision",
    pool="h100",
    source="trimtab-shared",
    destination="trimtab-vision",
    amount=8,
    reason="vision lacks 8 GPUs while nlp borrows 16.",
    finding="starved",
    forecast=Forecast((WorkRef("k", "vision/eval", 8),), NOW + 900, (WorkRef("p", "nlp/pretrain", 24),), 1.5),
    created_at=NOW,
    expires_at=NOW + 14400,
    stage=Stage.KEPT,
    taken=8,
    given=8,
    taken_written=8,
    given_written=8,
    applied_at=NOW + 30,
    seen_ready=("k",),
    verdict=Verdict.HELPED,
    verdict_reason="vision/eval became Ready after 40s.",
)


class _Ledger(KubernetesApi):
    """A connection on which only the ledger can be asked for."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self._answer_given = answer

    def get(self, path: str, query: object = None) -> dict[str, Any]:
        if isinstance(self._answer_given, Exception):
            raise self._answer_given
        return self._answer_given


NO_LEDGER = LedgerStore(_Ledger(NotFound("GET", "configmaps", "none")))


def _view(maker: PictureMaker | None = None) -> View:
    return view_of_picture((maker or starving_site()).picture())


def _facts(view: View, name: str) -> WorkFacts:
    found = subject(name, view, NO_LEDGER)
    assert isinstance(found, Work)
    return work_facts(view, found)


def _text(parts: Iterable[RenderableType]) -> str:
    console = Console(file=io.StringIO(), width=100, highlight=False, markup=False, emoji=False)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def test_a_waiting_work_tells_who_is_ahead_who_holds_the_quota_and_what_would_help() -> None:
    facts = _facts(_view(), "vision/eval")
    assert [work.name for work in facts.ahead] == ["train"]
    assert [(one.state.tenant, one.state.borrowed()) for one in facts.holders] == [("nlp", 16), ("vision", 0)]
    assert [work.name for work in facts.holders[0].works] == ["pretrain"]
    assert "8 GPUs more of its tenant's own quota would admit it; others borrow 16." in facts.help
    assert "Nodes have room for all its pods now (1 × 8 of 8 free GPUs): only quota keeps it." in facts.help
    text = _text(work_screen(facts, _view()))
    assert "Place 2 of 2 in its queue" in text
    assert "nlp/pretrain (24)" in text


def test_priority_comes_before_age_in_the_queue() -> None:
    maker = starving_site()
    maker.work("vision", "urgent", age=60.0, priority=100)
    assert [work.name for work in _facts(_view(maker), "eval").ahead] == ["urgent", "train"]


def test_a_strict_queue_says_that_nobody_passes_its_head() -> None:
    maker = starving_site()
    maker.queue("vision", "tenant-vision", strategy="StrictFIFO")
    assert "while the head does not fit, nobody behind it starts" in _facts(_view(maker), "eval").order


def test_work_that_can_never_start_says_why_and_nothing_of_queues() -> None:
    facts = _facts(_view(), "hero")
    assert facts.why == "Can never start: a pod asks for 16 GPUs, the largest node of pool h100 has 8."
    assert (facts.ahead, facts.holders, facts.help) == ((), (), ())
    assert [lie.where for lie in facts.lies] == ["ClusterQueue speech"]


def test_a_running_work_tells_where_and_whether_it_computes() -> None:
    facts = _facts(_view(), "pretrain")
    assert facts.why == "It runs since 2h on n0, n1, n2; its GPUs: 24 unknown."


def test_the_kueue_workload_behind_a_job_is_another_name_for_it() -> None:
    assert _facts(_view(), "job-eval").work.name == "eval"


def test_a_tenant_tells_what_it_may_use_uses_and_lacks() -> None:
    view = _view()
    found = subject("vision", view, NO_LEDGER)
    assert isinstance(found, Tenant)
    text = _text(tenant_screen(tenant_facts(view, found), view))
    assert "known from Cohort tenant-vision" in text
    assert "h100 8 0 8 – 8 0 24 0" in text
    assert "Waiting: 2" in text


def test_the_tenant_of_everything_unclaimed_can_be_explained() -> None:
    found = subject("unassigned", _view(), NO_LEDGER)
    assert isinstance(found, Tenant)
    assert found.name == "unassigned"


def test_a_change_is_found_by_the_beginning_of_its_id_and_told_whole() -> None:
    ledger = _Ledger({"metadata": {"resourceVersion": "1"}, "data": {"one": change_text(CHANGE)}})
    found = subject("vision-h100", _view(), LedgerStore(ledger))
    assert found == CHANGE
    text = _text(change_screen(CHANGE))
    assert "kept, verdict helped" in text
    assert "take 8 of 8 GPUs from trimtab-shared" in text
    assert "vision/eval (8 GPUs, seen Ready)" in text
    assert "nlp/pretrain (24 GPUs) (1.5 GPU-hours lost)" in text


def test_a_change_is_looked_for_where_trimtab_lives(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    class Elsewhere(_Ledger):
        def get(self, path: str, query: object = None) -> dict[str, Any]:
            asked.append(path)
            return super().get(path, query)

    api = Elsewhere({"metadata": {"resourceVersion": "1"}, "data": {"one": change_text(CHANGE)}})
    monkeypatch.setattr("controller.cli.explain.Where.connection", lambda where: api)
    monkeypatch.setattr("controller.cli.explain.view_of", lambda where, connection: _view())
    assert run(["explain", "change/vision-h100", "--namespace=steering", "-o", "json"]) == 0
    assert asked == ["/api/v1/namespaces/steering/configmaps/trimtab-ledger"]
    assert CHANGE.id in capsys.readouterr().out


def test_an_ambiguous_name_lists_what_it_may_mean() -> None:
    maker = starving_site()
    maker.work("nlp", "eval")
    with pytest.raises(InputError) as refused:
        subject("eval", _view(maker), NO_LEDGER)
    assert "workload/nlp/eval, workload/vision/eval" in str(refused.value)
    found = subject("workload/nlp/eval", _view(maker), NO_LEDGER)
    assert isinstance(found, Work)


def test_a_work_and_a_tenant_of_one_name_are_told_apart_by_a_word_before_it() -> None:
    maker = starving_site()
    maker.work("nlp", "vision")
    with pytest.raises(InputError):
        subject("vision", _view(maker), NO_LEDGER)
    assert isinstance(subject("tenant/vision", _view(maker), NO_LEDGER), Tenant)


def test_an_unknown_name_says_what_is_near() -> None:
    with pytest.raises(InputError) as refused:
        subject("vison/evall", _view(), NO_LEDGER)
    assert "near: vision/eval" in str(refused.value)


def test_a_ledger_that_may_not_be_read_is_said_with_the_unknown_name() -> None:
    ledger = LedgerStore(_Ledger(Forbidden("GET", "/api/v1/configmaps", "no", status=403)))
    with pytest.raises(InputError) as refused:
        subject("chg-1234", _view(), ledger)
    assert "changes could not be read: GET /api/v1/configmaps: 403: no" in str(refused.value)


def test_quota_that_is_free_while_borrowers_hold_the_gpus_names_the_reclaim_rule() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.tenant("a", floor=0)
    maker.tenant("b", floor=8, reclaim_within_cohort="Never")
    maker.running("a", "borrows", ("n0",))
    maker.work("b", "waits")
    facts = _facts(_view(maker), "b/waits")
    assert facts.help[0] == (
        "Its own quota is free, and those who borrow 8 hold the GPUs: ClusterQueue b has reclaimWithinCohort: Never."
    )


def test_work_of_nobody_can_be_explained() -> None:
    maker = PictureMaker("h100")
    maker.node("n0", gpus=4)
    maker.pod("nobody", "first", "n0", gpus=4)
    maker.pod("nobody", "second", None, gpus=4, age=60.0)
    view = _view(maker)
    assert _facts(view, "nobody/second").help == ("Nodes have room for 0 of 1 pod of 4 GPUs now (0 GPUs free in all).",)


def test_what_happened_to_a_workload_is_told_where_a_history_is_kept() -> None:
    rows = (
        Transition(
            "c1", "u", 1, NOW - 60, State.EVICTED, "k", "vision", "eval", "Job", "vision", "", "h100", "", 8, 1,
            evicted_by="nlp", why="Preempted", waited_seconds=125.0, waited_is_lower_bound=True,
            seen_before=NOW - 120, unseen=2,
        ),
    )  # fmt: skip
    facts = replace(_facts(_view(), "vision/eval"), history=rows)
    told = " ".join(_text(work_screen(facts, _view())).split())
    assert "What happened to it" in told
    assert "evicted 8 ≥ 2m 5s vision/eval by nlp Preempted; at some time after 2025-06-15" in told
    assert "2 changes before it were not seen" in told
    assert "What happened to it" not in _text(work_screen(_facts(_view(), "vision/eval"), _view()))


def _hung(tensor: Reading[float]) -> Devices:
    readings = [
        GpuReading(
            uuid=f"GPU-{index}",
            index=str(index),
            node="n3",
            model="NVIDIA H100 80GB HBM3",
            mig=None,
            partitioned=False,
            holders=(GpuHolder("vision", "segment-0", "main"),),
            activity_ratio=Known(1.0),
            utilization_ratio=Known(1.0),
            memory_used_bytes=Known(6e10),
            memory_total_bytes=Known(8e10),
            power_watts=Known(140.0),
            temperature_celsius=Known(40.0),
            last_xid_code=Known(0),
            tensor_active_ratio=tensor,
        )
        for index in range(8)
    ]
    return Devices(Known(tuple(readings)), 600.0, tuple(readings))


def test_a_gang_that_hangs_is_told_of_the_work_and_of_its_tenant() -> None:
    view = view_of_picture(starving_site().picture(), _hung(Known(0.0)))
    sentence = "vision/segment hangs: for 10m its 8 GPUs seem busy, and compute and exchange nothing"
    facts = _facts(view, "vision/segment")
    assert (facts.troubles, facts.not_judged) == ((sentence,), "")
    assert f"What is wrong with its GPUs · {sentence}." in _text(work_screen(facts, view))
    assert work_facts_record(facts, view)["troubles"] == [sentence]
    tenant = tenant_facts(view, next(one for one in view.site.tenants if one.name == "vision"))
    assert tenant.troubles == (sentence,)
    assert sentence in _text(tenant_screen(tenant, view))


def test_where_a_sign_is_missing_it_is_said_that_nobody_knows_whether_it_hangs() -> None:
    view = view_of_picture(starving_site().picture(), _hung(Unknown("tensor activity is not exported")))
    facts = _facts(view, "vision/segment")
    assert (facts.troubles, facts.not_judged) == ((), "tensor activity is not exported")
    assert "Whether it hangs is not known tensor activity is not exported" in _text(work_screen(facts, view))
    blind = view_of_picture(starving_site().picture())
    assert work_facts_record(_facts(blind, "vision/segment"), blind)["troubles"] is None


def test_the_storage_of_a_tenant_and_of_its_work_is_told_with_what_would_make_it_quicker() -> None:
    view = view_of_picture(starving_site().picture())
    work = subject("vision/segment", view, NO_LEDGER)
    assert isinstance(work, Work)
    pods = {
        uid: replace(pod, claims=("data", "scratch")) if pod.name in work.pod_names else pod
        for uid, pod in view.picture.pods.items()
    }
    told = UseTold("rbd", "900 operations/s on rbd, 90% reads, 8 KiB a read; random.", ("Pack it into shards.",))
    seen = StorageSeen({"vision": (told,)}, {("vision", "data"): "900 operations/s.", ("nlp", "scratch"): "none"})
    view = replace(view, picture=replace(view.picture, pods=pods), storage=seen)
    facts = work_facts(view, work)
    assert facts.storage == ("data: 900 operations/s.",)
    assert "Its volumes data: 900 operations/s." in _text(work_screen(facts, view))
    assert work_facts_record(facts, view)["storage"] == ["data: 900 operations/s."]
    tenant = tenant_facts(view, next(one for one in view.site.tenants if one.name == "vision"))
    assert f"Storage {told.pattern} · Pack it into shards." in _text(tenant_screen(tenant, view))
    record = {"storage": "rbd", "pattern": told.pattern, "advice": ["Pack it into shards."]}
    assert tenant_facts_record(tenant, view)["storage"] == [record]

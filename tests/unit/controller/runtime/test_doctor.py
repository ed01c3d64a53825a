"""What the doctor says of each source, over answers given by hand: in words that name the fault and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from collector.model.fabric import Edge, ProbePlan, ProbeTarget
from collector.sources.ceph_admin import AdminMissing
from collector.sources.errors import Forbidden, NotFound, SourceError, Unreachable
from collector.sources.kubernetes_kinds import KINDS, Kind
from collector.sources.prometheus import VectorSample
from collector.sources.scrape import Scrape, ScrapeFailed, ScrapeFault
from controller.cli.doctor import exit_code, source_record
from controller.runtime.doctor import (
    SourceReport,
    State,
    check_ceph,
    check_ceph_admin,
    check_gpu_exporter,
    check_kubernetes,
    check_probes,
    check_webhook_token,
)
from controller.runtime.doctor_prometheus import check_prometheus

URL = "http://node-1:9400/metrics"


class Answers:
    """An API server of answers by path; `unwatched`: kinds that may not be watched."""

    server = "https://10.0.0.1"

    def __init__(self, faults: Mapping[str, type[SourceError]] | None = None, unwatched: Sequence[str] = ()) -> None:
        self.faults, self.unwatched = dict(faults or {}), unwatched
        self.written: list[str] = []

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> dict[str, Any]:
        named = (path, path.rpartition("/")[2])
        fault = next((self.faults[name] for name in named if name in self.faults), None)
        if fault is not None:
            raise fault("GET", path, "refused", status=403 if fault is Forbidden else None)
        return {"versions": [{"version": version} for kind in KINDS for version in kind.versions], "items": []}

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self.written.append(path)
        kind = (body or {})["spec"]["resourceAttributes"]["resource"]
        return {"status": {"allowed": kind not in self.unwatched}}

    def list_pages(self, *_: Any, **__: Any) -> Iterator[Any]:
        raise AssertionError("the doctor lists nothing whole")

    def watch(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the doctor watches nothing")


class Page:
    """A scraper with one answer."""

    def __init__(self, answer: str | ScrapeFault) -> None:
        self.answer = answer

    def scrape(self, url: str) -> Scrape | ScrapeFailed:
        if isinstance(self.answer, ScrapeFault):
            return ScrapeFailed(self.answer, f"node-1:9400: {self.answer}")
        return Scrape(self.answer, 0.1)


class Series:
    """A Prometheus that holds some series by name: (labels, age in seconds)."""

    url = "http://prometheus:9090"

    def __init__(self, held: Mapping[str, tuple[Mapping[str, str], float]], fault: SourceError | None = None) -> None:
        self.held, self.fault = held, fault

    def instant(self, query: str) -> list[VectorSample]:
        if self.fault is not None:
            raise self.fault
        names = re.findall(r'__name__=~?"([^"]*)"', query)[0].split("|")
        found = {name: told for name, told in self.held.items() if name in names}
        if query.startswith("count by"):
            return [VectorSample({"__name__": name}, 1.0, 0.0) for name in found]
        if query.startswith("time()"):
            return [VectorSample({}, min(age for _, age in found.values()), 0.0)]
        for label in ("exported_namespace", "exported_pod"):
            if f'{label}!=""' in query:
                return self._count(sum(bool(labels.get(label)) for labels, _ in found.values()))
        return self._count(sum(not {"pod", "exported_pod"} & labels.keys() for labels, _ in found.values()))

    def _count(self, number: int) -> list[VectorSample]:
        return [VectorSample({}, float(number), 0.0)] if number else []


def check(report: SourceReport, what: str) -> tuple[State, str, str]:
    (found,) = [one for one in report.checks if one.what == what]
    return found.state, found.found, found.fix


# Kubernetes


def test_a_cluster_that_may_be_read_is_fine_and_nothing_is_written() -> None:
    api = Answers()
    report = check_kubernetes(api, KINDS)
    assert (report.state, report.reached) == (State.FINE, True)
    assert {path.rpartition("/")[2] for path in api.written} == {"selfsubjectaccessreviews"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_that_is_forbidden_comes_with_the_rule_that_it_needs(kind: Kind) -> None:
    report = check_kubernetes(Answers({kind.path(kind.versions[0]): Forbidden}), KINDS)
    state, found, fix = check(report, kind.name)
    assert (state, found) == (State.MISSING, "403: it may not be listed")
    rule = f'{{apiGroups: ["{kind.group}"], resources: [{kind.plural}], verbs: [get, list, watch]}}'
    assert rule in fix
    assert sum(one.state is State.MISSING for one in report.checks) == 1


def test_listing_without_watching_is_not_enough() -> None:
    report = check_kubernetes(Answers(unwatched=["pods"]), KINDS)
    assert check(report, "pods")[:2] == (State.MISSING, "it may be listed and not watched")


def test_a_cluster_without_kueue_and_other_engines_lacks_nothing() -> None:
    groups = {kind.group for kind in KINDS if kind.may_be_absent}
    report = check_kubernetes(Answers(dict.fromkeys(groups, NotFound)), KINDS)
    assert check(report, "workloads") == (State.ABSENT, "this cluster has no kueue.x-k8s.io", "")
    assert check(report, "queues.scheduling.run.ai")[0] is State.ABSENT
    assert exit_code([report]) == 0


def test_an_api_server_that_is_away_is_asked_once() -> None:
    report = check_kubernetes(Answers({"nodes": Unreachable}), KINDS)
    assert len(report.checks) == 1
    assert (report.reached, exit_code([report])) == (False, 3)


# Exporters and Ceph

GPU = 'gpu="0",UUID="GPU-a",modelName="H100",Hostname="n1"'


def test_a_gpu_exporter_that_tells_activity_and_pods_is_fine() -> None:
    text = f'DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{GPU},namespace="vision",pod="train-0"}} 0.5\n'
    assert check_gpu_exporter(Page(text), URL).state is State.FINE


def test_an_exporter_without_profiling_is_told_what_to_export() -> None:
    report = check_gpu_exporter(Page(f"DCGM_FI_DEV_GPU_UTIL{{{GPU}}} 97\n"), URL)
    state, found, fix = check(report, "activity")
    assert (state, found) == (State.MISSING, "0 of 1 say whether they compute")
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in fix
    assert "DCGM_EXPORTER_KUBERNETES" in check(report, "pods")[2]


def test_a_page_of_something_else_holds_no_gpu() -> None:
    report = check_gpu_exporter(Page("go_goroutines 7\n"), URL)
    assert check(report, "GPUs")[:2] == (State.MISSING, "no GPU in it")


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (ScrapeFault.REFUSED, State.UNREACHABLE),
        (ScrapeFault.UNRESOLVED, State.UNREACHABLE),
        (ScrapeFault.TIMEOUT, State.UNREACHABLE),
        (ScrapeFault.HTTP_STATUS, State.MISSING),
        (ScrapeFault.NOT_TEXT, State.MISSING),
    ],
)
def test_an_address_that_gives_no_page_says_whether_anybody_is_there(fault: ScrapeFault, state: State) -> None:
    (found,) = check_gpu_exporter(Page(fault), URL).checks
    assert found.state is state
    assert found.fix


def test_ceph_without_statistics_of_images_is_told_the_setting() -> None:
    report = check_ceph(Page("ceph_health_status 0\nceph_osd_op_r_latency_count 7\n"), URL)
    assert check(report, "OSDs")[0] is State.FINE
    assert "rbd_stats_pools" in check(report, "images")[2]


def test_ceph_that_can_not_be_asked_as_an_administrator_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing() -> None:
        raise AdminMissing("python3-rados is not installed")

    monkeypatch.setattr("collector.sources.ceph_admin.load_bindings", missing)
    report = check_ceph_admin(tmp_path / "ceph.conf", "client.trimtab")
    assert not report.reached
    state, found, fix = check(report, "bindings")
    assert (state, found) == (State.UNREACHABLE, "python3-rados is not installed")
    assert "leave --ceph-admin out" in fix


def test_a_manager_that_stands_by_is_no_fault() -> None:
    assert check_ceph(Page(ScrapeFault.EMPTY), URL).state is State.ABSENT
    assert check_gpu_exporter(Page(ScrapeFault.EMPTY), URL).state is State.MISSING


# Prometheus

OWN = "trimtab_tenant_entitled_gpus"
RULE = "trimtab:tenant_demand:minute"
UTIL = "DCGM_FI_DEV_GPU_UTIL"
WHOLE: Mapping[str, tuple[Mapping[str, str], float]] = {OWN: ({}, 5.0), RULE: ({}, 9.0), UTIL: ({"pod": "a"}, 8.0)}


def test_a_prometheus_with_all_that_is_needed_is_fine() -> None:
    report = check_prometheus(Series(WHOLE))
    assert exit_code([report]) == 0
    assert check(report, "Trimtab collector")[1] == "1 series under 1 names, the youngest 5 s old"
    assert check(report, "kube-scheduler")[0] is State.ABSENT


@pytest.mark.parametrize(
    ("taken", "what", "fix"),
    [
        (OWN, "Trimtab collector", "run trimtab run collector"),
        (RULE, "Trimtab rules", "trimtab render rules"),
        (UTIL, "GPU exporters", "dcgm-exporter"),
    ],
)
def test_each_exporter_that_is_gone_is_missing_with_a_remedy(taken: str, what: str, fix: str) -> None:
    report = check_prometheus(Series({name: told for name, told in WHOLE.items() if name != taken}))
    state, found, remedy = check(report, what)
    assert (state, found) == (State.MISSING, "no series of it")
    assert fix in remedy
    assert exit_code([report]) == 1


def test_labels_that_the_scrape_took_away_are_seen() -> None:
    report = check_prometheus(Series({**WHOLE, OWN: ({"exported_namespace": "vision"}, 5.0)}))
    state, found, fix = check(report, "Trimtab collector: labels")
    assert (state, found) == (State.MISSING, "1 series have lost their namespace to the scrape's")
    assert "honor_labels: true" in fix


def test_pods_under_another_label_are_read_and_pods_under_none_are_told() -> None:
    renamed = check_prometheus(Series({**WHOLE, UTIL: ({"exported_pod": "a"}, 5.0)}))
    assert check(renamed, "GPU exporters: pods")[0] is State.FINE
    assert "exported_pod" in check(renamed, "GPU exporters: pods")[1]
    nobody = check_prometheus(Series({**WHOLE, UTIL: ({}, 5.0)}))
    assert "DCGM_EXPORTER_KUBERNETES" in check(nobody, "GPU exporters: pods")[2]


def test_series_that_stopped_are_old() -> None:
    state, found, fix = check(check_prometheus(Series({**WHOLE, UTIL: ({"pod": "a"}, 250.0)})), "GPU exporters")
    assert (state, "250 s old" in found) == (State.MISSING, True)
    assert "Targets" in fix


def test_a_prometheus_that_is_away_is_unreachable() -> None:
    report = check_prometheus(Series({}, Unreachable("GET", "/api/v1/query", "refused")))
    assert (report.reached, len(report.checks)) == (False, 1)


# Probes, token, and all together


def test_the_programs_of_the_probes_must_be_here() -> None:
    plan = ProbePlan((ProbeTarget(Edge("n1", "n2"), "10.0.0.2", 1, client=("ssh", "n1")),))
    report = check_probes(plan, which=lambda name: "/bin/ssh" if name == "ssh" else None)
    assert check(report, "ssh")[0] is State.FINE
    assert check(report, "ucx_perftest")[2] == "install ucx-utils"


def test_a_token_must_be_there_and_not_be_empty(tmp_path: Path) -> None:
    file = tmp_path / "token"
    assert check_webhook_token(file).reached is False
    file.write_text("\n", encoding="utf-8")
    assert check_webhook_token(file).state is State.MISSING
    file.write_text("secret-word\n", encoding="utf-8")
    report = check_webhook_token(file)
    assert report.state is State.FINE
    assert "secret-word" not in str(source_record(report)), "a token is never shown"


def test_one_source_that_is_away_among_others_is_something_missing() -> None:
    good, away = check_kubernetes(Answers(), KINDS), check_kubernetes(Answers({"nodes": Unreachable}), KINDS)
    assert [exit_code(reports) for reports in ([good], [good, away], [away, away])] == [0, 1, 3]

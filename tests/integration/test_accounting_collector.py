"""The collector's history over a real API server and Kueue: an eviction by its tenant, a kill, waits that go on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.accounting.address import read_address
from collector.accounting.schema.rows import State, Transition
from collector.accounting.store import Store, Wanted
from collector.sources.kubernetes_api import connect
from controller.cli.main import run
from controller.demo.processes import Service, answers, free_port, wait_until
from controller.knobs.rights import history_rules, reading_rules
from controller.policy.ledger import Ledger
from controller.runtime.ledger_store import LedgerStore
from tests.integration.test_run_collector import COMMAND, DOCUMENTS, ROOT, SITE
from tests.testbed import Testbed
from tests.testbed.api import KubeApi
from tests.testbed.cluster import build_site, gpu_job, namespace, remove_site
from tests.unit.controller.reports.histories import change

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]
HOME = "history-home"


@pytest.fixture
def site(control_plane: Testbed) -> Iterator[KubeApi]:
    api = control_plane.kubernetes.api
    build_site(api, SITE)
    api.apply(namespace(HOME), "git")
    LedgerStore(connect(control_plane.kubernetes.kubeconfig), HOME).save(Ledger((change("c-1", time.time()),)))
    yield api
    remove_site(api, SITE)
    api.delete("v1", "Namespace", HOME)


@pytest.fixture
def collector(site: KubeApi, control_plane: Testbed, tmp_path: Path) -> Iterator[Service]:
    user = control_plane.kubernetes.user("trimtab-historian", [*reading_rules(), *history_rules()])
    port, config = free_port(), tmp_path / "documents.yaml"
    config.write_text(DOCUMENTS, encoding="utf-8")
    arguments = [f"--config={config}", f"--kubeconfig={user.kubeconfig}", f"--namespace={HOME}", "--time-scale=60"]
    arguments += [f"--listen=127.0.0.1:{port}", "--cluster=testbed", f"--accounting={tmp_path / 'history.db'}"]
    service = Service(
        "collector",
        lambda: [*COMMAND, *arguments],
        tmp_path,
        lambda: answers(f"http://127.0.0.1:{port}/readyz"),
        environment={"PYTHONPATH": str(ROOT)},
    )
    service.start()
    yield service
    service.stop()


def rows_of(tmp_path: Path, tenant: str) -> list[Transition]:
    store = Store(read_address(str(tmp_path / "history.db")))
    found = list(store.transitions(Wanted(tenant=tenant)))
    store.close()
    return found


def states(rows: list[Transition], name: str) -> list[State]:
    return [row.state for row in rows if row.name == name]


def test_an_eviction_and_a_kill_are_in_the_history_and_waits_go_on(
    collector: Service,
    site: KubeApi,
    control_plane: Testbed,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number in range(2):
        site.create(gpu_job(f"lazy-{number}", "run-a", gpus_per_pod=8, queue="run-a"))
    wait_until(
        lambda: [row.state for row in rows_of(tmp_path, "a")].count(State.RUNNING) == 2,
        f"both to run; {collector.log_tail()}",
        60,
    )
    site.create(gpu_job("own", "run-b", gpus_per_pod=8, queue="run-b"))
    wait_until(lambda: State.RUNNING in states(rows_of(tmp_path, "b"), "own"), "the owner to run", 60)
    (evicted,) = [row for row in rows_of(tmp_path, "a") if row.state is State.EVICTED]
    assert (evicted.evicted_by, evicted.why, evicted.evictions) == ("b", "Preempted", 1)
    assert evicted.seen_before is None, "the object told when"
    name, rows_before = evicted.name, rows_of(tmp_path, "a")

    collector.kill()
    time.sleep(2)  # it waits on while nobody looks
    collector.start()
    site.delete("batch/v1", "Job", "own", "run-b")
    wait_until(lambda: states(rows_of(tmp_path, "a"), name)[-1] is State.RUNNING, "it to run again", 60)
    rows = rows_of(tmp_path, "a")
    assert rows[: len(rows_before)] == rows_before, "nothing was lost, doubled or altered"
    own = [row for row in rows if row.name == name]
    assert [row.state for row in own][-3:] == [State.EVICTED, State.ADMITTED, State.RUNNING]
    waited = own[-1].waited_seconds
    told = own[-1].at - evicted.at + evicted.waited_seconds
    assert abs(waited - told) <= 2, "the wait before the eviction, and all of that after it"
    assert not own[-1].waited_is_lower_bound

    asked = ["explain", f"workload/run-a/{name}", "--kubeconfig", str(control_plane.kubernetes.kubeconfig)]
    asked += ["--config", str(tmp_path / "documents.yaml"), "-o", "json"]
    assert run([*asked, "--accounting", str(tmp_path / "history.db")]) == 0
    explained: dict[str, Any] = json.loads(capsys.readouterr().out)["workload"]
    assert [row["state"] for row in explained["history"]] == [row.state.value for row in own]
    assert (explained["waited_is_lower_bound"], explained["evictions"]) == (False, 1)
    assert abs(explained["waited_seconds"] - waited) <= 1
    assert run(asked) == 0
    assert json.loads(capsys.readouterr().out)["workload"]["waited_is_lower_bound"], "without a history it is one"

    past = [*asked, "--accounting", str(tmp_path / "history.db")]
    past[1] = "run-b/own"
    wait_until(lambda: states(rows_of(tmp_path, "b"), "own")[-1] is State.GONE, "the owner to be gone", 60)
    assert run(past) == 0
    gone = json.loads(capsys.readouterr().out)["past_workload"]
    assert (gone["name"], gone["history"][-1]["state"]) == ("run-b/own", "gone")
    past[1] = "run-b/never"
    assert run(past) == 2
    capsys.readouterr()

    store = Store(read_address(str(tmp_path / "history.db")))
    steps = {step.change: step for step in store.policy_steps(Wanted())}
    assert steps["c-1"].tenant == "vision", "the ledger's changes are in it too"
    assert [one.gpus for one in store.capacities("testbed", time.time())] == [16]
    store.close()

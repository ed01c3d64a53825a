"""Real node roles in three network namespaces that probe each other with UCX: a slow link, a slow host, a stranger."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml

from collector.assemble.fabric import LEAST_PROBES
from collector.assemble.probe_verdicts import ProbePicture, SuspectKind, judge
from collector.model.probing import Link, LinkState
from collector.parse.probe_links import read_links
from collector.sources.probe_peer import LINKS, RUN, SERVE
from controller.api.probe_settings import parse_probe_settings
from controller.demo.processes import Service, wait_until
from tests.testbed.network import LinkTerms
from tests.testbed.parts import PartMissing
from tests.testbed.place import Place
from tests.testbed.rail import Rail
from tests.testbed.switch import SwitchTerms

pytestmark = pytest.mark.network
NAMES = ("gpu-1", "gpu-2", "gpu-3")
LINK_COUNT = 3 + len(NAMES)
"""Each pair, and each with itself."""
TOKEN = "t0ken-of-this-test"
PERIOD_SECONDS = 4.0
SLOW = LinkTerms(delay_seconds=0.002)
DEVICE = "mlx5_0"


class ProbingNodes:
    """A node role on each host of a rail, all with the same file of settings."""

    def __init__(self, rail: Rail, folder: Path) -> None:
        self.rail, self._folder = rail, folder
        self.settings = parse_probe_settings(self._settings_text(), "fabric.yaml")
        (folder / "fabric.yaml").write_text(self._settings_text())
        (folder / "token").write_text(f"{TOKEN}\n")
        self.services = {name: self._service(name) for name in NAMES}

    def start(self) -> None:
        for service in self.services.values():
            service.start()

    def stop(self) -> None:
        for service in self.services.values():
            service.stop()
        self.rail.stop()

    def ask(self, host: str, path: str, body: object = None, token: str = TOKEN) -> tuple[int, Any]:
        """Status and document; 0 while nobody answers."""

        def asked() -> tuple[int, Any]:
            try:
                answer = urllib3.request(
                    "GET" if body is None else "POST",
                    f"http://{self.rail.address(host)}:9110{path}",
                    json=body,
                    headers={"Authorization": f"Bearer {token}"},
                    retries=False,
                    timeout=90.0,
                )
            except urllib3.exceptions.HTTPError:
                return 0, None
            text = answer.data.decode()
            return answer.status, json.loads(text) if text.startswith("{") else text

        return self.rail.on(host, asked)

    def command(self, host: str, *words: str) -> str:
        """What `trimtab` prints on that host."""
        program = (sys.executable, "-c", "from controller.cli.main import main; main()")
        files = [f"--probes={self._folder / 'fabric.yaml'}"]
        files += [f"--probe-token-file={self._folder / 'token'}"] if "run" in words else []
        done = self.rail.run(host, [*program, *words, *files])
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def states(self) -> tuple[LinkState, ...]:
        return tuple(one for name in NAMES for one in read_links(self.ask(name, LINKS)[1]["links"])[0])

    def picture(self) -> ProbePicture:
        states = self.states()
        nics = {nic.key: nic for nic in self.settings.nics}
        return judge(states, nics, max(state.at for state in states), stale_after_seconds=600.0)

    def suspects(self) -> list[tuple[SuspectKind, str]]:
        return [(one.kind, one.name) for one in self.picture().suspects]

    def all_have_a_baseline(self) -> bool:
        states = self.states()
        return len(states) == LINK_COUNT and all(
            any(quantity.probes >= LEAST_PROBES for quantity in state.quantities.values()) for state in states
        )

    def _settings_text(self) -> str:
        nodes = [
            {
                "name": name,
                "address": self.rail.address(name),
                "nics": [{"device": DEVICE, "address": self.rail.address(name), "rail": 0}],
            }
            for name in NAMES
        ]
        environment = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "link0"}
        # A machine that runs tests is busy: at the usual full load each link would wait for ten periods.
        rest = {"fullLoad": 1000, "where": "all", "tool": "ucx", "period": f"{PERIOD_SECONDS:g}s", "iterations": 100}

        return yaml.safe_dump({**rest, "environment": environment, "nodes": nodes})

    def _service(self, name: str) -> Service:
        command = "from controller.cli.main import main; main()"
        argv = [
            *(sys.executable, "-c", command, "run", "collector", "--role=node", f"--node={name}", "--listen=:9110"),
            *(f"--sysfs={self._folder}", f"--probes={self._folder / 'fabric.yaml'}"),
            *(f"--probe-token-file={self._folder / 'token'}", f"--probe-state={self._folder / name}.json"),
        ]
        return self.rail.service(name, name, argv, lambda: self.ask(name, "/readyz")[0] == 200)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProbingNodes]:
    rail = Rail(Place(tmp_path_factory.mktemp("rail"), tethered=True), NAMES)
    try:
        rail.start()
    except PartMissing as missing:
        pytest.skip(f"testbed part missing: {missing}")
    made = ProbingNodes(rail, tmp_path_factory.mktemp("nodes"))
    try:
        made.start()
        wait_until(made.all_have_a_baseline, "a baseline of every link")
        yield made
    finally:
        made.stop()


@pytest.fixture
def quiet(nodes: ProbingNodes) -> Iterator[ProbingNodes]:
    yield nodes
    nodes.rail.shape(SwitchTerms())
    wait_until(lambda: nodes.suspects() == [], "the rail to be as usual")


def test_a_slow_link_is_found_and_neither_of_its_ends_is_blamed(quiet: ProbingNodes) -> None:
    quiet.rail.shape(SwitchTerms(of_pair={"gpu-1 gpu-3": SLOW}))
    ends = {f"gpu-1/{DEVICE}", f"gpu-3/{DEVICE}"}
    (link,) = (one.link for one in quiet.states() if {one.link.source, one.link.destination} == ends)
    wait_until(lambda: quiet.suspects() == [(SuspectKind.LINK, str(link))], "the slow link alone")
    worst = quiet.picture().links[0]
    assert worst.state.link == link


def test_a_host_whose_ways_are_all_slow_is_told_from_a_link_and_its_peers_are_not_blamed(quiet: ProbingNodes) -> None:
    quiet.rail.shape(SwitchTerms(of_host={"gpu-2": SLOW}))
    wait_until(lambda: quiet.suspects() == [(SuspectKind.NIC, f"gpu-2/{DEVICE}")], "the slow NIC alone")
    own = next(one for one in quiet.picture().links if one.state.link == Link(f"gpu-2/{DEVICE}", f"gpu-2/{DEVICE}"))
    assert not own.slow, "with itself it is as fast as ever: it is the network"


def test_a_probe_is_served_to_a_peer_with_the_token_for_a_nic_of_ours_alone(nodes: ProbingNodes) -> None:
    wanted = {"source": f"gpu-1/{DEVICE}", "destination": f"gpu-2/{DEVICE}", "operation": "send", "quantiles": [0.5]}
    for token in ("", "another"):
        assert nodes.ask("gpu-2", SERVE, wanted, token)[0] == 401
        assert nodes.ask("gpu-2", RUN, {"destination": "gpu-1"}, token)[0] == 401
    for wrong in (
        {"destination": f"gpu-3/{DEVICE}"},
        {"source": "stranger/mlx5_0"},
        {"operation": "write"},
        {"quantiles": [0.1]},
        {"quantiles": 1},
    ):
        status, document = nodes.ask("gpu-2", SERVE, {**wanted, **wrong})
        assert (status, "message" in document) == (403, True)
    assert nodes.ask("gpu-2", SERVE, ["no object"])[0] == 400


def test_a_person_has_two_nodes_measured_at_once(nodes: ProbingNodes) -> None:
    text = nodes.command("gpu-3", "probe", "run", "gpu-3", "gpu-1", "--output=json")
    links = {(one["source"], one["destination"]): one for one in json.loads(text)["links"]}
    assert set(links) == {(f"gpu-3/{DEVICE}", f"gpu-1/{DEVICE}"), (f"gpu-3/{DEVICE}", f"gpu-3/{DEVICE}")}
    for link in links.values():
        assert [(q["path"], q["quantile"]) for q in link["quantities"]] == [("half", 0.5), ("half", 0.99)]
        assert all(q["latest_seconds"] > 0 for q in link["quantities"])


def test_the_matrix_is_told_to_whoever_asks_all_nodes(nodes: ProbingNodes) -> None:
    document = json.loads(nodes.command("gpu-3", "probe", "list", "--output=json"))
    assert (len(document["links"]) >= LINK_COUNT, document["unanswered"]) == (True, {})
    assert {one["hop"] for one in document["links"]} == {"host", "rail"}
    assert document["usual_of_hops"] == [], "three links are too few to say what is usual for their kind"


def test_the_page_of_a_node_has_a_histogram_for_each_nic(nodes: ProbingNodes) -> None:
    _, page = nodes.ask("gpu-2", "/metrics")
    labels = f'cluster="default",device="{DEVICE}",node="gpu-2",operation="send",path="half"'
    assert f"trimtab_rdma_nic_latency_seconds_count{{{labels}}}" in page
    assert 'trimtab_rdma_probe_pace_ratio{cluster="default",node="gpu-2"} 1.0' in page


def test_what_is_usual_outlives_a_restart(nodes: ProbingNodes) -> None:
    def least() -> int:
        links = nodes.ask("gpu-1", LINKS)[1]["links"]
        return min((q["probes"] for one in links for q in one["quantities"]), default=0)

    before = least()
    service = nodes.services["gpu-1"]
    service.stop()
    service.start()
    assert least() >= min(before, LEAST_PROBES)

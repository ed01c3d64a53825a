"""Real node roles in four network namespaces that probe each other with UCX: a slow link, a slow host, a stranger."""

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
from collector.model.probing import LinkState
from collector.parse.probe_links import read_links
from collector.sources.probe_peer import LINKS
from controller.api.probe_settings import parse_probe_settings
from controller.demo.processes import Service, wait_until
from tests.testbed.network import LinkTerms
from tests.testbed.parts import PartMissing
from tests.testbed.place import Place
from tests.testbed.rail import Rail
from tests.testbed.switch import SwitchTerms

pytestmark = pytest.mark.network
NAMES = ("gpu-1", "gpu-2", "gpu-3", "gpu-4")
TOKEN = "t0ken-of-this-test"
PERIOD_SECONDS = 6.0
SLOW = LinkTerms(delay_seconds=0.02)
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
        return len(states) == 4 + 6 and all(
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

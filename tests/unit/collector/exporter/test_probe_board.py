"""What all nodes say of their links: suspects and the worst as series, and whose gangs suffer, for tenants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from collector.assemble.probe_memory import ProbeMemory
from collector.exporter.families import Published
from collector.exporter.health import Health
from collector.exporter.probe_board import ProbeBoard
from collector.exporter.probe_families import ProbePictureCollector
from collector.model.probing import Link, LinkProbe, LinkState, Nic, Operation, ProbeHost, ProbeSettings
from collector.model.reading import Known
from collector.model.snapshot import WorkPhase
from collector.model.tenancy import Objective, ObjectiveKind
from collector.sources.probe_gather import Gathered
from tests.unit.collector.exporter.published import NOW, SITE, Samples, published, samples, snapshot, work

NODES = ("n1", "n2", "n3", "n4")
SETTINGS = ProbeSettings(tuple(ProbeHost(name, "", (Nic(name, "mlx5_0", name, 0, "leaf"),)) for name in NODES))
FABRIC = Objective("fabric", ObjectiveKind.RDMA_LATENCY, 0.99, 3600.0, quantile=0.5, within_baseline_factor=3.0)
PAIRS = (("n1", "n2"), ("n1", "n3"), ("n2", "n3"), ("n4", "n3"))


def states(*slow: tuple[str, str], past: int = 6) -> tuple[LinkState, ...]:
    memory = ProbeMemory()
    for a, b in PAIRS:
        for n in range(past + 2):
            write = 2e-6 if n < past or (a, b) not in slow else 2e-5
            told = {
                (operation, quantile): Known(write if operation is Operation.WRITE else 9e-6)
                for operation in (Operation.WRITE, Operation.READ)
                for quantile in (0.5, 0.99)
            }
            memory = memory.advance(LinkProbe(Link(f"{a}/mlx5_0", f"{b}/mlx5_0"), NOW - 100 + n, told))
    return memory.states()


def busy() -> Published:
    """The tenant vision promises itself a fabric, and runs a gang across n1 and n2."""
    site = replace(SITE, tenants=(replace(SITE.tenants[0], objectives=(FABRIC,)),))
    return published(replace(snapshot([work("train", WorkPhase.RUNNING, nodes={"n1": 8, "n2": 8})]), site=site))


def board_of(*rounds: Gathered, health: Health | None = None, now: float = NOW) -> ProbeBoard:
    answers = iter(rounds)
    board = ProbeBoard(lambda: SETTINGS, lambda _: next(answers), health or Health(), lambda: now)
    for _ in rounds:
        board.read()
    return board


def shown(board: ProbeBoard) -> Samples:
    collector = ProbePictureCollector(lambda: board.picture, lambda: board.fabric, busy, lambda: NOW, 90.0)
    return samples(collector.collect())


def judged(found: Samples) -> dict[str, float]:
    return {labels[-1]: value for labels, value in found["trimtab_rdma_links"].items()}


def ratios(found: Samples) -> Iterable[float]:
    return found.get("trimtab_tenant_rdma_latency_ratio", {}).values()


def test_a_slow_link_is_a_suspect_and_the_tenant_that_uses_its_node_suffers() -> None:
    found = shown(board_of(Gathered(states(("n1", "n3")))))
    assert judged(found) == {"usual": 3.0, "slow": 1.0, "unjudged": 0.0, "failed": 0.0, "old": 0.0}
    ((labels, ratio),) = found["trimtab_rdma_suspect_ratio"].items()
    assert (labels[1:], round(ratio)) == (("link", "n1/mlx5_0 to n3/mlx5_0"), 10)
    worst = found["trimtab_tenant_rdma_latency_ratio"]
    assert max(worst, key=worst.__getitem__)[-2:] == ("n1", "n3")
    assert sorted(round(one, 2) for one in ratios(found)) == [0.33, 0.33, 3.33], "the edge of n4 is none of its own"
    assert len(found["trimtab_rdma_link_ratio"]) == len(PAIRS)


def test_reads_are_no_half_of_a_round_trip_and_do_not_stand_for_one() -> None:
    fabric = board_of(Gathered(states())).fabric
    assert {told.latest for told, _ in fabric.worst.values()} == {Known(2e-6)}


def test_before_a_baseline_the_edges_of_a_tenant_are_new_and_nothing_is_said() -> None:
    found = shown(board_of(Gathered(states(past=1))))
    assert list(found["trimtab_tenant_rdma_new_links"].values()) == [3.0]
    assert (list(ratios(found)), judged(found)["unjudged"]) == ([], 4.0)


def test_a_node_that_does_not_answer_goes_on_with_what_it_said_until_that_is_old() -> None:
    health = Health()
    silent = Gathered((), {"n1": "nothing listens there", "n2": "", "n4": ""})
    assert judged(shown(board_of(Gathered(states()), silent, health=health)))["usual"] == 4.0
    assert health.state().errors == {("probes", node, "no answer"): 1 for node in ("n1", "n2", "n4")}
    late = shown(board_of(Gathered(states()), silent, now=NOW + 100_000))
    assert (judged(late)["old"], list(ratios(late))) == (4.0, [])


def test_the_matrix_has_every_link_with_its_verdict() -> None:
    document = board_of(Gathered(states(("n4", "n3")))).document()
    assert [one["judged"] for one in document["links"]] == ["slow", "usual", "usual", "usual"]
    assert document["links"][0]["source"] == "n4/mlx5_0"
    assert document["suspects"][0]["kind"] == "link"
    assert {one["path"] for one in document["links"][0]["quantities"]} == {"half", "whole"}

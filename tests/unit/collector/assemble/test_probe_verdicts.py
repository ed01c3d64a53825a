"""What slow links point at: the host, the NIC, the switch or the link; and what says nothing."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from collector.assemble.probe_graph import fixed_links
from collector.assemble.probe_memory import ProbeMemory
from collector.assemble.probe_verdicts import Hop, ProbePicture, SuspectKind, judge
from collector.model.probing import Link, LinkProbe, Nic, Operation
from collector.model.reading import Known, Unknown

NOW = 100_000.0
STALE = 2000.0
NICS = {f"gpu-{n}/mlx5_0": Nic(f"gpu-{n}", "mlx5_0", "", 0, f"leaf-{n // 4}") for n in range(12)}
LOOPS = [Link(key, key) for key in NICS]
LINKS = sorted(fixed_links(tuple(NICS.values()), 6))
Q = (Operation.WRITE, 0.5)


def probed(
    links: Iterable[Link], slow: Iterable[Link] = (), past: int = 6, factor: float = 5.0, now: int = 2
) -> ProbeMemory:
    """After a past of usual probes, and the last `now` ones slow for some."""
    memory, slow = ProbeMemory(), set(slow)
    for link in links:
        values = [2e-6] * past + [2e-6 * (factor if link in slow else 1.0)] * now
        for n, value in enumerate(values):
            memory = memory.advance(LinkProbe(link, NOW - len(values) + n, {Q: Known(value)}))
    return memory


def picture(memory: ProbeMemory) -> ProbePicture:
    return judge(memory.states(), NICS, NOW, STALE)


def suspects(memory: ProbeMemory) -> list[tuple[SuspectKind, str]]:
    return [(one.kind, one.name) for one in picture(memory).suspects]


def touching(*nodes: str) -> list[Link]:
    return [link for link in LINKS if {link.source.split("/")[0], link.destination.split("/")[0]} & set(nodes)]


def test_nothing_slow_points_at_nothing() -> None:
    found = picture(probed(LINKS + LOOPS))
    assert found.suspects == ()
    assert {one.ratio for one in found.links} == {Known(1.0)}


def test_one_slow_link_is_the_link() -> None:
    assert suspects(probed(LINKS + LOOPS, [LINKS[3]])) == [(SuspectKind.LINK, str(LINKS[3]))]


def test_a_nic_whose_links_are_all_slow_is_the_nic_and_none_of_its_neighbours() -> None:
    assert suspects(probed(LINKS + LOOPS, touching("gpu-5"))) == [(SuspectKind.NIC, "gpu-5/mlx5_0")]


def test_a_nic_that_is_slow_with_itself_is_its_host() -> None:
    own = Link("gpu-5/mlx5_0", "gpu-5/mlx5_0")
    (suspect,) = picture(probed(LINKS + LOOPS, [*touching("gpu-5"), own])).suspects
    assert (suspect.kind, suspect.name) == (SuspectKind.HOST, "gpu-5")
    assert set(suspect.links) == {*touching("gpu-5"), own}
    assert suspect.ratio == pytest.approx(5.0)


def test_a_switch_is_blamed_when_its_nics_agree() -> None:
    slow = touching("gpu-4", "gpu-5", "gpu-6", "gpu-7")
    assert suspects(probed(LINKS + LOOPS, slow)) == [(SuspectKind.SWITCH, "leaf-1")]


def test_two_nics_of_a_switch_are_two_nics() -> None:
    found = suspects(probed(LINKS + LOOPS, touching("gpu-4", "gpu-5")))
    assert set(found) == {(SuspectKind.NIC, "gpu-4/mlx5_0"), (SuspectKind.NIC, "gpu-5/mlx5_0")}


def test_one_dead_nic_under_a_switch_of_two_is_not_the_switch() -> None:
    nics = {key: Nic(nic.node, nic.device, "", 0, f"leaf-{n // 2}") for n, (key, nic) in enumerate(NICS.items())}
    memory = probed(LINKS + LOOPS, touching("gpu-4"))
    assert [one.kind for one in judge(memory.states(), nics, NOW, STALE).suspects] == [SuspectKind.NIC]


def test_one_slow_probe_is_no_slow_link() -> None:
    assert suspects(probed(LINKS, [LINKS[0]], now=1)) == []


def test_before_five_probes_nothing_is_usual_and_the_link_is_unknown() -> None:
    found = picture(probed([LINKS[0]], past=2))
    assert [one.ratio for one in found.links] == [Unknown("fewer than 5 probes: nothing is usual yet")]
    assert found.suspects == ()


def test_a_link_without_a_past_is_measured_against_links_of_its_kind() -> None:
    memory = probed([link for link in LINKS if link != LINKS[0]])
    for at in (NOW - 2, NOW - 1):
        memory = memory.advance(LinkProbe(LINKS[0], at, {Q: Known(20e-6)}))
    assert suspects(memory) == [(SuspectKind.LINK, str(LINKS[0]))]


def test_a_link_that_varies_by_itself_must_leave_its_own_spread() -> None:
    memory = ProbeMemory()
    for n in range(20):
        memory = memory.advance(LinkProbe(LINKS[0], NOW - 100 + n, {Q: Known((2e-6, 4e-6, 6e-6)[n % 3])}))
    for n in range(2):
        memory = memory.advance(LinkProbe(LINKS[0], NOW - 10 + n, {Q: Known(10e-6)}))
    assert suspects(memory) == []


def test_write_and_read_are_judged_each_by_its_own_past() -> None:
    read = (Operation.READ, 0.5)
    memory = ProbeMemory()
    for n in range(8):
        slow = {read: Known(4e-6 if n < 6 else 40e-6)}
        memory = memory.advance(LinkProbe(LINKS[0], NOW - 10 + n, {Q: Known(2e-6), **slow}))
    (verdict,) = picture(memory).links
    assert verdict.slow
    assert isinstance(verdict.ratio, Known)
    assert verdict.ratio.value == pytest.approx(10.0)


def test_what_failed_or_is_old_is_unknown_and_not_slow() -> None:
    failed = probed([LINKS[0]], [LINKS[0]]).advance(LinkProbe(LINKS[0], NOW, {Q: Unknown("-")}, "timeout"))
    assert picture(failed).links[0].ratio == Unknown("its last probe failed: timeout")
    old = judge(probed([LINKS[0]], [LINKS[0]]).states(), NICS, NOW + 2 * STALE, STALE)
    assert old.links[0].ratio == Unknown("its last probe is too old")
    assert (old.suspects, picture(failed).suspects) == ((), ())


def test_hops_are_told_by_leaves() -> None:
    def hop(a: int, b: int) -> Hop:
        (found,) = judge(probed([Link(f"gpu-{a}/mlx5_0", f"gpu-{b}/mlx5_0")]).states(), NICS, NOW, STALE).links
        return found.hop

    assert (hop(0, 0), hop(0, 1), hop(0, 4), hop(0, 99)) == (Hop.HOST, Hop.LEAF, Hop.SPINE, Hop.RAIL)

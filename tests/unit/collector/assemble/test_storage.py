"""Whose storage is how slow: volumes of a tenant together, and the sentence that names who is at fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.ceph_memory import CephState
from collector.assemble.osd_blame import OsdFacts, blamed
from collector.assemble.storage import limit_seconds, pool_latency_seconds, tenant_storage, unattributed_ratio
from collector.assemble.storage_trouble import VolumeFacts, storage_trouble
from collector.model.objects import CephClient, FsVolume, RbdVolume
from collector.model.reading import Known, Reading, Unknown
from collector.model.tenancy import Objective, ObjectiveKind, Tenant
from collector.parse.ceph import ceph_readings
from collector.parse.ceph_names import RbdImage
from tests.ceph_pages import Image, Page, known

OWNERS = {"vision-train": "vision", "nlp": "nlp"}


def volume(image: str, namespace: str) -> RbdVolume:
    return RbdVolume(f"pv-{image}", namespace, "data", ("rbd", "", image))


def state(waiting: frozenset[RbdImage] = frozenset()) -> CephState:
    """Within ten seconds: a wrote 100 times at 10 ms, b 300 times at 50 ms, c nothing, d belongs to nobody."""
    names = ("a", "b", "c", "d")
    before = Page(1, images=dict.fromkeys(names, Image()))
    after = Page(
        2,
        images={
            "a": Image(100, 100 * 10e6),
            "b": Image(300, 300 * 50e6),
            "c": Image(),
            "d": Image(9999, 1e15),
        },
    )
    return CephState(ceph_readings(before.scrape(0.0), after.scrape(10.0)), {}, waiting, 0.0)


def test_volumes_of_a_tenant_are_seen_together_and_each_operation_counts_the_same() -> None:
    (vision,) = tenant_storage(state(), [volume("a", "vision-train"), volume("b", "vision-train")], OWNERS)
    assert (vision.tenant, vision.stalled) == ("vision", Known(False))
    assert known(vision.write_latency_seconds) == pytest.approx(0.04)
    assert vision.read_latency_seconds == Unknown("nothing completed")
    assert known(vision.write).operations == 400


def test_a_namespace_that_nobody_claims_is_the_tenant_unassigned() -> None:
    (found,) = tenant_storage(state(), [volume("a", "elsewhere")], OWNERS)
    assert found.tenant == "unassigned"


def test_a_tenant_waits_when_one_of_its_volumes_does() -> None:
    volumes = [volume("a", "vision-train"), volume("b", "vision-train"), volume("c", "nlp")]
    nlp, vision = tenant_storage(state(frozenset({RbdImage("rbd", "", "b")})), volumes, OWNERS)
    assert (nlp.stalled, vision.stalled) == (Known(False), Known(True))


def test_images_that_the_manager_does_not_export_are_unknown_and_say_what_to_set() -> None:
    (nlp,) = tenant_storage(state(), [volume("gone", "nlp")], OWNERS)
    assert isinstance(nlp.write_latency_seconds, Unknown)
    assert "rbd_stats_pools" in nlp.write_latency_seconds.reason


def test_the_tightest_promise_for_that_storage_counts() -> None:
    def promise(storage: str, within: float) -> Objective:
        return Objective("data", ObjectiveKind.STORAGE_LATENCY, 0.99, 1.0, within_seconds=within, storage=storage)

    tenant = Tenant("vision", "critical", objectives=(promise("rbd", 0.1), promise("rbd", 0.05), promise("nfs", 0.01)))
    assert limit_seconds(tenant) == 0.05
    assert limit_seconds(Tenant("nlp", "critical")) is None


def osds(**commits: float | None) -> list[OsdFacts]:
    return [
        OsdFacts(name.replace("osd", "osd."), Unknown("idle") if seconds is None else Known(seconds))
        for name, seconds in commits.items()
    ]


def vision(
    latency: float | None = None, limit: float | None = 0.05, stalled: Reading[bool] = Known(False)
) -> VolumeFacts:
    write: Reading[float] = Unknown("nothing completed") if latency is None else Known(latency)
    return VolumeFacts("vision", limit, Known(0.001), write, stalled)


def test_the_sentence_names_the_slow_disk_its_peers_and_the_broken_promise() -> None:
    found = storage_trouble(vision(0.88), osds(osd0=0.009, osd1=0.9, osd2=0.012))
    assert found is not None
    assert found.sentence == (
        "Ceph: osd.1 commits in 900 ms, others in 9.0 ms; volumes of tenant vision wait 880 ms (objective 50 ms)"
    )


def test_a_kept_promise_is_no_trouble_although_a_disk_is_slow() -> None:
    assert storage_trouble(vision(0.03), osds(osd0=0.01, osd1=0.9)) is None


def test_without_a_promise_a_slow_disk_is_trouble_and_mere_latency_is_none() -> None:
    assert storage_trouble(vision(0.88, None), osds(osd0=0.01, osd1=0.01)) is None
    found = storage_trouble(vision(0.88, None), osds(osd0=0.01, osd1=0.9))
    assert found is not None
    assert found.sentence.endswith("volumes of tenant vision wait 880 ms")


def test_a_stall_is_trouble_without_any_latency_and_blames_nobody_who_only_waits() -> None:
    waiting = OsdFacts("osd.1", Unknown("idle"), Known(3.0), Known(True))
    found = storage_trouble(vision(None, None, Known(True)), [waiting, *osds(osd2=0.003)])
    assert found is not None
    assert found.sentence == ("Ceph: operations at osd.1 do not end; volumes of tenant vision complete nothing")


def test_slow_operations_are_told_where_no_disk_stands_out() -> None:
    slow = [OsdFacts(f"osd.{n}", Known(0.2), Known(float(n))) for n in range(6)]
    found = storage_trouble(vision(0.2), slow)
    assert found is not None
    assert found.sentence.startswith("Ceph: 15 slow operations at osd.1, osd.2, osd.3 and 2 more; ")
    alone = storage_trouble(vision(0.2), [])
    assert alone is not None
    assert alone.sentence.startswith("Ceph: no OSD stands out; ")


@pytest.mark.parametrize(
    ("commits", "names"),
    [
        ({"osd0": 0.01, "osd1": 0.9, "osd2": 0.02}, ["osd.1"]),
        ({"osd0": 0.01, "osd1": 0.9, "osd2": 1.4}, ["osd.2", "osd.1"]),
        ({"osd0": 0.001, "osd1": 0.02, "osd2": 0.001}, []),  # slower than its peers, and still fast
        ({"osd0": 0.5, "osd1": 0.9, "osd2": 0.6}, []),  # all are slow: it is none of them
        ({"osd1": 0.9}, []),  # nobody to compare with
        ({"osd0": None, "osd1": 0.9}, []),
    ],
)
def test_a_disk_is_blamed_by_comparison_with_its_peers(commits: dict[str, float | None], names: list[str]) -> None:
    assert [osd.name for osd in blamed(osds(**commits))] == names


def test_volumes_on_cephfs_are_their_tenants_and_unknown_not_idle() -> None:
    home = FsVolume("pv-home", "nlp", "home", "shared", "csi-vol-1")
    nlp, vision = tenant_storage(state(), [volume("a", "vision-train"), home], OWNERS)
    assert (nlp.tenant, nlp.storage, nlp.volumes) == ("nlp", "cephfs", {(CephClient.UNKNOWN, False): 1})
    assert nlp.write == nlp.stalled == Unknown("Ceph counts no I/O per subvolume of CephFS")
    assert (vision.storage, vision.volumes) == ("rbd", {(CephClient.UNKNOWN, True): 1})


def test_the_share_of_all_io_that_no_volume_names_is_told() -> None:
    known_share = known(unattributed_ratio(state(), [volume("a", "vision-train"), volume("b", "nlp")]))
    assert known_share == pytest.approx(9999 / (9999 + 400))
    nothing = replace(state(), readings=replace(state().readings, images=()))
    assert isinstance(unattributed_ratio(nothing, []), Unknown)


def test_a_pool_has_the_latency_of_its_images_since_ceph_counts_none() -> None:
    read, write = pool_latency_seconds(state(), "rbd")
    assert read == Unknown("nothing completed")
    assert known(write) > 0.04
    assert isinstance(pool_latency_seconds(state(), "data")[0], Unknown)

"""Storage as Prometheus has it: troubles of tenants by name, and what can not be said."""

from __future__ import annotations

from collector.model.snapshot import OtherCause, OtherKind
from collector.model.tenancy import Objective, ObjectiveKind, Site, Tenant
from collector.sources.prometheus import VectorSample
from collector.sources.storage_evidence import LAST_SUCCESS, StorageEvidence, storage_evidence

NOW = 1_700_000_000.0
DATA = Objective("data", ObjectiveKind.STORAGE_LATENCY, 0.99, 60.0, within_seconds=0.05, storage="rbd")
SITE = Site("c1", (), (), (Tenant("vision", "critical", objectives=(DATA,)), Tenant("nlp", "standard")))


def sample(name: str, value: float, **labels: str) -> VectorSample:
    return VectorSample({"__name__": name, "cluster": "c1", **labels}, value, NOW)


def about(tenant: str, kind: str, value: float, **labels: str) -> VectorSample:
    return sample(f"trimtab_storage_{kind}", value, tenant=tenant, **{"storage": "rbd", **labels})


def commits(osd: str, seconds: float) -> VectorSample:
    return sample("trimtab_storage_osd_commit_latency_seconds", seconds, daemon=osd)


def read(age_seconds: float = 5.0, **labels: str) -> VectorSample:
    return sample(LAST_SUCCESS, NOW - age_seconds, **{"source": "ceph", **labels})


SLOW = [about("vision", "write_latency_seconds", 0.88), commits("osd.0", 0.01), commits("osd.1", 0.9)]


def test_a_tenant_above_its_promise_is_in_trouble_and_the_others_are_not() -> None:
    found = storage_evidence([read(), *SLOW], SITE, NOW, 90.0)
    sentence = "Ceph: osd.1 commits in 900 ms, others in 10 ms; volumes of tenant vision wait 880 ms (objective 50 ms)"
    assert found == StorageEvidence({"vision": (OtherCause(OtherKind.CEPH, sentence),)})


def test_a_stall_is_trouble_for_whoever_waits() -> None:
    hanging = sample("trimtab_storage_osd_stalled", 1.0, daemon="osd.1")
    stalled = [about("nlp", "stalled", 1.0), about("vision", "stalled", 0.0), hanging]
    found = storage_evidence([read(), *stalled], SITE, NOW, 90.0)
    assert set(found.causes) == {"nlp"}
    assert "complete nothing" in found.causes["nlp"][0].sentence


def test_where_no_ceph_is_watched_nothing_is_said() -> None:
    other = read(source="kubernetes")
    assert storage_evidence([other, *SLOW], SITE, NOW, 90.0) == StorageEvidence()


def test_a_ceph_that_was_read_too_long_ago_can_not_be_ruled_out() -> None:
    assert storage_evidence([read(91.0), *SLOW], SITE, NOW, 90.0).unseen == "it was last read 1m 31s ago"
    never = sample(LAST_SUCCESS, 0.0, source="ceph")
    assert storage_evidence([never], SITE, NOW, 90.0).unseen == "it was last read never"


def test_of_two_collectors_the_higher_value_counts() -> None:
    both = [about("vision", "write_latency_seconds", value, instance=str(value)) for value in (0.88, 0.01)]
    assert set(storage_evidence([read(), *both], SITE, NOW, 90.0).causes) == {"vision"}


def test_other_storage_is_not_taken_for_volumes_on_images() -> None:
    other = about("vision", "write_latency_seconds", 9.0, storage="cephfs")
    assert storage_evidence([read(), other], SITE, NOW, 90.0) == StorageEvidence()


def disturbed(kind: str, scope: str, where: str = "", value: float = 1.0) -> VectorSample:
    return sample("trimtab_storage_disturbance", value, disturbance=kind, scope=scope, where=where)


def told(*going_on: VectorSample) -> str:
    waits = [read(), about("vision", "write_latency_seconds", 0.88), *going_on]
    return storage_evidence(waits, SITE, NOW, 90.0).causes["vision"][0].sentence


def test_recovery_and_scrub_are_told_as_causes_where_no_disk_is_to_blame() -> None:
    sentence = told(disturbed("recovery", "cluster"), disturbed("scrub", "cluster"))
    assert sentence.startswith("Ceph: no OSD stands out, while recovery runs and a scrub runs; volumes of tenant")


def test_an_osd_that_others_wait_for_is_named_and_not_the_primaries_that_complain() -> None:
    complains = sample("trimtab_storage_slow_operations", 7.0, daemon="osd.4")
    assert told(complains, disturbed("awaited", "osd", "osd.0")).startswith(
        "Ceph: operations of other OSDs wait for osd.0;"
    )
    assert told(complains).startswith("Ceph: 7 slow operations at osd.4;")


def test_a_host_is_named_where_its_disks_are_slow_together() -> None:
    both = (commits("osd.1", 0.9), commits("osd.2", 0.8), commits("osd.3", 0.01), commits("osd.4", 0.01))
    assert "others in 10 ms (host ceph-3);" in told(*both, disturbed("slow-disk", "host", "ceph-3"))


def test_a_flag_that_stops_all_clients_is_told_before_any_disk() -> None:
    paused = disturbed("paused", "cluster")
    assert told(commits("osd.0", 0.01), commits("osd.1", 0.9), paused).startswith(
        "Ceph: a flag stops all clients (ceph osd"
    )


def test_a_disturbance_that_does_not_go_on_or_that_nobody_here_knows_is_not_told() -> None:
    nothing = (disturbed("recovery", "none", value=0.0), disturbed("gremlins", "osd"), disturbed("scrub", "galaxy"))
    assert told(*nothing).startswith("Ceph: no OSD stands out;")


def test_how_each_tenant_uses_its_storage_is_told_with_advice() -> None:
    rates = [
        about("nlp", f"{way}_{what}_per_second", value)
        for way, what, value in (
            ("read", "operations", 900.0),
            ("write", "operations", 100.0),
            ("read", "bytes", 900 * 4096.0),
            ("write", "bytes", 100 * 4096.0),
        )
    ]
    volumes = about("nlp", "bound_volumes", 2.0, client="krbd", measured="yes")
    (used,) = storage_evidence([read(), *rates, volumes], SITE, NOW, 90.0).uses["nlp"]
    assert used.pattern.startswith("1000 operations/s on rbd, 90% reads, 4 KiB a read, 4 KiB a write; order unknown")
    (told,) = used.advice
    assert told.startswith("It reads in small pieces")


def test_a_tenant_on_cephfs_is_unknown_and_not_idle() -> None:
    volumes = about("nlp", "bound_volumes", 2.0, storage="cephfs", client="unknown", measured="no")
    (used,) = storage_evidence([read(), volumes], SITE, NOW, 90.0).uses["nlp"]
    assert used.pattern == "What it reads and writes on cephfs is unknown: Ceph counts nothing of it."
    assert used.advice == ("2 of its volumes on cephfs are not measured: Ceph counts no I/O per subvolume.",)

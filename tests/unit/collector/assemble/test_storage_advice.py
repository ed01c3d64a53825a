"""How a tenant uses storage, in words, and only such advice as follows from what is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.disturbances import Disturbance, Kind, Scope
from collector.assemble.storage_advice import StorageUse, advice, pattern
from collector.model.reading import Known, Reading, Unknown

KIB = 1024.0


def use(
    reads: float = 0.0,
    writes: float = 0.0,
    read_size: float = 0.0,
    write_size: float = 0.0,
    burstiness: Reading[float] = Known(0.1),
    merged: float | None = None,
    clients: dict[str, float] | None = None,
    unmeasured: float = 0.0,
    storage: str = "rbd",
    slow: bool = False,
) -> StorageUse:
    found = StorageUse(
        "vision",
        storage,
        Known(reads),
        Known(writes),
        Known(reads * read_size),
        Known(writes * write_size),
        burstiness,
        clients=clients or {},
        unmeasured=unmeasured,
        slow=slow,
    )
    return found if merged is None else replace(found, merged_ratio=Known(merged))


def test_the_pattern_says_mix_sizes_and_waves_and_that_the_order_is_unknown() -> None:
    told = pattern(use(90, 30, 256 * KIB, 4 * KIB, Known(3.1)))
    assert told.startswith("120 operations/s on rbd, 75% reads, 256 KiB a read, 4 KiB a write, writes in waves; ")
    assert "order unknown: no node tells how many requests" in told


@pytest.mark.parametrize(("merged", "word"), [(0.8, "sequential"), (0.01, "random"), (0.2, "mixed")])
def test_the_order_is_told_where_kernels_tell_what_they_merged(merged: float, word: str) -> None:
    assert pattern(use(90, 30, 1, 1, merged=merged)).endswith(f"; {word}.")


def test_large_requests_are_no_proof_of_sequential_ones() -> None:
    (told,) = advice(use(100, 1, 4096 * KIB, 1))
    assert "if in sequence" in told


def test_what_rests_or_is_not_known_gets_no_advice() -> None:
    assert advice(use(0.2, 0.1)) == ()
    assert pattern(use(0.2, 0.1)) == "It hardly reads or writes on rbd now."
    nothing = Unknown("Ceph counts nothing of it")
    unknown = StorageUse("vision", "cephfs", nothing, nothing, nothing, nothing)
    assert pattern(unknown) == "What it reads and writes on cephfs is unknown: Ceph counts nothing of it."


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (use(1, 99, 1, 1024 * KIB, Known(2.5)), "writes in waves, as checkpoints do"),
        (use(99, 1, 8 * KIB, 1), "reads in small pieces"),
        (use(99, 1, 8 * KIB, 1, merged=0.9), "larger read-ahead on the nodes"),
        (use(1, 99, 1, 4 * KIB), "Its writes are small"),
        (
            use(unmeasured=2, storage="cephfs"),
            "2 of its volumes on cephfs are not measured: Ceph counts no I/O per sub",
        ),
        (use(unmeasured=1), "add their pools to mgr/prometheus/rbd_stats_pools"),
    ],
)
def test_advice_follows_from_the_pattern(told: StorageUse, words: str) -> None:
    (only,) = advice(told)
    assert words in only


def test_what_ceph_is_at_is_advised_on_only_while_the_tenant_suffers_from_it() -> None:
    recovery = [Disturbance(Kind.RECOVERY, Scope.CLUSTER)]
    assert advice(use(50, 50, 100 * KIB, 100 * KIB), recovery) == ()
    (told,) = advice(use(50, 50, 100 * KIB, 100 * KIB, slow=True), recovery)
    assert "high_client_ops" in told


def test_limits_of_images_are_not_advised_where_the_kernel_does_the_io() -> None:
    (told,) = advice(use(50, 50, 100 * KIB, 100 * KIB, slow=True, clients={"krbd": 3.0}))
    assert told.startswith("Its volumes are mapped by the kernel: rbd_qos_… limits do nothing there")
    (some,) = advice(use(50, 50, 100 * KIB, 100 * KIB, slow=True, clients={"krbd": 3.0, "librbd": 1.0}))
    assert some.startswith("3 of its volumes are mapped by the kernel")
    assert advice(use(50, 50, 100 * KIB, 100 * KIB, slow=True, clients={"librbd": 1.0})) == ()

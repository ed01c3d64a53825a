"""Exported metrics on the storage of tenants and the Ceph behind it. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_TENANT_STORAGE: Final = ("cluster", "tenant", "storage")
_DAEMON: Final = ("cluster", "daemon")
_CEPH_POOL: Final = ("cluster", "ceph_pool")
_VOLUME: Final = ("cluster", "tenant", "namespace", "persistentvolumeclaim")
_NOTHING_DONE: Final = "no sample when none completed, in a stall as well: look at trimtab_storage_stalled beside it"
_BUSIEST: Final = "only the volumes that move most: the others have no sample"
_NO_QUANTILE: Final = "Ceph exports no quantiles: the worst operation was slower still"
_ADMIN: Final = "only with --ceph-admin"


def _gauge(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    kind = Kind.INFO if name.endswith("_info") else Kind.GAUGE
    return Metric(name, kind, unit, labels, Source.COLLECTOR, meaning, traps)


STORAGE: Final = (
    _gauge(
        "trimtab_storage_read_latency_seconds",
        Unit.SECONDS,
        _TENANT_STORAGE,
        "Mean latency of the reads of all volumes of the tenant that completed within the last minute.",
        _NOTHING_DONE,
    ),
    _gauge(
        "trimtab_storage_write_latency_seconds",
        Unit.SECONDS,
        _TENANT_STORAGE,
        "Mean latency of the writes of all volumes of the tenant that completed within the last minute.",
        _NOTHING_DONE,
    ),
    _gauge(
        "trimtab_storage_read_operations_per_second",
        Unit.OPERATIONS_PER_SECOND,
        _TENANT_STORAGE,
        "Reads of all volumes of the tenant.",
    ),
    _gauge(
        "trimtab_storage_write_operations_per_second",
        Unit.OPERATIONS_PER_SECOND,
        _TENANT_STORAGE,
        "Writes of all volumes of the tenant.",
    ),
    _gauge(
        "trimtab_storage_read_bytes_per_second",
        Unit.BYTES_PER_SECOND,
        _TENANT_STORAGE,
        "Bytes read from all volumes of the tenant; by operations: the size of a read, large when it is sequential.",
    ),
    _gauge(
        "trimtab_storage_write_bytes_per_second",
        Unit.BYTES_PER_SECOND,
        _TENANT_STORAGE,
        "Bytes written to all volumes of the tenant.",
    ),
    _gauge(
        "trimtab_storage_limit_seconds",
        Unit.SECONDS,
        _TENANT_STORAGE,
        "The tightest latency that an objective promises the tenant.",
    ),
    _gauge(
        "trimtab_storage_stalled",
        Unit.TRUTH,
        _TENANT_STORAGE,
        "Whether a volume of the tenant did I/O until a stall of Ceph began, and has done none since.",
        "a volume that was idle when the stall began shows nothing",
    ),
    _gauge(
        "trimtab_storage_osd_stalled",
        Unit.TRUTH,
        _DAEMON,
        "Whether the OSD has had operations in flight for a while and does not get on with them.",
        "says who waits, not who is waited for: a frozen OSD reports nothing, its peers do",
        "no sample where the manager does not export the counters of OSDs (since Reef: scrape ceph-exporter too)",
    ),
    _gauge(
        "trimtab_storage_osd_commit_latency_seconds",
        Unit.SECONDS,
        _DAEMON,
        "How long the OSD's own disk took to commit, mean of the last minute.",
        "no sample when nothing was committed: idle is not fast",
    ),
    _gauge(
        "trimtab_storage_slow_operations",
        Unit.OPERATIONS,
        _DAEMON,
        "Operations in flight for longer than Ceph complains after (30 s by default).",
        "stands at who waits: often the healthy primary of a slow replica",
    ),
    *(
        _gauge(
            f"trimtab_storage_{way}_worst_latency_seconds",
            Unit.SECONDS,
            _TENANT_STORAGE,
            f"Within the last minute the greatest mean latency of {way}s of any volume between two looks.",
            _NOTHING_DONE,
            _NO_QUANTILE,
        )
        for way in ("read", "write")
    ),
    *(
        _gauge(
            f"trimtab_storage_{way}_burstiness_ratio",
            Unit.RATIO,
            _TENANT_STORAGE,
            f"How unevenly the volume that {way}s most does so: standard deviation of bytes a second by their mean, "
            "over about ten minutes. 0: steady; 2 and more: waves, as checkpoints make.",
            "no sample in the first minutes",
        )
        for way in ("read", "write")
    ),
    _gauge(
        "trimtab_storage_bound_volumes",
        Unit.VOLUMES,
        (*_TENANT_STORAGE, "client", "measured"),
        "Volumes on Ceph that claims of the tenant are bound to, by what does their I/O and whether Ceph counts it.",
        "of a subvolume of CephFS Ceph counts none: such a tenant's storage is unknown, not idle",
    ),
    _gauge(
        "trimtab_storage_unattributed_ratio",
        Unit.RATIO,
        ("cluster",),
        "Share of the operations on all images that no bound volume names: virtual machines, other clusters.",
    ),
    _gauge(
        "trimtab_storage_volume_info",
        Unit.TRUTH,
        (*_VOLUME, "persistentvolume", "storage", "client", "ceph_pool", "image_namespace", "image"),
        "A bound volume, whose it is, and its image or subvolume: joins Ceph's own series to tenants.",
        "krbd: limits of the image (rbd_qos_…) do nothing",
    ),
    *(
        _gauge(f"trimtab_storage_volume_{way}_{what}_per_second", unit, _VOLUME, f"{told} one volume.", _BUSIEST)
        for way, what, unit, told in (
            ("read", "operations", Unit.OPERATIONS_PER_SECOND, "Reads of"),
            ("write", "operations", Unit.OPERATIONS_PER_SECOND, "Writes of"),
            ("read", "bytes", Unit.BYTES_PER_SECOND, "Bytes read from"),
            ("write", "bytes", Unit.BYTES_PER_SECOND, "Bytes written to"),
        )
    ),
    _gauge(
        "trimtab_storage_volume_write_burstiness_ratio",
        Unit.RATIO,
        _VOLUME,
        "How unevenly it is written to, as trimtab_storage_write_burstiness_ratio.",
        _BUSIEST,
    ),
    *(
        _gauge(
            f"trimtab_storage_osd_{way}_latency_seconds",
            Unit.SECONDS,
            _DAEMON,
            f"Mean latency of the {way}s that the OSD answered for within the last minute, its replicas included.",
            "a slow replica makes its primaries slow: blame by trimtab_storage_osd_commit_latency_seconds",
            "no sample when none completed: a stalled OSD completes nothing",
        )
        for way in ("read", "write")
    ),
    _gauge(
        "trimtab_storage_osd_worst_latency_seconds",
        Unit.SECONDS,
        _DAEMON,
        "Within the last minute the greatest mean latency of reads or writes between two looks.",
        _NO_QUANTILE,
    ),
    _gauge(
        "trimtab_storage_osd_longest_stall_seconds",
        Unit.SECONDS,
        _DAEMON,
        "Longest time within the last minute over which operations were in flight there and none completed; 0: none.",
        "stays for a minute after a stall, so that no scrape misses one of a few seconds",
        "says who waited, not who was waited for",
    ),
    _gauge(
        "trimtab_storage_osd_slow_events",
        Unit.EVENTS,
        _DAEMON,
        "Waits of seconds that its store counted within the last minute: sees stalls too short for slow operations.",
        "no sample before Squid 19.2",
        "load alone raises it too: a symptom, no broken disk",
    ),
    _gauge(
        "trimtab_storage_osd_silent",
        Unit.TRUTH,
        _DAEMON,
        "Whether the cluster counts the OSD as up and its counters have vanished, as those of a frozen one do.",
        "only where ceph-exporter is read: the manager alone repeats the last it heard",
    ),
    _gauge(
        "trimtab_storage_osd_awaited_operations",
        Unit.OPERATIONS,
        _DAEMON,
        "Operations at other OSDs that wait for this one: a slow or frozen replica, told from its blamed primaries.",
        _ADMIN,
    ),
    *(
        _gauge(
            f"trimtab_storage_pool_{way}_latency_seconds",
            Unit.SECONDS,
            _CEPH_POOL,
            f"Mean latency of {way}s over the images of the pool within the last minute.",
            "Ceph counts no latency of pools: none where the statistics of images are off",
        )
        for way in ("read", "write")
    ),
    *(
        _gauge(
            f"trimtab_storage_pool_{way}_{what}_per_second",
            unit,
            _CEPH_POOL,
            f"{what.capitalize()} of {way}s, all clients.",
        )
        for way in ("read", "write")
        for what, unit in (("operations", Unit.OPERATIONS_PER_SECOND), ("bytes", Unit.BYTES_PER_SECOND))
    ),
    _gauge(
        "trimtab_storage_mds_reply_latency_seconds",
        Unit.SECONDS,
        _DAEMON,
        "Mean time of a metadata server of CephFS to answer, within the last minute, over all who use it.",
    ),
    _gauge(
        "trimtab_storage_recovery_bytes_per_second",
        Unit.BYTES_PER_SECOND,
        ("cluster",),
        "Data that Ceph moves to recover: takes disks and network from clients.",
    ),
    _gauge(
        "trimtab_storage_disturbance",
        Unit.TRUTH,
        ("cluster", "disturbance", "scope", "where"),
        "What goes on in Ceph that makes storage slow, and how far it reaches; 0 with scope `none` while it does not.",
        "no sample of a kind that nobody can tell",
    ),
)

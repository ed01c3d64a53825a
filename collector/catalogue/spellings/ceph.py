"""How the manager's module `prometheus` and ceph-exporter spell things. Data only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.ceph import PREFIX
from collector.catalogue.spelling import MILLI, NANO, Canary, Spelling, Vocabulary

_RENAMES: Final = {
    "ceph_daemon": "daemon",
    "pool": "ceph_pool",
    "pool_id": "ceph_pool",
    "namespace": "image_namespace",
    "name": "check",
    "method": "kind",
}
FLAGS: Final = (
    *("noup", "nodown", "noout", "noin", "nobackfill", "norebalance", "norecover", "noscrub", "nodeep_scrub"),
)
"""Flags of the map of OSDs that the manager exports."""


def _osd_way(short: str, way: str, size: str) -> tuple[Spelling, ...]:
    theirs, ours = f"ceph_osd_op_{short}", f"{PREFIX}osd_{way}"
    return (
        Spelling(f"{theirs}_latency_sum", f"{ours}_latency_seconds_total"),
        Spelling(f"{theirs}_latency_count", f"{ours}_timed_operations_total"),
        Spelling(theirs, f"{ours}_operations_total"),
        Spelling(f"{theirs}_{size}_bytes", f"{ours}_bytes_total"),
    )


def _image_way(way: str) -> tuple[Spelling, ...]:
    theirs, ours = f"ceph_rbd_{way}", f"{PREFIX}image_{way}"
    return (
        Spelling(f"{theirs}_latency_sum", f"{ours}_latency_seconds_total", NANO),  # whatever its help text says
        Spelling(f"{theirs}_latency_count", f"{ours}_timed_operations_total"),
        Spelling(f"{theirs}_ops", f"{ours}_operations_total"),
        Spelling(f"{theirs}_bytes", f"{ours}_bytes_total"),
    )


_SPELLINGS: Final = (
    Spelling("ceph_health_status", f"{PREFIX}health_code", limit=2.0),
    Spelling("ceph_health_detail", f"{PREFIX}health_check"),
    Spelling("ceph_healthcheck_slow_ops", f"{PREFIX}slow_operations"),
    Spelling("ceph_daemon_health_metrics", f"{PREFIX}daemon_slow_operations"),
    Spelling("ceph_prometheus_collect_duration_seconds_count", f"{PREFIX}collect_rounds_events_total"),
    Spelling("ceph_daemon_socket_up", f"{PREFIX}daemon_reached", documented="Reef"),
    Spelling("ceph_osd_up", f"{PREFIX}osd_up"),
    Spelling("ceph_osd_in", f"{PREFIX}osd_in"),
    Spelling("ceph_osd_commit_latency_ms", f"{PREFIX}osd_commit_latency_seconds", MILLI),
    Spelling("ceph_osd_apply_latency_ms", f"{PREFIX}osd_apply_latency_seconds", MILLI),
    Spelling("ceph_osd_op_wip", f"{PREFIX}osd_running_operations"),
    *_osd_way("r", "read", "out"),
    *_osd_way("w", "write", "in"),
    Spelling("ceph_osd_op_rw_latency_sum", f"{PREFIX}osd_other_latency_seconds_total"),
    Spelling("ceph_osd_op_rw_latency_count", f"{PREFIX}osd_other_timed_operations_total"),
    Spelling("ceph_osd_recovery_ops", f"{PREFIX}osd_recovery_operations_total"),
    Spelling("ceph_osd_stat_bytes", f"{PREFIX}osd_size_bytes"),
    Spelling("ceph_osd_stat_bytes_used", f"{PREFIX}osd_used_bytes"),
    *(
        Spelling(
            f"ceph_bluestore_slow_{what}_count",
            f"{PREFIX}bluestore_slow_{what}_events_total",
            documented="Squid 19.2",
        )
        for what in ("aio_wait", "committed_kv", "read_onode_meta", "read_wait_aio")
    ),
    *_image_way("read"),
    *_image_way("write"),
    Spelling("ceph_pool_rd", f"{PREFIX}pool_read_operations_total"),
    Spelling("ceph_pool_wr", f"{PREFIX}pool_write_operations_total"),
    Spelling("ceph_pool_rd_bytes", f"{PREFIX}pool_read_bytes_total"),
    Spelling("ceph_pool_wr_bytes", f"{PREFIX}pool_write_bytes_total"),
    Spelling("ceph_pool_stored", f"{PREFIX}pool_stored_bytes"),
    Spelling("ceph_pool_max_avail", f"{PREFIX}pool_available_bytes"),
    Spelling("ceph_pool_quota_bytes", f"{PREFIX}pool_quota_bytes"),
    *(
        Spelling(f"ceph_pg_{theirs}", f"{PREFIX}pool_{ours}_placement_groups")
        for theirs, ours in (
            *((one, one) for one in ("recovering", "recovery_wait", "backfilling", "backfill_wait", "scrubbing")),
            ("deep", "deep_scrubbing"),
        )
    ),
    *(Spelling(f"ceph_osd_flag_{flag}", f"{PREFIX}flag", labels=(("flag", flag),)) for flag in FLAGS),
    Spelling("ceph_mds_reply_latency_sum", f"{PREFIX}mds_reply_latency_seconds_total"),
    Spelling("ceph_mds_reply_latency_count", f"{PREFIX}mds_timed_replies_events_total"),
    Spelling("ceph_pool_recovering_bytes_per_sec", f"{PREFIX}pool_recovering_bytes_per_second"),
)

_CANARIES: Final = tuple(
    Canary(f"{PREFIX}{what}_latency_seconds_total", f"{PREFIX}{what}_timed_operations_total", 1e-7, 3600.0)
    for what in ("image_read", "image_write", "osd_read", "osd_write", "osd_other")
)

CEPH_MGR: Final = Vocabulary(
    source="ceph-mgr",
    title="Ceph's manager",
    prefixes=("ceph_",),
    spellings=_SPELLINGS,
    renames=_RENAMES,
    canaries=_CANARIES,
)
CEPH_EXPORTER: Final = Vocabulary(
    source="ceph-exporter",
    title="ceph-exporter, for the counters of daemons since Reef",
    prefixes=("ceph_",),
    spellings=_SPELLINGS,
    renames=_RENAMES,
    canaries=_CANARIES,
)

_FACTORS: Final = {spelling.theirs: spelling.factor for spelling in _SPELLINGS}


def factor(theirs: str) -> float:
    """By what a value of theirs is multiplied to stand in base units. Raises KeyError for a name that is not read."""
    return _FACTORS[theirs]

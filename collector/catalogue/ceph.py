"""Ceph under names with units. Entries only; the spellings of its two exporters stand in `spellings`."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

PREFIX: Final = "trimtab_ceph_"
_DAEMON: Final = ("daemon",)
_IMAGE: Final = ("ceph_pool", "image_namespace", "image")
_POOL: Final = ("ceph_pool",)
_STALL: Final = "a stalled daemon completes nothing: no growth is not fast"


def _entry(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    kind = Kind.COUNTER if name.endswith("_total") else Kind.GAUGE
    return Metric(PREFIX + name, kind, unit, labels, Source.NORMALIZED, meaning, traps)


CEPH: Final = (
    _entry("health_code", Unit.CODE, (), "0 healthy, 1 warning, 2 error."),
    _entry("health_check", Unit.TRUTH, ("check", "severity"), "Whether the check is raised; stays at 0 afterwards."),
    _entry("slow_operations", Unit.OPERATIONS, (), "Operations in flight for longer than Ceph complains after."),
    _entry(
        "daemon_slow_operations", Unit.OPERATIONS, _DAEMON, "The same by the daemon where they wait.", "not who is slow"
    ),
    _entry("collect_rounds_events_total", Unit.EVENTS, ("kind",), "How often the manager collected anew."),
    _entry("daemon_reached", Unit.TRUTH, _DAEMON, "Whether ceph-exporter reached the daemon's socket."),
    _entry("osd_up", Unit.TRUTH, _DAEMON, "Whether the cluster counts the OSD as up.", "stays 1 while it is frozen"),
    _entry("osd_in", Unit.TRUTH, _DAEMON, "Whether the OSD holds data."),
    _entry(
        "osd_commit_latency_seconds",
        Unit.SECONDS,
        _DAEMON,
        "How long its disk took to commit.",
        "0 means idle, not fast",
    ),
    _entry(
        "osd_apply_latency_seconds", Unit.SECONDS, _DAEMON, "How long its disk took to apply.", "0 means idle, not fast"
    ),
    _entry("osd_running_operations", Unit.OPERATIONS, _DAEMON, "Operations in flight."),
    *(
        _entry(f"osd_{way}_latency_seconds_total", Unit.SECONDS, _DAEMON, f"Time of all {way}s together.", _STALL)
        for way in ("read", "write", "other")
    ),
    *(
        _entry(f"osd_{way}_timed_operations_total", Unit.OPERATIONS, _DAEMON, f"Completed {way}s, beside their time.")
        for way in ("read", "write", "other")
    ),
    *(
        _entry(f"osd_{way}_operations_total", Unit.OPERATIONS, _DAEMON, f"Completed {way}s.")
        for way in ("read", "write")
    ),
    *(_entry(f"osd_{way}_bytes_total", Unit.BYTES, _DAEMON, f"Bytes of {way}s.") for way in ("read", "write")),
    _entry("osd_recovery_operations_total", Unit.OPERATIONS, _DAEMON, "Operations of recovery: a cause of slowness."),
    _entry("osd_size_bytes", Unit.BYTES, _DAEMON, "Size of the OSD."),
    _entry("osd_used_bytes", Unit.BYTES, _DAEMON, "Bytes used on the OSD."),
    *(
        _entry(
            f"bluestore_slow_{what}_events_total",
            Unit.EVENTS,
            _DAEMON,
            f"Waits of seconds in the store ({what.replace('_', ' ')}): sees stalls too short for slow operations.",
            "absent before Squid 19.2",
            "load alone raises it too: a symptom, no broken disk",
        )
        for what in ("aio_wait", "committed_kv", "read_onode_meta", "read_wait_aio")
    ),
    *(
        _entry(f"image_{way}_{what}_total", unit, _IMAGE, meaning, *traps)
        for way in ("read", "write")
        for what, unit, meaning, traps in (
            ("latency_seconds", Unit.SECONDS, f"Time of all {way}s together.", ("Ceph counts nanoseconds", _STALL)),
            ("timed_operations", Unit.OPERATIONS, f"Completed {way}s, beside their time.", ()),
            ("operations", Unit.OPERATIONS, f"Completed {way}s.", ()),
            ("bytes", Unit.BYTES, f"Bytes of {way}s.", ()),
        )
    ),
    *(_entry(f"pool_{way}_operations_total", Unit.OPERATIONS, _POOL, f"Client {way}s.") for way in ("read", "write")),
    *(_entry(f"pool_{way}_bytes_total", Unit.BYTES, _POOL, f"Bytes of client {way}s.") for way in ("read", "write")),
    _entry("pool_stored_bytes", Unit.BYTES, _POOL, "Bytes stored, without copies."),
    _entry("pool_available_bytes", Unit.BYTES, _POOL, "Bytes that fit still."),
    _entry("pool_quota_bytes", Unit.BYTES, _POOL, "Quota of the pool; 0 for none."),
    *(
        _entry(f"pool_{state}_placement_groups", Unit.PLACEMENT_GROUPS, _POOL, f"Placement groups in state {state}.")
        for state in ("recovering", "recovery_wait", "backfilling", "backfill_wait", "scrubbing", "deep_scrubbing")
    ),
    _entry("flag", Unit.TRUTH, ("flag",), "A flag of the map of OSDs; those that stop clients are not exported."),
    _entry("mds_reply_latency_seconds_total", Unit.SECONDS, _DAEMON, "Time of all answers of a metadata server."),
    _entry("mds_timed_replies_events_total", Unit.EVENTS, _DAEMON, "Answers, beside their time."),
    _entry("pool_recovering_bytes_per_second", Unit.BYTES_PER_SECOND, _POOL, "Recovery running: a cause of slowness."),
)

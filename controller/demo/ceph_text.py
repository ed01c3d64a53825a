"""The page that the prometheus module of a Ceph manager would serve for a `CephModel`. Pure: a fake of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from controller.demo.ceph_model import CephModel, IoCounters, Osd
from controller.demo.exposition import TextFamily, text_of

_NANOSECONDS = 1e9
_MILLISECONDS = 1e3

_Rows = Sequence[tuple[Mapping[str, str], float]]
_Counted = Sequence[tuple[Mapping[str, str], IoCounters]]


def ceph_text(model: CephModel) -> str:
    """The whole page of the active manager."""
    return text_of((*_cluster(model), *_osds(model.osds), *_images(model)))


def _gauge(name: str, meaning: str, rows: _Rows) -> TextFamily:
    return TextFamily(name, "gauge", meaning, tuple(rows))


def _counter(name: str, meaning: str, rows: _Rows) -> TextFamily:
    return TextFamily(name, "counter", meaning, tuple(rows))


def _cluster(model: CephModel) -> Iterator[TextFamily]:
    yield _gauge("ceph_health_status", "Cluster health status", [({}, 0.0)])
    rounds = [({"method": "get_stats"}, float(model.rounds))]
    yield _counter("ceph_prometheus_collect_duration_seconds_count", "The amount of metrics gathered", rounds)


def _osds(osds: Sequence[Osd]) -> Iterator[TextFamily]:
    named = [({"ceph_daemon": f"osd.{osd.number}"}, osd) for osd in osds]
    about = [
        ({**labels, "device_class": "ssd" if osd.pool == "fast" else "hdd", "hostname": f"ceph-{osd.number}"}, 1.0)
        for labels, osd in named
    ]
    yield _gauge("ceph_osd_metadata", "OSD Metadata", about)
    yield _gauge("ceph_osd_up", "OSD status up", [(labels, 1.0) for labels, _ in named])
    yield _gauge("ceph_osd_in", "OSD status in", [(labels, 1.0) for labels, _ in named])
    # An OSD that committed nothing lately says 0.
    disk = [(labels, osd.latency_seconds * _MILLISECONDS if osd.busy else 0.0) for labels, osd in named]
    yield _gauge("ceph_osd_commit_latency_ms", "OSD stat commit_latency_ms", disk)
    yield _gauge("ceph_osd_apply_latency_ms", "OSD stat apply_latency_ms", disk)
    in_progress = [(labels, float(osd.busy and osd.slow)) for labels, osd in named]
    yield _gauge("ceph_osd_op_wip", "Replication operations currently being processed (primary)", in_progress)
    reads, writes = ([(labels, osd.read) for labels, osd in named], [(labels, osd.write) for labels, osd in named])
    yield from _io("ceph_osd_op_r", "read operations", "ceph_osd_op_r_out_bytes", reads, 1.0)
    yield from _io("ceph_osd_op_w", "write operations", "ceph_osd_op_w_in_bytes", writes, 1.0)
    none = [(labels, 0.0) for labels, _ in named]
    yield _counter("ceph_osd_op_rw_latency_count", "Latency of read-modify-write operation Count", none)


def _images(model: CephModel) -> Iterator[TextFamily]:
    images = [({"pool": it.pool, "namespace": "", "image": it.name}, it) for it in model.images.values()]
    reads, writes = ([(labels, it.read) for labels, it in images], [(labels, it.write) for labels, it in images])
    for direction, rows in (("read", reads), ("write", writes)):
        count = [(labels, it.operations) for labels, it in rows]
        yield _counter(f"ceph_rbd_{direction}_ops", f"RBD image {direction}s count", count)
        # Nanoseconds, whatever the help text of the real page says.
        yield from _io(
            f"ceph_rbd_{direction}", f"RBD image {direction}s", f"ceph_rbd_{direction}_bytes", rows, _NANOSECONDS
        )


def _io(stem: str, what: str, bytes_name: str, rows: _Counted, unit: float) -> Iterator[TextFamily]:
    """Latency as sum and count, and bytes."""
    total = [(labels, it.latency_seconds * unit) for labels, it in rows]
    yield _counter(f"{stem}_latency_sum", f"Latency of {what} Total", total)
    yield _counter(
        f"{stem}_latency_count", f"Latency of {what} Count", [(labels, it.operations) for labels, it in rows]
    )
    yield _counter(bytes_name, f"Bytes of {what}", [(labels, it.bytes) for labels, it in rows])

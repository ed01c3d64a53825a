"""The names on Ceph's pages that are read, and by which labels each is told apart. Data and one function. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from collector.catalogue.spellings.ceph import FLAGS as EXPORTED_FLAGS
from collector.catalogue.spellings.ceph import factor
from collector.parse.exposition import Sample

ROUND: Final = "ceph_prometheus_collect_duration_seconds_count"
HEALTH: Final = "ceph_health_status"
CHECK: Final = "ceph_health_detail"
ALL_SLOW: Final = "ceph_healthcheck_slow_ops"
DAEMON_HEALTH: Final = "ceph_daemon_health_metrics"
COMMIT: Final = "ceph_osd_commit_latency_ms"
IN_PROGRESS: Final = "ceph_osd_op_wip"
UP: Final = "ceph_osd_up"
IN: Final = "ceph_osd_in"
OTHER_OPERATIONS: Final = "ceph_osd_op_rw_latency_count"
"""Operations that read and write at once stand in neither of the two."""
RECOVERED: Final = "ceph_osd_recovery_ops"
REACHED: Final = "ceph_daemon_socket_up"
OSD_ABOUT: Final = "ceph_osd_metadata"
POOL_ABOUT: Final = "ceph_pool_metadata"
POOL_RECOVERY: Final = "ceph_pool_recovering_bytes_per_sec"
PG_RECOVERY: Final = ("ceph_pg_recovering", "ceph_pg_recovery_wait", "ceph_pg_backfilling", "ceph_pg_backfill_wait")
PG_SCRUB: Final = ("ceph_pg_scrubbing", "ceph_pg_deep")
FLAGS: Final = tuple(f"ceph_osd_flag_{flag}" for flag in EXPORTED_FLAGS)
"""Those that stop clients the manager only counts among its health checks."""
SLOW_EVENTS: Final = tuple(
    f"ceph_bluestore_slow_{what}_count" for what in ("aio_wait", "committed_kv", "read_onode_meta", "read_wait_aio")
)


class Names(NamedTuple):
    """What counts one direction of I/O."""

    operations: str
    latency: str
    size: str

    @property
    def unit_seconds(self) -> float:
        """What its latency counts in."""
        return factor(self.latency)


OSD_READ: Final = Names("ceph_osd_op_r_latency_count", "ceph_osd_op_r_latency_sum", "ceph_osd_op_r_out_bytes")
OSD_WRITE: Final = Names("ceph_osd_op_w_latency_count", "ceph_osd_op_w_latency_sum", "ceph_osd_op_w_in_bytes")
RBD_READ: Final = Names("ceph_rbd_read_latency_count", "ceph_rbd_read_latency_sum", "ceph_rbd_read_bytes")
RBD_WRITE: Final = Names("ceph_rbd_write_latency_count", "ceph_rbd_write_latency_sum", "ceph_rbd_write_bytes")
POOL_READ: Final = ("ceph_pool_rd", "ceph_pool_rd_bytes")
POOL_WRITE: Final = ("ceph_pool_wr", "ceph_pool_wr_bytes")
MDS_REPLY: Final = ("ceph_mds_reply_latency_count", "ceph_mds_reply_latency_sum")

OSD_COUNTERS: Final = frozenset((*OSD_READ, *OSD_WRITE, IN_PROGRESS, OTHER_OPERATIONS))
"""What an OSD counts itself; since Reef on the pages of ceph-exporter."""
OF_OSDS: Final = OSD_COUNTERS | {COMMIT, UP}
OF_IMAGES: Final = frozenset((*RBD_READ, *RBD_WRITE))
_OF_DAEMONS: Final = OF_OSDS | {IN, RECOVERED, REACHED, *SLOW_EVENTS, *MDS_REPLY}
_OF_POOLS: Final = frozenset((*POOL_READ, *POOL_WRITE, POOL_RECOVERY, *PG_RECOVERY, *PG_SCRUB))
_OF_CLUSTER: Final = frozenset((HEALTH, ALL_SLOW, *FLAGS))
_SLOW: Final = "SLOW_OPS"

Key = tuple[str, ...]
"""The labels that matter: of an image (pool, namespace, name), of a daemon its name, of a pool its number."""


class RbdImage(NamedTuple):
    """An image of RBD. `namespace` is the one inside the pool, mostly "", and none of Kubernetes."""

    pool: str
    namespace: str
    name: str


_Labels = Mapping[str, str]


def _image(labels: _Labels) -> Key | None:
    name = labels.get("image", "")
    return RbdImage(labels.get("pool", ""), labels.get("namespace", ""), name) if name else None


def _daemon(labels: _Labels) -> Key | None:
    name = labels.get("ceph_daemon", "")
    return (name,) if name else None


def _slow_daemon(labels: _Labels) -> Key | None:
    return _daemon(labels) if labels.get("type") == _SLOW else None


def _daemon_and(label: str) -> Callable[[_Labels], Key | None]:
    return lambda labels: (labels["ceph_daemon"], labels.get(label, "")) if labels.get("ceph_daemon") else None


_KEYS: Final[Mapping[str, Callable[[_Labels], Key | None]]] = {
    **dict.fromkeys(_OF_CLUSTER, lambda labels: ()),
    **dict.fromkeys(OF_IMAGES, _image),
    **dict.fromkeys(_OF_DAEMONS, _daemon),
    **dict.fromkeys(_OF_POOLS, lambda labels: (labels["pool_id"],) if labels.get("pool_id") else None),
    DAEMON_HEALTH: _slow_daemon,
    CHECK: lambda labels: (labels.get("name", ""), labels.get("severity", "")),
    ROUND: lambda labels: (labels.get("method", ""),),
    OSD_ABOUT: _daemon_and("hostname"),
    POOL_ABOUT: lambda labels: (labels.get("pool_id", ""), labels.get("name", "")),
}
CEPH_NAMES: Final = frozenset(_KEYS)
"""The names that are read here, for `parse_exposition(text, CEPH_NAMES)`."""
DOCUMENTED: Final = frozenset((REACHED, *SLOW_EVENTS))
"""Of these, what is known by its documentation alone: of releases after Pacific."""


def key_of(sample: Sample) -> Key | None:
    """The labels that matter of a sample; None for one that does not."""
    key = _KEYS.get(sample.name)
    return None if key is None else key(sample.labels)

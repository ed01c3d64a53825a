"""What a catalogue entry says: kind, unit, labels, traps. Values only; the entries stand in the modules beside it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from collector.model.gangs import Scheduler
from collector.model.objects import CephClient
from collector.model.snapshot import WaitingName


class Kind(StrEnum):
    """How a metric moves."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    """Series _bucket (label `le`), _sum and _count under its name."""
    INFO = "info"
    """A gauge that is always 1; its labels are the message, and joins use them."""


class Unit(StrEnum):
    """What one of it is. The value is the ending that our own names carry; `UNNAMED` units stand in no name."""

    SECONDS = "seconds"
    TIMESTAMP_SECONDS = "timestamp_seconds"
    GPUS = "gpus"
    PODS = "pods"
    WORKLOADS = "workloads"
    EVICTIONS = "evictions"
    ERRORS = "errors"
    TICKS = "ticks"
    DECISIONS = "decisions"
    CHANGES = "changes"
    POSTS = "posts"
    OPERATIONS = "operations"
    OPERATIONS_PER_SECOND = "operations_per_second"
    BYTES_PER_SECOND = "bytes_per_second"
    BYTES = "bytes"
    DEVICES = "devices"
    JOULES = "joules"
    PACKETS = "packets"
    REQUESTS = "requests"
    EVENTS = "events"
    EVENTS_PER_SECOND = "events_per_second"
    READINGS = "readings"
    VOLUMES = "volumes"
    PLACEMENT_GROUPS = "placement_groups"
    MESSAGES_PER_SECOND = "messages_per_second"
    LINKS = "links"
    GIDS = "gids"
    PROBES = "probes"
    RATIO = "ratio"
    TRUTH = "0 or 1"
    PERCENT = "percent, 0-100"
    MEBIBYTES = "MiB"
    WATTS = "watts"
    HERTZ = "hertz"
    CELSIUS = "celsius"
    CODE = "code"
    NUMBER = "a number of what the name says"


UNNAMED: Final = frozenset(
    {Unit.TRUTH, Unit.PERCENT, Unit.MEBIBYTES, Unit.NUMBER},
)
FOREIGN_ONLY: Final = UNNAMED - {Unit.TRUTH}
"""Units that only other people's metrics may have; ours are base units and ratios."""


class Source(StrEnum):
    """Who makes the series."""

    COLLECTOR = "trimtab collector"
    CONTROLLER = "trimtab controller"
    RECORDED = "recording rule"
    DCGM_EXPORTER = "dcgm-exporter"
    OTHER_GPU_EXPORTERS = "exporters of other GPUs"
    NORMALIZED = "texts of others, under our name"
    KUBE_STATE_METRICS = "kube-state-metrics"
    KUBE_SCHEDULER = "kube-scheduler"
    KUEUE = "Kueue"


FOREIGN: Final = frozenset(
    {Source.DCGM_EXPORTER, Source.OTHER_GPU_EXPORTERS, Source.KUBE_STATE_METRICS, Source.KUBE_SCHEDULER, Source.KUEUE}
)
"""Whose metrics keep the names that others gave them."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label and what keeps the number of its values small."""

    name: str
    meaning: str
    bounded_by: str
    values: tuple[str, ...] = ()
    """The closed set of values, where there is one."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One family of series. `name` may end in `:<window>`: then there is one family per window."""

    name: str
    kind: Kind
    unit: Unit
    labels: tuple[str, ...]
    source: Source
    meaning: str
    traps: tuple[str, ...] = ()
    since: str = "0.1.0"
    """Version of Trimtab that first exported, recorded or read it."""


_TENANT: Final = "Tenant documents, and `unassigned`"
_CODE: Final = "names in the code"
TROUBLES: Final = ("congestion", "waiting", "loss", "slow-receiver", "cable", "flap", "misconfigured")
GPU_TROUBLES: Final = ("hung", "suspected", "straggling", "unjudged", "sick", "lost", "throttled")
_HOLDERS: Final = "GPUs: one holder per share"
QUEUE_PARTS: Final = ("guaranteed", "deserved", "ceiling", "used", "borrowed")
SETTINGS: Final = ("mtu", "gid", "traffic-class", "congestion-control", "flow-control")
HOPS: Final = ("host", "leaf", "spine", "rail")
JUDGED: Final = ("usual", "slow", "unjudged", "failed", "old")
SUSPECT_KINDS: Final = ("host", "nic", "switch", "link")
DISTURBANCES: Final = (
    *("paused", "full", "silent", "awaited", "stall", "slow-disk", "slow-store", "down", "recovery", "scrub"),
)
SCOPES: Final = ("none", "osd", "host", "cluster")
VENDORS: Final = ("nvidia", "amd", "ascend", "cambricon")

LABELS: Final = {
    label.name: label
    for label in (
        Label("cluster", "the cluster's name in the Site; never joined without it", "clusters"),
        Label("named", "the cluster that a scrape means, also one that gives no name", "clusters"),
        Label("tenant", "name of the Tenant document, or `unassigned`", _TENANT),
        Label("by", "tenant whose work took the place of the victim's; empty where nobody can tell", _TENANT),
        Label("pool", "name of the pool: GPUs that can replace each other", "pools in the Policy"),
        Label("tier", "name of the tier", "tiers in the Policy"),
        Label("queue", "LocalQueue as `namespace/name`; native: the namespace", "queues of tenants"),
        Label("gpus_per_pod", "GPUs of one pod of a gang", "powers of two below the largest node, and that"),
        Label("scheduler", "whose queue it is", "a closed set", tuple(Scheduler)),
        Label("part", "what of a queue is counted", "a closed set", QUEUE_PARTS),
        Label("namespace", "a Kubernetes namespace", "namespaces of the cluster"),
        Label("waiting", "why work waits, in one word", "a closed set", tuple(WaitingName)),
        Label("storage", "kind of storage, as objectives name it", "a closed set", ("rbd", "cephfs")),
        Label("measured", "whether Ceph counts the I/O", "a closed set", ("yes", "no")),
        Label("client", "what on a node does the I/O of a volume", "a closed set", tuple(CephClient)),
        Label("disturbance", "what goes on in Ceph", "a closed set", DISTURBANCES),
        Label("scope", "how far it reaches", "a closed set", SCOPES),
        Label("where", "OSDs or hosts, three at most; empty: none, or the cluster", "one value per disturbance"),
        Label("flag", "a flag of Ceph's map of OSDs", "flags of Ceph"),
        Label("daemon", "a daemon of Ceph, such as osd.1", "daemons of the Ceph cluster"),
        Label(
            "source",
            "what was read: kubernetes, dcgm, …; of a probed edge or link: the node or NIC that asks",
            "code, probed edges",
        ),
        Label("destination", "of a probed edge or link: the node or NIC that answers", "probed edges"),
        Label("setting", "of an RDMA port", "a closed set", SETTINGS),
        Label("hop", "what lies between two NICs", "a closed set", HOPS),
        Label("judged", "what is known of links", "a closed set", JUDGED),
        Label("suspect_kind", "what slow links point at", "a closed set", SUSPECT_KINDS),
        Label("suspect", "its name: a node, node/device, a switch, or a link", "the twenty worst"),
        Label("quantile", "0.5 or 0.99", "a closed set", ("0.5", "0.99")),
        Label("device", "the device that it is about, or the address that failed", "devices of one node"),
        Label("vendor", "who made the accelerator", "a closed set", VENDORS),
        Label("model", "the accelerator's model, as its exporter writes it", "models"),
        Label("node", "the node, as the exporter calls it, or empty", "nodes"),
        Label("slice", "a part of the device: hardware slice, virtual device, or `process`; empty: whole", "slices"),
        Label(
            "attribution",
            "whose a value is: sums per tenant take exclusive and slice alone",
            "a closed set",
            ("exclusive", "slice", "shared", "none"),
        ),
        Label("throttle", "what held the clock back: power, thermal, …", _CODE),
        Label("code", "the vendor's error code", "codes seen"),
        Label(
            "kind",
            "of an error code: hardware, application, other",
            "a closed set",
            ("hardware", "application", "other"),
        ),
        Label("port", "port of an RDMA device", "ports of one device"),
        Label("interface", "network interface of an RDMA device", "interfaces of one device"),
        Label("priority", "priority of Ethernet, 0 to 7; empty: the whole interface", "eight priorities"),
        Label("trouble", "what counters of an RDMA port mean together", "a closed set", TROUBLES),
        Label(
            "gpu_trouble",
            "hung, suspected (of hanging), straggling: whole gangs; unjudged: gangs that can not be told; sick, lost, "
            "throttled: single GPUs",
            "a closed set",
            GPU_TROUBLES,
        ),
        Label("via", "who read the accelerator: an exporter, or nvml; aggregate `max without (via)` first", _CODE),
        Label("link_layer", "InfiniBand or Ethernet, where it is told", "a closed set", ("InfiniBand", "Ethernet")),
        Label("tool", "perftest or ucx", "a closed set", ("perftest", "ucx")),
        Label("operation", "write, read, send, atomic, or the tool's own word", _CODE),
        Label(
            "path",
            "half a round trip (write, send, UCX), a whole one (read, atomic), or one way",
            "a closed set",
            ("half", "whole", "way"),
        ),
        Label("bytes", "size of a message of the probe, in bytes; empty where it is not told", "sizes probed"),
        Label("statistic", "median, mean, min, max, stdev, p99, p99.9, peak, …", _CODE),
        Label("ceph_pool", "a pool of Ceph: its name for images, else its number", "pools of Ceph"),
        Label("image_namespace", "namespace of an image inside its pool; none of Kubernetes", "namespaces in pools"),
        Label("image", "an image of RBD", "images in pools whose statistics are on"),
        Label("check", "a health check of Ceph", "checks of Ceph"),
        Label("severity", "how bad Ceph finds it", _CODE),
        Label("uid", "of an object of Kubernetes", "objects"),
        Label("phase", "of a pod, claim or volume", "a closed set of Kubernetes"),
        Label("condition", "of a pod, node or workload", "a closed set of Kubernetes"),
        Label("status", "of a condition or a queue", "a closed set of Kubernetes"),
        Label("resource", "name of a resource, in its one spelling, such as nvidia.com/gpu", "resources"),
        Label("unit", "of the resource", _CODE),
        Label("type", "hard or used", "a closed set", ("hard", "used")),
        Label("resourcequota", "name of the ResourceQuota", "quotas"),
        Label("priority_class", "name of the priority class", "priority classes"),
        Label("persistentvolume", "name of the volume", "volumes"),
        Label("persistentvolumeclaim", "name of the claim", "claims"),
        Label("job_name", "name of the Job", "jobs"),
        Label("profile", "of the scheduler", "profiles"),
        Label("result", "what came of an attempt", _CODE),
        Label("event", "what put a pod into the scheduler's queue", _CODE),
        Label("plugin", "of the scheduler", _CODE),
        Label("attempts", "how often the scheduler tried", "a few"),
        Label("le", "upper bound of a bucket of a histogram", "buckets"),
        Label("cluster_queue", "ClusterQueue of Kueue", "cluster queues"),
        Label("preempting_cluster_queue", "ClusterQueue on whose behalf work was evicted", "cluster queues"),
        Label("name", "of the object: a LocalQueue, a volume claim", "objects"),
        Label("cohort", "Cohort of Kueue", "cohorts"),
        Label("flavor", "ResourceFlavor of Kueue", "flavors"),
        Label("underlying_cause", "Kueue's second reason", _CODE),
        Label("replica", "number of the share on a time-sliced or virtual GPU; else empty", "shares of one GPU"),
        Label("reason", "what went wrong, in few words", _CODE),
        Label("version", "version of the program", "versions running at once"),
        Label("knob", "the field that is moved", _CODE),
        Label("outcome", "what came of it", _CODE),
        Label("refusal", "code of the guard that refused, or empty", _CODE),
        Label("finding", "what is wrong, in one word: how work waits, or what is slow or sick", _CODE),
        Label("cause", "what kind of trouble it is; quota is moved for `scheduling` alone", _CODE),
        Label("direction", "whether the tenant got GPUs or lost them", "a closed set", ("given", "taken")),
        Label("stage", "where a change stands: from `intended` to `returning`", _CODE),
        Label("budget", "name of the budget in the Policy", "budgets in the Policy"),
        Label("objective", "name of the objective in the Tenant document", "objectives of tenants"),
        Label("window", "the objective's window, as people wrote it", "objectives of tenants"),
        Label("UUID", "the GPU's id", "GPUs"),
        Label("uuid", "older spelling of `UUID`", "GPUs"),
        Label("gpu_uuid", "spelling of `UUID` on some families", "GPUs"),
        Label("gpu", "index on its node", "GPUs of one node"),
        Label("modelName", "the GPU's model; also `model_name`", "models"),
        Label("Hostname", "the node, or the exporter's own pod", "nodes"),
        Label("hostname", "newer spelling of `Hostname`", "nodes"),
        Label("GPU_I_ID", "MIG instance; absent on whole GPUs", "slices of one GPU"),
        Label("GPU_I_PROFILE", "MIG profile; absent on whole GPUs", "MIG profiles"),
        Label("pod", "the pod that holds it", _HOLDERS),
        Label("container", "the container that holds it", _HOLDERS),
        Label("pod_namespace", "older spelling of the holder's `namespace`", _HOLDERS),
        Label("pod_name", "older spelling of the holder's `pod`", _HOLDERS),
        Label("container_name", "older spelling of the holder's `container`", _HOLDERS),
        Label("exported_namespace", "the holder's `namespace` where Prometheus kept its own", _HOLDERS),
        Label("exported_pod", "the holder's `pod` where Prometheus kept its own", _HOLDERS),
        Label("exported_container", "the holder's `container` where Prometheus kept its own", _HOLDERS),
        Label("index", "nvidia_gpu_exporter: place of the GPU on its node", "GPUs of one node"),
        Label("gpu_instance_id", "nvidia_gpu_exporter: MIG instance", "slices of one GPU"),
        Label("id", "Ascend: place of the NPU on its node", "NPUs of one node"),
        Label("npuID", "older spelling of `id`", "NPUs of one node"),
        Label("vdie_id", "Ascend: the NPU's id", "NPUs"),
        Label("v_dev_id", "Ascend: number of a virtual NPU", "slices of one NPU"),
        *(
            Label(one, meaning, bounded_by)
            for label, meaning, bounded_by in (
                ("gpu_id", "AMD: place of the GPU on its node", "GPUs of one node"),
                ("serial_number", "AMD: the card's serial number", "GPUs"),
                ("gpu_partition_id", "AMD: number of a partition", "slices of one GPU"),
                ("gpu_compute_partition_type", "AMD: how the GPU is cut", _CODE),
            )
            for one in (label, label.upper())
        ),
        Label("GPU_UUID", "newer spelling of `gpu_uuid`, by AMD", "GPUs"),
        Label("HOSTNAME", "AMD: the node", "nodes"),
        Label("NAMESPACE", "AMD: the holder's namespace", _HOLDERS),
        Label("POD", "AMD: the pod that holds it", _HOLDERS),
        Label("CONTAINER", "AMD: the container that holds it", _HOLDERS),
        Label("vgpu", "number of a virtual GPU", "shares of one GPU"),
    )
}

TARGET_LABELS: Final = frozenset({"job", "instance", "cluster"})
"""Labels that the scrape adds to any series. Rules aggregate over job and instance, so that two replicas count once."""

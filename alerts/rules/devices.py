"""Recording rules over the raw series of GPU exporters: who holds which device, and what tenants' devices do. Pure.

First every spelling of a label becomes one, each device once however many jobs scrape it; then holders are joined to
their tenant; then devices are summed per tenant and node. The parser of `collector.parse` reads the same series by the
same rules: a value that it would call unknown is not recorded, and a sum that lacks one is not either.
"""

from __future__ import annotations

from functools import reduce
from typing import Final

from alerts.rules.device_labels import CLUSTER, DEVICE, in_cluster, overwritten, replaced
from alerts.rules.model import RecordingRule
from alerts.rules.timing import promql_number
from alerts.rules.vendor_devices import vendor_holders, vendor_values
from collector.catalogue import accelerators as names
from collector.catalogue.spelling import Devices
from collector.catalogue.spellings.nvidia import DCGM

HOLDER: Final = "trimtab:device_holder_info"
TENANT: Final = "trimtab:device_tenant_info"
ACTIVITY: Final = "trimtab:device_activity_ratio"
MEMORY: Final = "trimtab:device_memory_used_bytes"
POWER: Final = "trimtab:device_power_watts"

_USED: Final = "DCGM_FI_DEV_FB_USED"
_DRAWN: Final = "DCGM_FI_DEV_POWER_USAGE"
_NAMESPACE: Final = "trimtab_tenant_namespace_info"
_UNASSIGNED: Final = "unassigned"
_SHOWING_HOLDERS: Final = (_USED, _DRAWN, "DCGM_FI_DEV_GPU_TEMP")
"""Families of the default counters, on whole GPUs and on slices; one of them is left out by few configurations."""
_LABELS: Final = DCGM.devices or Devices((), (), (), ())
_EXPORTER: Final = f".*({'|'.join(_LABELS.holders.own_pods)}).*"
"""The exporter's own pod, which Prometheus may put on the series of a device that nobody holds."""
_SPELLINGS: Final = {spelling.theirs: spelling for spelling in DCGM.spellings}
_BYTES_PER_MIB: Final = 1048576

# The spelling that the parser looks at first overwrites the others, so it comes last.
_UUIDS: Final = _LABELS.uuid[::-1]
_NODES: Final = tuple(("node", spelling) for spelling in _LABELS.node[::-1])


def device_rules() -> tuple[RecordingRule, ...]:
    """In the order in which one needs the other. Without dcgm-exporter in Prometheus they record nothing."""
    return (
        RecordingRule(CLUSTER, _clusters()),
        RecordingRule(HOLDER, _holders()),
        _tenants(f'and on ({DEVICE}) ({_alone("""{GPU_I_ID=""}""")})', "exclusive"),
        _tenants(f'and on ({DEVICE}) ({_alone("""{GPU_I_ID!=""}""")})', "slice"),
        _tenants(f"unless on ({DEVICE}) ({_alone()})", "shared"),
        RecordingRule(ACTIVITY, _activity()),
        RecordingRule(
            MEMORY, f"{_BYTES_PER_MIB} * ({_sane(_USED, _value(_USED))})\nor\n{vendor_values(names.MEMORY_USED)}"
        ),
        RecordingRule(POWER, f"{_power()}\nor\n{vendor_values(names.POWER)}"),
        RecordingRule("trimtab:tenant_devices", f"count by (cluster, tenant, node, attribution) ({TENANT})"),
        RecordingRule("trimtab:tenant_activity_ratio", _per_tenant("avg", ACTIVITY)),
        RecordingRule("trimtab:tenant_memory_used_bytes", _per_tenant("sum", MEMORY)),
        RecordingRule("trimtab:tenant_power_watts", _per_tenant("sum", POWER)),
    )


def _activity() -> str:
    others = vendor_values(names.ACTIVE, names.MULTIPROCESSOR, most=1.0)
    return f"{_ratio('DCGM_FI_PROF_GR_ENGINE_ACTIVE')}\nor\n{_ratio('DCGM_FI_PROF_SM_ACTIVE')}\nor\n{others}"


def _clusters() -> str:
    """As a scrape names a cluster → its name. Where there is but one, scrapes need not name it (the collector does)."""
    known = f"group by (cluster) ({_NAMESPACE})"
    named = f'label_join({known},\n  "named", "", "cluster")'
    only = f'label_join({known} == scalar({known}),\n  "named", "", "cluster")'
    return f'{named}\nor\nlabel_replace({only},\n  "cluster", "", "", "")'


def _holders() -> str:
    """Containers that hold a device. Whoever renamed the exporter's labels put those of the exporter in their place."""
    renamed, older = _of_all('exported_pod!=""'), _of_all('pod_name!=""')
    plain = _of_all(f'pod!="",pod!~"{_EXPORTER}",exported_pod=""')
    kept = f"\n{renamed}\nor {older}\nor ({plain})\nunless on (cluster, job, instance) ({renamed})"
    named = reduce(overwritten, _HOLDER_SPELLINGS, _device_named(kept))
    numbered = reduce(lambda inner, uuid: replaced(inner, "replica", uuid, ".*::(.+)"), _UUIDS, named)
    numbered = reduce(overwritten, (("replica", label) for label in _LABELS.holders.replicas), numbered)
    group = f"group by ({DEVICE}, namespace, pod, container, replica)"
    return f"{group} ({in_cluster(f'{group} ({numbered})')})\nor\n{vendor_holders()}"


_HOLDER_SPELLINGS: Final = (
    ("namespace", "pod_namespace"),
    ("pod", "pod_name"),
    ("container", "container_name"),
    ("namespace", "exported_namespace"),
    ("pod", "exported_pod"),
    ("container", "exported_container"),
)


def _of_all(matchers: str) -> str:
    return "\nor ".join(f"{family}{{{matchers}}}" for family in _SHOWING_HOLDERS)


def _device_named(series: str) -> str:
    """Adds `node` and `device`: its id without the number of a replica; where it has none, its place on its node."""
    node = reduce(overwritten, _NODES, series)
    placed = f'label_join({node},\n  "device", "/", "node", "gpu")'
    return reduce(lambda inner, uuid: replaced(inner, "device", uuid, "([^:]+).*"), _UUIDS, placed)


def _tenants(which: str, attribution: str) -> RecordingRule:
    """The tenants of some devices, each device once for each."""
    known = f"max by (cluster, namespace, tenant) ({_NAMESPACE})"
    joined = f"{HOLDER}\n  * on (cluster, namespace) group_left (tenant)\n  topk by (cluster, namespace) (1, {known})"
    strange = f"{HOLDER}\n  unless on (cluster, namespace) {_NAMESPACE}"
    unassigned = f'label_replace(\n  {strange},\n  "tenant", "{_UNASSIGNED}", "", ""\n)'
    of_tenant = f"group by (cluster, tenant, node, device, GPU_I_ID) (\n{joined}\nor\n{unassigned}\n)"
    return RecordingRule(TENANT, f"{of_tenant}\n{which}", {"attribution": attribution})


def _alone(matchers: str = "") -> str:
    """Devices of one container. What a replica or a virtual GPU does is a part of what its series say."""
    one = f"count by ({DEVICE}) ({HOLDER}{matchers}) == 1"
    return f'{one}\nunless on ({DEVICE}) {HOLDER}{{replica!=""}}'


def _power() -> str:
    """Of whole GPUs, also of those in slices: each slice has the value of its GPU. No slice has one of its own."""
    whole = "max by (cluster, node, device)"
    of_cluster = in_cluster(f"{whole} ({_usable(_DRAWN)})")
    return f'label_replace({_sane(_DRAWN, f"{whole} ({of_cluster})")},\n  "GPU_I_ID", "", "", "")'


def _value(series: str) -> str:
    """Per device: the highest of all jobs, each of which must be of one mind about it."""
    of_job = f"by ({DEVICE}, job, instance)"
    usable = _usable(series)
    agreed = f"(\n  max {of_job} ({usable})\n  ==\n  min {of_job} ({usable})\n)"
    return f"max by ({DEVICE}) ({in_cluster(agreed)})"


def _usable(series: str) -> str:
    return _device_named(f"({series} < {DCGM.blank_from:.0f})")


def _sane(series: str, of_devices: str) -> str:
    """Without values that no device can have: then the unit is another than we think."""
    spelling = _SPELLINGS[series]
    return f"{of_devices} >= {promql_number(spelling.lowest)} <= {promql_number(spelling.limit)}"


def _ratio(series: str) -> str:
    return f"clamp_max({_sane(series, _value(series))}, 1)"


def _per_tenant(operator: str, of_device: str) -> str:
    """Over the devices that a tenant holds alone; no value where one of them has none."""
    mine = f'{TENANT}{{attribution=~"exclusive|slice"}}'
    by = "cluster, tenant, node"
    joined = f"{operator} by ({by}) (\n  {mine} * on ({DEVICE}) group_left () {of_device}\n)"
    return f"{joined}\nunless on ({by})\n({mine} unless on ({DEVICE}) {of_device})"

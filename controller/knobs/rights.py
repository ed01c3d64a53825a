"""The smallest rights that each program needs, limited by object name, rendered from the own objects. Pure.

With `resourceNames` a server-side apply may create and change just these objects; a plain create is refused, and so is
any other name (tried on a real API server). In Observe the controller has no write verb but on its status and Lease.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collector.assemble.capacity import CAP_NAME
from controller.api.policy import Mode

KUEUE_GROUP = "kueue.x-k8s.io"
KUEUE_KINDS = (
    "workloads",
    "localqueues",
    "clusterqueues",
    "cohorts",
    "resourceflavors",
    "workloadpriorityclasses",
)
_GROUP_KINDS = ["queues", "podgroups"]
_READ = ["get", "list", "watch"]
_OWN = ["get", "create", "patch", "update"]

Rule = dict[str, Any]


def reading_rules() -> list[Rule]:
    """What collector, controller and `trimtab look` read, cluster-wide."""
    return [
        {"apiGroups": [""], "resources": ["nodes", "namespaces", "pods", "resourcequotas", "events"], "verbs": _READ},
        {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": _READ},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": _READ},
        {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": _READ},
        {"apiGroups": [KUEUE_GROUP], "resources": list(KUEUE_KINDS), "verbs": _READ},
        {"apiGroups": ["scheduling.volcano.sh", "scheduling.run.ai"], "resources": _GROUP_KINDS, "verbs": _READ},
        {"apiGroups": ["batch.volcano.sh"], "resources": ["jobs"], "verbs": _READ},
        {"apiGroups": ["quota.kubesphere.io"], "resources": ["resourcequotas"], "verbs": _READ},
    ]


def volume_rules() -> list[Rule]:
    """What a collector that reads Ceph needs besides, to know whose volume an image is. Without it that is unknown."""
    return [{"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": _READ}]


def node_rules() -> list[Rule]:
    """What a node that probes needs: which nodes are drained. A node that does not probe has no rights at all."""
    return [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]


def history_rules() -> list[Rule]:
    """What a collector that keeps the history reads in the home namespace: changes of the policy."""
    return [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["trimtab-ledger"], "verbs": ["get"]}]


def steering_rules(own_cohorts: Sequence[str], ceiling: Mode) -> list[Rule]:
    """What the controller may write cluster-wide: its own Cohorts, and in Observe nothing."""
    if ceiling is Mode.OBSERVE or not own_cohorts:
        return []
    names = sorted(own_cohorts)
    return [{"apiGroups": [KUEUE_GROUP], "resources": ["cohorts"], "resourceNames": names, "verbs": _OWN}]


def cap_rules(ceiling: Mode) -> list[Rule]:
    """What the controller may write in the namespace of each native tenant: its own cap, and in Observe nothing."""
    if ceiling is Mode.OBSERVE:
        return []
    return [{"apiGroups": [""], "resources": ["resourcequotas"], "resourceNames": [CAP_NAME], "verbs": _OWN}]


def home_rules(ceiling: Mode) -> list[Rule]:
    """What the controller may do in its own namespace: status and Lease always, the ledger where it may steer."""
    writable = ["trimtab-status"] + ([] if ceiling is Mode.OBSERVE else ["trimtab-ledger"])
    readable = ["trimtab-baseline", "trimtab-control", "trimtab-ledger"]
    return [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": writable, "verbs": _OWN},
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": readable, "verbs": ["get"]},
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "resourceNames": ["trimtab-controller"],
            "verbs": _OWN,
        },
    ]


def janitor_rules() -> list[Rule]:
    """What janitor and uninstall may do in the home namespace, whatever the ceiling: end changes, and say "paused".

    They write only what ends a change, so that lowering the ceiling leaves none in force for ever.
    """
    return [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["trimtab-control", "trimtab-ledger"],
            "verbs": _OWN,
        },
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["trimtab-baseline"], "verbs": ["get"]},
    ]

"""Pieces of PromQL that all rules about devices share: labels in one spelling, the name of the cluster. Pure."""

from __future__ import annotations

from typing import Final

CLUSTER: Final = "trimtab:scraped_cluster_info"
DEVICE: Final = "cluster, node, device, GPU_I_ID"


def in_cluster(series: str) -> str:
    """With the name of the cluster; nothing where no collector speaks of it. Adds a label: aggregate afterwards."""
    return replaced(f"{series}\n* on (cluster) group_left (named) {CLUSTER}", "cluster", "named", "(.+)")


def overwritten(series: str, names: tuple[str, str]) -> str:
    """The first label takes the value of the second where that has one."""
    return replaced(series, *names, "(.+)")


def replaced(series: str, target: str, source: str, pattern: str) -> str:
    """The label `target` becomes what the pattern finds in `source`, where it finds something."""
    return f'label_replace({series},\n  "{target}", "$1", "{source}", "{pattern}")'


def replaced_by_nothing(series: str, label: str) -> str:
    """Without the label; a rule that reads it further on knows then that it is none."""
    return f'label_replace({series},\n  "{label}", "", "", "")'

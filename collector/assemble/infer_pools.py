"""Pools out of what stands in the cluster: Kueue's flavors, else GPU nodes of one product. Pure, no configuration."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from collector.assemble.capacity import pool_nodes
from collector.assemble.holdings import flavor_resources
from collector.model.objects import Picture
from collector.model.quantities import counted
from collector.model.tenancy import Engine, Pool

BORROW_CLASS: Final = "borrow"
"""The preemptible PriorityClass of the documented set-up for plain Kubernetes."""

PRODUCT_LABELS: Final = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "gpu.intel.com/product",
    "node.kubernetes.io/npu.chip.name",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "accelerator",
)
"""Labels that name the model of a node's GPUs, the vendor's own before the clouds'."""

_GPU: Final = re.compile(r"gpu|/mig-|gaudi|ascend|/mlu|/dcu|/npu|/tpu|neuron|/xpu|/ppu")
_NO_GPU: Final = re.compile(r"mem|core|percent|/gpu_|monitoring")
_VENDOR: Final = re.compile(r"^(nvidia|amd|intel|huawei|tesla)-")


def is_gpu(resource: str) -> bool:
    """Whether an extended resource counts accelerators, not network devices, GPU memory or GPU cores."""
    lower = resource.lower()
    return _GPU.search(lower) is not None and _NO_GPU.search(lower) is None


def slug(text: str) -> str:
    """`text` as a Kubernetes name of at most 63 characters."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:63].strip("-") or "gpu"


def unique(name: str, taken: Callable[[str], bool]) -> str:
    """`name`, or the first of name-2, name-3, … that is not taken."""
    candidate, number = name, 2
    while taken(candidate):
        candidate, number = f"{name[:60]}-{number}", number + 1
    return candidate


def infer_pools(picture: Picture) -> tuple[tuple[Pool, ...], Mapping[str, str]]:
    """The pools, and for each (by name) from what it was inferred. No node stands in two of them by our doing."""
    pools: dict[str, Pool] = {}
    reasons: dict[str, str] = {}
    keys = [key for key in flavor_resources(picture) if is_gpu(key[1])]
    several = {flavor for flavor, _ in keys if sum(1 for key in keys if key[0] == flavor) > 1}
    for flavor, resource in keys:
        wanted = slug(f"{flavor}-{resource.rpartition('/')[2]}" if flavor in several else flavor)
        name = unique(wanted, pools.__contains__)
        found = picture.flavors.get(flavor)
        selector = dict(found.node_labels) if found else {}
        pools[name] = Pool(name, resource, selector, Engine.KUEUE, flavor=flavor)
        reasons[name] = f"ResourceFlavor {flavor}, for which ClusterQueues hold {resource}"
    for name, pool, reason in _native_pools(picture, pools.values()):
        unique_name = unique(name, pools.__contains__)
        pools[unique_name] = Pool(
            unique_name, pool.resource, pool.node_selector, Engine.NATIVE, borrow_class=pool.borrow_class
        )
        reasons[unique_name] = reason
    return tuple(pools.values()), reasons


def _native_pools(picture: Picture, covered: Iterable[Pool]) -> Iterable[tuple[str, Pool, str]]:
    """Nodes that no flavor stands for, one pool per resource and product."""
    taken = {(pool.resource, node.name) for pool in covered for node in pool_nodes(picture, pool)}
    nodes_of: dict[tuple[str, str, str], int] = defaultdict(int)
    unlabelled: dict[str, int] = defaultdict(int)
    for node in sorted(picture.nodes.values(), key=lambda item: item.name):
        for resource, count in node.allocatable.items():
            if count <= 0 or not is_gpu(resource) or (resource, node.name) in taken:
                continue
            label = next((label for label in PRODUCT_LABELS if node.labels.get(label)), None)
            if label is None:
                unlabelled[resource] += 1
            else:
                nodes_of[resource, label, node.labels[label]] += 1
    mixed = {resource for resource, _, _ in nodes_of} | {resource for resource, _ in taken}
    borrow = BORROW_CLASS if BORROW_CLASS in picture.priority_classes else None
    for (resource, label, product), count in sorted(nodes_of.items()):
        selector = {label: product}
        pool = Pool("", resource, selector, Engine.NATIVE, borrow_class=borrow)
        seen = f"{counted(count, 'node')} with {resource} and label {label}={product}"
        yield _VENDOR.sub("", slug(product)), pool, seen
    for resource, count in sorted(unlabelled.items()):
        if resource not in mixed:  # an empty selector would take the labelled nodes, too
            pool = Pool("", resource, {}, Engine.NATIVE, borrow_class=borrow)
            seen = f"{counted(count, 'node')} with {resource} and no label of a product"
            yield slug(resource.rpartition("/")[2]), pool, seen

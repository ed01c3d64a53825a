"""A small cluster without Kueue, in memory: guarantees and caps are ResourceQuotas, extra work is of class borrow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.model.objects import OwnerRef, Picture
from collector.model.tenancy import Engine, Pool, Tenant
from collector.parse.kubernetes import resource_quota
from controller.knobs.native import cap_manifest
from controller.knobs.own import baseline_for
from tests.builders import site_of
from tests.pictures import GPU, NOW, PRODUCT, PictureMaker
from tests.world import Gang, World

NATIVE = Pool("h100", GPU, {PRODUCT: "H100"}, Engine.NATIVE, borrow_class="borrow")


class NativeWorld(World):
    """Like `World`. Work of a tenant whose `extra` it is runs under class borrow; pods that wait are made, unless
    they are refused: `refuses` holds the titles of work that has no pods."""

    def __init__(self, *tenants: Tenant, nodes: int) -> None:
        self.extra: set[str] = set()
        self.refused: set[str] = set()
        self.caps: dict[str, dict[str, Any]] = {}
        super().__init__(*tenants, shared=0, nodes=nodes)
        self.cohorts.clear()
        self.site = site_of(*tenants, pools=(NATIVE,))
        self.baseline = baseline_for(self.site, Picture(NOW), {})
        self.apply_baseline()

    def borrows(self, tenant: str, name: str, *nodes: str, gpus: int = 8, ago: float = 0.0) -> str:
        """Extra work that runs."""
        title = self.runs(tenant, name, *nodes, gpus=gpus, ago=ago)
        self.extra.add(title)
        return title

    def is_refused(self, tenant: str, name: str, *, gpus: int = 8, pods: int = 1, ago: float = 0.0) -> str:
        """Extra work whose pods the cap refuses."""
        title = self.submits(tenant, name, gpus, pods, ago=ago)
        self.extra.add(title)
        self.refused.add(title)
        return title

    def apply_baseline(self, *names: str) -> None:
        """A person applies the baseline, or the documents of it that are named."""
        for cap in self.baseline.caps:
            if not names or cap.name in names:
                self.caps[cap.name] = cap_manifest(cap, cap.gpus, {})

    def levels(self) -> dict[str, int]:
        """What each cap allows."""
        return {name: int(one["spec"]["hard"][f"requests.{GPU}"]) for name, one in self.caps.items()}

    def write(self, name: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """The API server takes a cap as it is applied, and answers."""
        self.caps[name] = dict(manifest)
        return self._cap(name)

    def agreed(self) -> dict[str, int]:
        """What each cap allows by the baseline."""
        return {cap.name: cap.gpus for cap in self.baseline.caps}

    def objects(self) -> dict[str, dict[str, Any]]:
        """The caps as they stand, to be tampered with."""
        return self.caps

    def most(self) -> int:
        """GPUs of the pool."""
        return 8 * len(self.node_names)

    def picture(self) -> Picture:
        """All objects, now."""
        maker = PictureMaker()
        for node in self.node_names:
            maker.node(node, cordoned=node in self.cordoned)
        for tenant in self.site.tenants:
            maker.namespace(tenant.name)
            space = maker.picture().namespaces[tenant.name]
            maker.put("namespaces", tenant.name, replace(space, opted_out=tenant.name in self.opted_out))
            guarantee = tenant.entitlements[0].guarantee
            maker.resource_quota(tenant.name, guarantee, name="guarantee", scope="PriorityClass NotIn borrow")
        for title, gang in self.gangs.items():
            self._put(maker, title, gang)
        quotas = [*maker.picture().resource_quotas, *(resource_quota(self._cap(name)) for name in self.caps)]
        fields: dict[str, Any] = {"resource_quotas": tuple(quotas)} | self.picture_fields
        return replace(maker.picture(), taken_at=self.now, **fields)

    def _cap(self, name: str) -> dict[str, Any]:
        manifest, namespace = self.caps[name], name.split("/")[0]
        pods = [g for title, g in self.gangs.items() if title in self.extra - self.refused and g.tenant == namespace]
        used = sum(gang.gpus * gang.pods for gang in pods)
        metadata = {**manifest["metadata"], "resourceVersion": "1"}
        return {**manifest, "metadata": metadata, "status": {"used": {f"requests.{GPU}": str(used)}}}

    def _put(self, maker: PictureMaker, title: str, gang: Gang) -> None:
        priority_class = "borrow" if title in self.extra else None
        age = NOW - gang.created_at
        job = maker.job(gang.tenant, gang.name, gang.gpus, gang.pods, age, priority_class=priority_class)
        owner = OwnerRef("Job", gang.name, job.uid)
        if title in self.refused:
            return
        since = NOW - (gang.created_at if gang.admitted_at is None else gang.admitted_at)
        for number in range(gang.pods):
            node = gang.nodes[number] if number < len(gang.nodes) else None
            name = f"{gang.name}-{number}"
            maker.pod(gang.tenant, name, node, gang.gpus, since, owner=owner, priority_class=priority_class)

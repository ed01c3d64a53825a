"""A small cluster in memory that moves only when told, and a controller without I/O that steers it.

The cluster obeys what is applied to its own Cohorts as an API server does; work starts, ends and is evicted when the
test says so. The controller makes the same calls, in the same order, as the real one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.model.objects import Cohort, Condition, KueueWorkload, OwnerRef, Picture, PodSet
from collector.model.snapshot import Evidence, Snapshot
from collector.model.tenancy import Site, Tenant
from collector.parse.kueue import cohort as parse_cohort
from controller.api.errors import ApplyError
from controller.api.policy import Mode, Policy
from controller.knobs import own
from controller.knobs.kueue import Leaf, cohort_manifest, manifest_path
from controller.knobs.marks import adopted
from controller.knobs.own import Baseline
from controller.policy.change import Change
from controller.policy.engine import Outcome, decide
from controller.policy.ledger import Ledger
from controller.policy.ledger_text import change_text, read_change
from controller.policy.targets import Target
from controller.runtime.acting import Acting
from tests.builders import HOUR, MINUTE, agreed, site_of
from tests.pictures import GPU, NOW, PictureMaker

KEY = ("h100", GPU)


@dataclass
class Gang:
    """One piece of queued work, as the test wants it."""

    tenant: str
    name: str
    gpus: int
    pods: int
    created_at: float
    priority: int = 0
    admitted_at: float | None = None
    nodes: tuple[str, ...] = ()
    evicted: Condition | None = None
    evictions: int = 0

    @property
    def uid(self) -> str:
        """Of its Workload."""
        return str(uuid5(NAMESPACE_OID, f"{self.tenant}/{self.name}"))


class World:
    """Nodes of 8 GPUs, tenants with floor and float, one shared part; `now` moves by `passes`."""

    def __init__(self, *tenants: Tenant, shared: int, nodes: int) -> None:
        self.site: Site = site_of(*tenants)
        self.now = NOW
        self.evidence = Evidence()
        self.gangs: dict[str, Gang] = {}
        self.cohorts: dict[str, dict[str, Any]] = {}
        self.opted_out: set[str] = set()
        self.picture_fields: dict[str, Any] = {}
        self.node_names = [f"n{number}" for number in range(nodes)]
        self.cordoned: set[str] = set()
        floats = [(tenant.name, tenant.entitlements[0].floating) for tenant in tenants]
        leaves = [Leaf(f"trimtab-{name}", f"tenant-{name}", {KEY: floating}) for name, floating in floats]
        leaves.append(Leaf("trimtab-shared", "site", {KEY: shared}))
        self.baseline = Baseline(tuple(sorted(leaves, key=lambda leaf: leaf.name)))
        self.apply_baseline()

    def passes(self, seconds: float) -> None:
        """Time goes on."""
        self.now += seconds

    def submits(self, tenant: str, name: str, gpus: int = 8, pods: int = 1, *, ago: float = 0.0, **more: Any) -> str:
        """Work enters its queue, or entered it a while ago; its title."""
        gang = Gang(tenant, name, gpus, pods, self.now - ago, **more)
        self.gangs[f"{tenant}/{name}"] = gang
        return f"{tenant}/{name}"

    def runs(self, tenant: str, name: str, *nodes: str, gpus: int = 8, ago: float = 0.0, **more: Any) -> str:
        """Work that was submitted and started a while ago, a pod on each node."""
        title = self.submits(tenant, name, gpus, len(nodes), ago=ago, **more)
        self.gangs[title].nodes, self.gangs[title].admitted_at = nodes, self.now - ago
        return title

    def starts(self, title: str, *nodes: str) -> None:
        """Admitted and Ready, a pod on each node; admitted only, where no node is named."""
        self.gangs[title].nodes, self.gangs[title].admitted_at = nodes, self.now

    def ends(self, title: str) -> None:
        """Finished, or withdrawn: its object is gone."""
        del self.gangs[title]

    def is_evicted(self, title: str, by: str = "") -> None:
        """Back to the queue; `by`: the title of the work that took its place."""
        gang = self.gangs[title]
        who = f"Preempted to accommodate a workload (UID: {self.gangs[by].uid}, JobUID: 1)" if by else "drained"
        gang.evicted = Condition(True, "Preempted", who, self.now)
        gang.admitted_at, gang.nodes, gang.evictions = None, (), gang.evictions + 1

    def apply_baseline(self, *names: str) -> None:
        """A person applies the baseline, or the documents of it that are named."""
        for leaf in self.baseline.leaves:
            if not names or leaf.name in names:
                self.cohorts[leaf.name] = cohort_manifest(leaf, leaf.amounts, {})

    def levels(self) -> dict[str, int]:
        """What each own Cohort holds."""
        return {name: cohort.quotas[KEY].nominal for name, cohort in self.leaves().items()}

    def leaves(self) -> Mapping[str, Cohort]:
        """The own Cohorts as a client reads them."""
        return {name: parse_cohort(_served(manifest)) for name, manifest in self.cohorts.items()}

    def write(self, name: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """The API server takes an own object as it is applied, and answers."""
        self.cohorts[name] = dict(manifest)
        return _served(manifest)

    def agreed(self) -> dict[str, int]:
        """What each own object holds by the baseline."""
        return {leaf.name: leaf.amounts[KEY] for leaf in self.baseline.leaves}

    def most(self) -> int:
        """GPUs that all own objects may hold together."""
        return sum(self.agreed().values())

    def objects(self) -> dict[str, dict[str, Any]]:
        """The own objects as they stand, to be tampered with."""
        return self.cohorts

    def picture(self) -> Picture:
        """All objects, now."""
        maker = PictureMaker()
        for node in self.node_names:
            maker.node(node, cordoned=node in self.cordoned)
        for tenant in self.site.tenants:
            maker.tenant(tenant.name, tenant.entitlements[0].guarantee)
            space = maker.picture().namespaces[tenant.name]
            maker.put("namespaces", tenant.name, replace(space, opted_out=tenant.name in self.opted_out))
        for gang in self.gangs.values():
            _put(maker, gang)
        picture = maker.picture()
        cohorts = {name: one for name, one in picture.cohorts.items() if not name.startswith("trimtab-")}
        fields: dict[str, Any] = {"cohorts": {**cohorts, **self.leaves()}} | self.picture_fields
        return replace(picture, taken_at=self.now, **fields)


def _served(manifest: Mapping[str, Any]) -> dict[str, Any]:
    managed = [{"manager": "trimtab", "operation": "Apply", "fieldsV1": {"f:spec": {"f:resourceGroups": {}}}}]
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": "1", "managedFields": managed}}


def _put(maker: PictureMaker, gang: Gang) -> None:
    owner = OwnerRef("Job", gang.name, f"job-{gang.uid}")
    conditions = {"Evicted": gang.evicted} if gang.evicted is not None else {}
    workload = KueueWorkload(
        uid=gang.uid,
        namespace=gang.tenant,
        name=f"job-{gang.name}",
        queue="gpus",
        created_at=gang.created_at,
        pod_sets=(PodSet(gang.pods, {GPU: gang.gpus}),),
        priority=gang.priority,
        owner=owner,
        eviction_count=gang.evictions,
        conditions=conditions,
    )
    if gang.admitted_at is not None:
        admitted = Condition(True, "QuotaReserved", "", gang.admitted_at)
        conditions = {**conditions, "QuotaReserved": admitted, "Admitted": admitted}
        workload = replace(workload, cluster_queue=gang.tenant, flavors={GPU: "h100"}, conditions=conditions)
        for number, node in enumerate(gang.nodes):
            age = NOW - gang.admitted_at
            maker.pod(gang.tenant, f"{gang.name}-{number}", node, gang.gpus, age, owner=owner)
    maker.put("workloads", gang.uid, workload)


def starving_world() -> World:
    """vision (8 + 8) uses all of its own and one gang of 8 is late; nlp (8 + 8) borrows all 16 that are lent."""
    world = World(agreed("vision", 8, 8, burst=32), agreed("nlp", 8, 8, burst=32), shared=16, nodes=6)
    world.runs("vision", "old", "n0", "n1", ago=2 * HOUR)
    for number in range(4):
        world.runs("nlp", f"job{number}", f"n{number + 2}", ago=HOUR - number * MINUTE)
    world.submits("vision", "late", ago=HOUR)
    return world


def _name(path: str, manifest: Mapping[str, Any]) -> str:
    """How changes name the own object at that path."""
    metadata = manifest["metadata"]
    if manifest["kind"] == "Cohort":
        assert path == manifest_path(metadata["name"])
        return str(metadata["name"])
    assert path == f"/api/v1/namespaces/{metadata['namespace']}/resourcequotas/{metadata['name']}"
    return f"{metadata['namespace']}/{metadata['name']}"


class Crash(Exception):
    """The process dies here."""


@dataclass
class Fuse:
    """Lets so many calls pass and then kills the process, before or after the call did its work."""

    calls_left: int | None = None
    after: bool = False

    def burn(self, *, done: bool) -> None:
        """Called before and after each write."""
        if self.calls_left is None or done is not self.after:
            return
        self.calls_left -= 1
        if self.calls_left < 0:
            self.calls_left = None
            raise Crash


@dataclass
class Steering:
    """The controller: memory that a crash loses, and a ledger kept as text that survives it."""

    world: World
    policy: Policy = field(default_factory=lambda: Policy(mode=Mode.ENFORCE))
    ceiling: Mode = Mode.ENFORCE
    kept: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Own object → code with which the API server refuses to write it."""
    refused_in_preview: dict[str, str] = field(default_factory=dict)
    fuse: Fuse = field(default_factory=Fuse)
    writes: list[tuple[str, int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _memory: Ledger = field(default_factory=Ledger)
    _clocks: WaitClocks = field(default_factory=WaitClocks)

    def tick(self) -> Outcome:
        """Look, decide, act."""
        picture, (snapshot, targets) = self.world.picture(), self.look()
        ledger = replace(self._memory, changes=self.ledger.changes)
        for change in adopted(ledger.changes, own.marks(self.world.baseline, picture), snapshot.taken_at):
            ledger = ledger.with_change(change)
        outcome = decide(snapshot, self.policy, self.ceiling, ledger, targets)
        self._memory = outcome.ledger
        if not snapshot.blind:
            acting = Acting(self, self, self, self.world.baseline, picture, self.world.site, lambda: self.world.now)
            self._memory = acting.bring_about(outcome.ledger, targets)
            self.problems = acting.problems
        return outcome

    def ticks(self, count: int = 2, every: float = 30.0) -> Outcome:
        """So many ticks; the last outcome."""
        outcome = self.tick()
        for _ in range(count - 1):
            self.world.passes(every)
            outcome = self.tick()
        return outcome

    def look(self) -> tuple[Snapshot, tuple[Target, ...]]:
        """What one tick has to go by."""
        picture = self.world.picture()
        snapshot, self._clocks = assemble(picture, self.world.site, self.world.evidence, self._clocks, self.world.now)
        return snapshot, own.targets(self.world.baseline, picture, self.world.site)

    @property
    def ledger(self) -> Ledger:
        """The ledger as it is kept."""
        changes = [read_change(text) for text in self.kept.values()]
        return Ledger(tuple(sorted(changes, key=lambda change: (change.created_at, change.id))))

    @property
    def change(self) -> Change:
        """The youngest change."""
        return self.ledger.changes[-1]

    def restart(self) -> None:
        """All that is only in memory is lost."""
        self._memory, self._clocks, self.fuse = Ledger(), WaitClocks(), Fuse()

    def save(self, ledger: Ledger) -> None:
        """Keep the ledger; part of `LedgerWriter`."""
        texts = {change.id: change_text(change) for change in ledger.changes}
        if texts == self.kept:
            return
        self.fuse.burn(done=False)
        self.kept = texts
        self.fuse.burn(done=True)

    def check(self) -> None:
        """The lease is ours; part of `Fence`."""

    def preview(self, path: str, manifest: Mapping[str, Any]) -> None:
        """Part of `Actuator`."""
        name = _name(path, manifest)
        if name in self.refused_in_preview:
            raise ApplyError(name, self.refused_in_preview[name], "the webhook says no")

    def apply(self, path: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Part of `Actuator`."""
        name = _name(path, manifest)
        if name in self.refused:
            raise ApplyError(name, self.refused[name], "refused")
        self.fuse.burn(done=False)
        before = sum(self.world.levels().values())
        answer = self.world.write(name, manifest)
        self.writes.append((name, self.world.levels()[name]))
        self.written(before)
        self.fuse.burn(done=True)
        return answer

    def shown(self, path: str) -> dict[str, Any]:
        """Part of `Actuator`."""
        raise AssertionError("nobody else writes in this world")

    def written(self, before: int) -> None:
        """What must hold after each single write. People may have put more there, `before`; we never do."""
        levels = self.world.levels()
        assert sum(levels.values()) <= max(self.world.most(), before), levels
        assert min(levels.values()) >= 0
        intended = {change.id for change in self.ledger.active}
        marked = {mark.id for mark in own.marks(self.world.baseline, self.world.picture())}
        assert marked <= intended, f"{marked - intended} is marked and nowhere recorded as active"

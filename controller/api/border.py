"""The two documents as pydantic models: what may be written, and what it means as frozen values. Pure.

Only here does text become a value. No field is guessed or converted: "3" is no number, `yes` no text. What needs a
second document to be judged stands in `crosscheck`.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic.alias_generators import to_camel

from collector.model.tenancy import (
    Engine,
    Entitlement,
    Members,
    Objective,
    ObjectiveKind,
    Pool,
    SizeClass,
    Tenant,
    Tier,
)
from controller.api.fields import (
    MOST_GPUS,
    Dwell,
    Gpus,
    Lifetime,
    Name,
    ObjectName,
    Resource,
    Share,
    Text,
    Tick,
    Wait,
    Window,
    Within,
    WithinLimit,
)
from controller.api.policy import Budgets, Cadence, Lending, Mode, Policy, Revert, Targets

API_VERSION: Final = "trimtab.io/v1alpha1"
MOST_PER_DAY: Final = 1_000_000
"""Of anything that a budget counts: a larger number is a slip of the pen."""
DEFAULT_WINDOW_SECONDS: Final = 28 * 86400.0
RESERVED_TENANT_NAMES: Final = {
    "unassigned": "it is the tenant of every namespace that nobody claims",
    "shared": "the own Cohort trimtab-shared would be mistaken for this tenant's",
}
_NEEDED: Final = {
    ObjectiveKind.RDMA_LATENCY: ("quantile", "within"),
    ObjectiveKind.STORAGE_LATENCY: ("storage", "quantile", "within"),
}
_MEMBERS: Final = ("namespaces", "namespaceSelector", "localQueues", "kubesphereWorkspaces")
_ENGINE_OF: Final = {"flavor": Engine.KUEUE, "borrow_class": Engine.NATIVE}


class Border(BaseModel):
    """Strict: unknown keys and converted types are refused; keys are written in camelCase."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel, allow_inf_nan=False)


class Metadata(Border):
    """What people write there; what the API server adds is taken off before."""

    name: Name
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class TenantMetadata(Metadata):
    """A tenant's name: labels of metrics and names of own objects carry it."""

    @field_validator("name")
    @classmethod
    def _free(cls, name: str) -> str:
        if name in RESERVED_TENANT_NAMES:
            raise ValueError(f"another name: {name} is reserved, {RESERVED_TENANT_NAMES[name]}")
        return name


class NamespaceSelectorModel(Border):
    """Labels that a namespace must all carry."""

    match_labels: dict[str, str] = Field(min_length=1)


class LocalQueueModel(Border):
    """A Kueue LocalQueue; it claims its namespace."""

    namespace: Name
    name: ObjectName


class MembersModel(Border):
    """What belongs to a tenant."""

    namespaces: list[Name] = []
    namespace_selector: NamespaceSelectorModel | None = None
    local_queues: list[LocalQueueModel] = []
    kubesphere_workspaces: list[ObjectName] = []

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if not (self.namespaces or self.namespace_selector or self.local_queues or self.kubesphere_workspaces):
            raise ValueError(f"at least one of {', '.join(_MEMBERS)}: nothing would belong to this tenant")
        return self

    def value(self) -> Members:
        """The frozen form."""
        return Members(
            namespaces=frozenset(self.namespaces),
            namespace_labels=dict(self.namespace_selector.match_labels) if self.namespace_selector else {},
            local_queues=frozenset((queue.namespace, queue.name) for queue in self.local_queues),
            workspaces=frozenset(self.kubesphere_workspaces),
        )


class EntitlementModel(Border):
    """What a tenant may use of one pool, in GPUs: guarantee + floating ≤ burst ≤ ceiling."""

    pool: Name
    guarantee: Gpus
    floating: Gpus = 0
    burst: Gpus | None = None
    ceiling: Gpus | None = None

    @field_validator("burst")
    @classmethod
    def _above_own(cls, burst: int | None, info: ValidationInfo) -> int | None:
        own = _sum(info, "guarantee", "floating")
        if burst is not None and own is not None and burst < own:
            raise ValueError(f"at least guarantee + floating, which is {own}")
        return burst

    @field_validator("ceiling")
    @classmethod
    def _above_burst(cls, ceiling: int | None, info: ValidationInfo) -> int | None:
        burst = info.data.get("burst", 0)
        least = _sum(info, "guarantee", "floating") if burst is None else burst
        if ceiling is not None and least is not None and ceiling < least:
            raise ValueError(f"at least burst (by default guarantee + floating), which is {least}")
        return ceiling

    def value(self) -> Entitlement:
        """The frozen form."""
        return Entitlement(self.pool, self.guarantee, self.floating, self.burst, self.ceiling)


class ObjectiveModel(Border):
    """A service-level objective. Which of the last three keys it needs depends on its kind."""

    name: Name
    kind: Literal["queue-wait", "eviction-loss", "share", "rdma-latency", "storage-latency", "availability"]
    target: Share
    window: Window = DEFAULT_WINDOW_SECONDS
    pool: Name | None = None
    storage: Text | None = Field(default=None, validate_default=True)
    quantile: Share | None = Field(default=None, validate_default=True)
    within: WithinLimit | None = Field(default=None, validate_default=True)

    @field_validator("storage", "quantile", "within")
    @classmethod
    def _as_the_kind_needs(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("kind")
        if kind is None:
            return value
        needed = _NEEDED.get(kind, ())
        if value is None and info.field_name in needed:
            raise ValueError(f"a value: an objective of kind {kind} needs {', '.join(needed)}")
        if value is not None and info.field_name not in needed:
            raise ValueError(f"no such key here: it has no meaning for kind {kind}")
        if isinstance(value, Within) and value.seconds is None and kind != ObjectiveKind.RDMA_LATENCY:
            raise ValueError(f"a duration such as 50ms: kind {kind} has no baseline")
        return value

    def value(self) -> Objective:
        """The frozen form."""
        return Objective(
            name=self.name,
            kind=ObjectiveKind(self.kind),
            target=self.target,
            window_seconds=self.window,
            pool=self.pool,
            quantile=self.quantile,
            within_seconds=self.within.seconds if self.within else None,
            within_baseline_factor=self.within.baseline_factor if self.within else None,
            storage=self.storage,
        )


class TenantSpec(Border):
    """Everything that was agreed with one tenant."""

    tier: Name
    members: MembersModel
    pools: list[EntitlementModel] = []
    objectives: list[ObjectiveModel] = []


class TenantModel(Border):
    """The document `kind: Tenant`."""

    api_version: Literal["trimtab.io/v1alpha1"]
    kind: Literal["Tenant"]
    metadata: TenantMetadata
    spec: TenantSpec

    def value(self) -> Tenant:
        """The frozen form."""
        return Tenant(
            name=self.metadata.name,
            tier=self.spec.tier,
            members=self.spec.members.value(),
            entitlements=tuple(entitlement.value() for entitlement in self.spec.pools),
            objectives=tuple(objective.value() for objective in self.spec.objectives),
        )


class TargetsModel(Border):
    """Which tenants and pools may be steered; "*" means all."""

    tenants: list[Text] = list(Targets().tenants)
    pools: list[Text] = list(Targets().pools)


class PoolModel(Border):
    """GPUs that can replace each other."""

    name: Name
    resource: Resource
    node_selector: dict[str, str] = {}
    engine: Literal["kueue", "native"]
    flavor: ObjectName | None = Field(default=None, validate_default=True)
    borrow_class: ObjectName | None = Field(default=None, validate_default=True)

    @field_validator("flavor", "borrow_class")
    @classmethod
    def _as_the_engine_needs(cls, value: str | None, info: ValidationInfo) -> str | None:
        field, engine = str(info.field_name), info.data.get("engine")
        needed = engine == _ENGINE_OF[field]
        if engine and needed and value is None:
            raise ValueError(f"a name: engine {engine} needs {to_camel(field)}")
        if engine and not needed and value is not None:
            raise ValueError(f"no such key here: it has no meaning for engine {engine}")
        return value

    def value(self) -> Pool:
        """The frozen form."""
        return Pool(
            name=self.name,
            resource=self.resource,
            node_selector=dict(self.node_selector),
            engine=Engine(self.engine),
            flavor=self.flavor,
            borrow_class=self.borrow_class,
        )


class StartWithinModel(Border):
    """Limits of waiting per size; a size without one is not judged."""

    interactive: Wait | None = None
    single_node: Wait | None = Field(default=None, alias="single-node")
    small_gang: Wait | None = Field(default=None, alias="small-gang")
    large_gang: Wait | None = Field(default=None, alias="large-gang")


class TierModel(Border):
    """A class of service."""

    name: Name
    rank: int = Field(ge=-1_000_000_000, le=1_000_000_000)
    start_within: StartWithinModel = StartWithinModel()
    oldest_head: Wait | None = None

    def value(self) -> Tier:
        """The frozen form; `oldest_head` is carried beside it, by `Documents`."""
        limits = self.start_within.model_dump(by_alias=True, exclude_none=True)
        return Tier(self.name, self.rank, {SizeClass(size): seconds for size, seconds in limits.items()})


class BudgetsModel(Border):
    """Finite by nature: there is no word for "without limit"."""

    changes_per_day: int = Field(default=Budgets().changes_per_day, ge=0, le=MOST_PER_DAY)
    tenants_per_hour: int = Field(default=Budgets().tenants_per_hour, ge=0, le=MOST_PER_DAY)
    added_evictions_per_day: int = Field(default=Budgets().added_evictions_per_day, ge=0, le=MOST_PER_DAY)
    added_lost_gpu_hours_per_day: float = Field(default=Budgets().added_lost_gpu_hours_per_day, ge=0, le=24 * MOST_GPUS)


class CadenceModel(Border):
    """The rhythm of the loop."""

    tick: Tick = Cadence().tick_seconds
    confirm_ticks: int = Field(default=Cadence().confirm_ticks, ge=1, le=100)
    dwell: Dwell = Cadence().dwell_seconds


StrategyName: TypeAlias = Literal["guard", "lend", "objectives", "deadlines", "offer"]


class RevertModel(Border):
    """How a change ends."""

    # One word, so that documents say what happens: a hard end, which may evict, is a person's `trimtab revert`.
    style: Literal["soft"] = "soft"
    ttl: Lifetime = Revert().ttl_seconds


class LendingModel(Border):
    """How floats that stand idle are lent; without it they stay the reserve of their tenants."""

    reserve: int = Field(default=Lending().reserve, ge=0, le=MOST_GPUS)
    least: int = Field(default=Lending().least, ge=1, le=MOST_GPUS)


class PolicySpec(Border):
    """What Trimtab may do, and the pools and tiers that tenants refer to."""

    mode: Literal["Observe", "Recommend", "Enforce"] = "Observe"
    paused: bool = False
    targets: TargetsModel = TargetsModel()
    pools: list[PoolModel] = []
    tiers: list[TierModel] = []
    strategies: list[StrategyName] = ["guard", "lend", "objectives", "deadlines", "offer"]
    budgets: BudgetsModel = BudgetsModel()
    cadence: CadenceModel = CadenceModel()
    revert: RevertModel = RevertModel()
    lending: LendingModel | None = None

    @field_validator("mode", mode="before")
    @classmethod
    def _mode_in_words(cls, mode: Any) -> Any:
        if mode not in ("Observe", "Recommend", "Enforce"):
            trap = "; YAML reads Off, No and On as false and true" if isinstance(mode, bool) else ""
            raise ValueError(f"Observe, Recommend or Enforce; write Observe to change nothing{trap}")
        return mode


class PolicyModel(Border):
    """The document `kind: Policy`."""

    api_version: Literal["trimtab.io/v1alpha1"]
    kind: Literal["Policy"]
    metadata: Metadata
    spec: PolicySpec

    def value(self) -> Policy:
        """The frozen form, without pools and tiers: those are part of the `Site`."""
        spec = self.spec
        return Policy(
            name=self.metadata.name,
            mode=Mode[spec.mode.upper()],
            paused=spec.paused,
            targets=Targets(tuple(spec.targets.tenants), tuple(spec.targets.pools)),
            strategies=tuple(spec.strategies),
            budgets=Budgets(**spec.budgets.model_dump()),
            cadence=Cadence(spec.cadence.tick, spec.cadence.confirm_ticks, spec.cadence.dwell),
            revert=Revert(spec.revert.ttl),
            lending=None if spec.lending is None else Lending(spec.lending.reserve, spec.lending.least),
        )


def _sum(info: ValidationInfo, *fields: str) -> int | None:
    """The sum of earlier fields; None when one of them is itself a mistake."""
    if not all(field in info.data for field in fields):
        return None
    return sum(int(info.data[field]) for field in fields)

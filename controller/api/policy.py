"""What a validated Policy says: modes, budgets, cadence, style of reverts. Pure values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum


class Mode(IntEnum):
    """How much Trimtab may do. Ordered: the least permissive of deployment, policy and target wins."""

    OBSERVE = 0
    RECOMMEND = 1
    ENFORCE = 2

    @property
    def word(self) -> str:
        """The word in documents and options: Observe, Recommend, Enforce."""
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class Targets:
    """Which tenants and pools may be steered; "*" means all."""

    tenants: tuple[str, ...] = ("*",)
    pools: tuple[str, ...] = ("*",)

    def covers(self, tenant: str, pool: str) -> bool:
        """Whether both the tenant and the pool are named, or all are."""
        return bool({"*", tenant} & set(self.tenants)) and bool({"*", pool} & set(self.pools))


@dataclass(frozen=True, slots=True)
class Budgets:
    """Finite by default. "Added" means over what the engine's fixed settings do anyway."""

    changes_per_day: int = 24
    tenants_per_hour: int = 2
    added_evictions_per_day: int = 10
    added_lost_gpu_hours_per_day: float = 20.0


@dataclass(frozen=True, slots=True)
class Cadence:
    """The rhythm of the loop."""

    tick_seconds: float = 30.0
    confirm_ticks: int = 2
    dwell_seconds: float = 900.0
    """No second change for the same tenant and pool within this time; also how long a trial may take."""


@dataclass(frozen=True, slots=True)
class Revert:
    """How a change ends: softly, following usage down. A hard end is a person's, never the policy's."""

    ttl_seconds: float = 4 * 3600.0


@dataclass(frozen=True, slots=True)
class Lending:
    """How floats that stand idle are lent to everybody, until their tenants need them."""

    reserve: int = 0
    """GPUs of a tenant's float that stay with it beyond what it uses."""
    least: int = 12
    """Less than so many GPUs are not worth a change."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One Policy document without its tiers and pools (those are part of the `Site`)."""

    name: str = "default"
    mode: Mode = Mode.OBSERVE
    paused: bool = False
    targets: Targets = Targets()
    strategies: tuple[str, ...] = ("guard", "lend", "objectives", "deadlines", "offer")
    budgets: Budgets = Budgets()
    cadence: Cadence = Cadence()
    revert: Revert = Revert()
    lending: Lending | None = None
    """None: an idle float stays its tenant's reserve, as agreed."""
    day_seconds: float = 86400.0
    """Length of the day and, by 24, of the hour that budgets count in; shrinks with the time scale."""

    def scaled(self, time_scale: float) -> Policy:
        """The same policy with every duration divided by `time_scale`."""
        return replace(
            self,
            cadence=replace(
                self.cadence,
                tick_seconds=self.cadence.tick_seconds / time_scale,
                dwell_seconds=self.cadence.dwell_seconds / time_scale,
            ),
            revert=replace(self.revert, ttl_seconds=self.revert.ttl_seconds / time_scale),
            day_seconds=self.day_seconds / time_scale,
        )

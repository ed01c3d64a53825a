"""The rule files that the promtool tests under `rules/` name, made from the rules as they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from alerts.render.rules import prometheus_rules
from alerts.rules import RuleGroup, rule_groups
from collector.model.tenancy import Entitlement, Objective, ObjectiveKind, Site, Tenant

RULE_TESTS: Final = Path(__file__).parent / "rules"
_DAY: Final = 86400.0


def _tenant(name: str, *objectives: Objective) -> Tenant:
    entitlements = (Entitlement("h100", guarantee=16), Entitlement("a100", guarantee=16))
    return Tenant(name, "critical", entitlements=entitlements, objectives=objectives)


SITE: Final = Site(
    cluster="a",
    pools=(),
    tiers=(),
    tenants=(
        _tenant(
            "vision",
            Objective("start", ObjectiveKind.QUEUE_WAIT, target=0.9, window_seconds=28 * _DAY),
            Objective("fabric", ObjectiveKind.RDMA_LATENCY, target=0.99, window_seconds=3 * _DAY),
        ),
        _tenant("speech", Objective("soon", ObjectiveKind.QUEUE_WAIT, 0.99, 7 * _DAY, pool="h100")),
        _tenant("guest"),
    ),
)

GROUPS_BY_FILE: Final[Mapping[str, tuple[RuleGroup, ...]]] = {
    "trimtab.rules.yaml": rule_groups(),
    "trimtab-x3600.rules.yaml": rule_groups(time_scale=3600),
    "trimtab-site.rules.yaml": rule_groups(SITE),
}


def write_rules(folder: Path, *, devices: bool = True) -> None:
    """Puts all of them into `folder`, beside which promtool looks for them.

    `devices` False: of the many rules about devices only the first, for tests of whole months that have no device.
    """
    for name, groups in GROUPS_BY_FILE.items():
        kept = groups if devices else tuple(map(_without_devices, groups))
        (folder / name).write_text(prometheus_rules(kept), encoding="utf-8")


def _without_devices(group: RuleGroup) -> RuleGroup:
    return replace(group, rules=group.rules[:1]) if group.name == "trimtab-devices" else group

"""Puts the rules together for a site and a time scale. Pure."""

from __future__ import annotations

from itertools import chain

from alerts.rules.attainment import minute_rules, window_rules
from alerts.rules.devices import device_rules
from alerts.rules.fabric import fabric_alerts
from alerts.rules.gangs import gang_alerts
from alerts.rules.health import health_alerts
from alerts.rules.model import RuleGroup
from alerts.rules.objectives import BURNS, budget_rules, burn_alerts, objective_windows
from alerts.rules.storage import storage_alerts, storage_rules
from alerts.rules.timing import DAY, Timing
from collector.model.tenancy import Site

_MINUTES_PER_LONG_LOOK = 4
"""Windows of a day and more read many samples and change slowly; still within the five minutes that Prometheus
looks back for the last sample."""


def rule_groups(site: Site | None = None, time_scale: float = 1.0) -> tuple[RuleGroup, ...]:
    """All rule groups.

    Without a site they serve any: every tenant and pool that the collector exports is held to the default target.
    With a site each queue-wait objective has its own target and window. `time_scale` divides every duration, and
    not the durations in names; the site comes unscaled. Raises ValueError for an impossible time scale.
    """
    timing = Timing(time_scale)
    objectives = objective_windows(site)
    windows = sorted({*chain.from_iterable((burn.long_seconds, burn.short_seconds) for burn in BURNS), *objectives})
    short = [window for window in windows if window < DAY]
    long = [window for window in windows if window >= DAY]
    asked = {burn.long_seconds for burn in BURNS}
    look = timing.look_seconds
    return (
        RuleGroup(
            "trimtab-attainment", timing.minute_seconds, (*minute_rules(timing), *window_rules(timing, short, asked))
        ),
        RuleGroup(
            "trimtab-attainment-long",
            timing.minute_seconds * _MINUTES_PER_LONG_LOOK,
            window_rules(timing, long, asked),
        ),
        RuleGroup("trimtab-devices", timing.minute_seconds, device_rules()),
        RuleGroup("trimtab-objectives", look, (*budget_rules(site), *burn_alerts(timing, objectives))),
        RuleGroup("trimtab-storage", timing.minute_seconds, storage_rules(timing)),
        RuleGroup(
            "trimtab-health",
            look,
            (*health_alerts(timing), *storage_alerts(timing), *fabric_alerts(timing), *gang_alerts(timing)),
        ),
    )

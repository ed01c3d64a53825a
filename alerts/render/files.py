"""Which files are generated, and their whole text. Pure: `__main__` compares and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from alerts.render.alertmanager import alertmanager_config
from alerts.render.reference import alerts_page
from alerts.render.rules import prometheus_rule_object, prometheus_rules
from alerts.rules.groups import rule_groups
from collector.catalogue.docs import metrics_page, spellings_page


def generated_files(time_scale: float = 1.0) -> Mapping[str, str]:
    """Path below the root of the repository → text, for any site. Raises ValueError for an impossible time scale."""
    groups = rule_groups(None, time_scale)
    return MappingProxyType(
        {
            "deploy/helm/trimtab/files/rules.yaml": prometheus_rules(groups),
            "deploy/generated/trimtab.rules.yaml": prometheus_rules(groups),
            "deploy/generated/trimtab.prometheusrule.yaml": prometheus_rule_object(groups),
            "deploy/generated/trimtab.alertmanager.yaml": alertmanager_config(time_scale=time_scale),
            "docs/reference/alerts.md": alerts_page(groups),
            "docs/reference/metrics.md": metrics_page(),
            "docs/reference/spellings.md": spellings_page(),
        }
    )

"""The variables of boards, one name for one thing on all of them, and the selectors that use them. Pure."""

from __future__ import annotations

from typing import Any, Final

from grafanalib.core import Template

DATASOURCE: Final = "datasource"
OF_CLUSTER: Final = '{cluster="$cluster"}'
OF_TENANT: Final = '{cluster="$cluster",tenant="$tenant"}'
OF_TENANT_POOL: Final = '{cluster="$cluster",tenant="$tenant",pool=~"$pool"}'
PER_CLUSTER: Final = '{cluster=~"$cluster|"}'
"""For series that get their cluster from the scrape: a site with a single cluster may add none."""
ANY_VALUE: Final = ".+"

_ON_TIME_RANGE_CHANGE: Final = 2


def tenant_variables(from_metric: str) -> list[Template]:
    """Data source, cluster, tenant and pools; the last three are read off the labels of `from_metric`."""
    return [
        Template(name=DATASOURCE, label="Data source", type="datasource", query="prometheus"),
        _labels("cluster", "Cluster", from_metric),
        _labels("tenant", "Tenant", f"{from_metric}{OF_CLUSTER}"),
        _labels("pool", "Pool", f"{from_metric}{OF_TENANT}", multi=True, includeAll=True, allValue=ANY_VALUE),
    ]


def _labels(name: str, label: str, selector: str, **more: Any) -> Template:
    query = f"label_values({selector}, {name})"
    return Template(name=name, label=label, query=query, refresh=_ON_TIME_RANGE_CHANGE, **more)

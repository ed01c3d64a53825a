"""What the collector knows about its own reading, as metric families: always there, whatever the sources do."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric as Family

from collector.exporter.family import Rows, family
from collector.exporter.health import HealthState


def collector_families(health: HealthState, cluster: str, version: str) -> Iterator[Family]:
    """Errors, last successes of whole sources, and the version."""
    errors = ((key, float(count)) for key, count in sorted(health.errors.items()))
    yield family("trimtab_collector_errors_total", errors)
    successes = (((cluster, source), at) for source, at in sorted(health.last_success_at.items()))
    yield family("trimtab_collector_last_success_timestamp_seconds", successes)
    yield family("trimtab_build_info", [((version,), 1.0)])


def blindness_families(health: HealthState, cluster: str, node: str, now: float) -> Iterator[Family]:
    """Age, coverage and last error of each device of each source. `node`: whose they are; empty for a cluster's."""
    looks = [((cluster, node, *key), look) for key, look in sorted(health.devices.items())]
    ages = ((labels, max(0.0, now - look.at)) for labels, look in looks if look.at is not None)
    yield family("trimtab_collector_source_age_seconds", ages)
    coverage = ((labels, look.coverage_ratio) for labels, look in looks)
    yield family("trimtab_collector_source_coverage_ratio", coverage)
    yield family("trimtab_collector_unknown_readings", _unknown(health, cluster, node))
    counts = (((cluster, node, source), float(count)) for source, count in sorted(health.device_counts.items()))
    yield family("trimtab_collector_source_devices", counts)
    failed = (((cluster, node, *key), at) for key, at in sorted(health.last_error_at.items()))
    yield family("trimtab_collector_last_error_timestamp_seconds", failed)


def _unknown(health: HealthState, cluster: str, node: str) -> Rows:
    for key, look in sorted(health.devices.items()):
        for reason, count in sorted(look.unknown.items()):
            yield (cluster, node, *key, reason), float(count)

"""Devices of other exporters than dcgm-exporter, out of the tables of their spellings: holders and values. Pure.

The parser of `collector.parse` reads the same series by the same tables. Left out are values that are told for holders
alone, and AMD's partitions, of which many values stand on the first one only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Final

from alerts.rules.device_labels import DEVICE, in_cluster, overwritten, replaced, replaced_by_nothing
from alerts.rules.timing import promql_number
from collector.catalogue import accelerators as names
from collector.catalogue.spelling import Scope, Spelling, Vocabulary
from collector.catalogue.vendor_series import RECORDED_VENDORS, RENAMED, cases, devices_of, spellings_of

_TELLING: Final = {"ascend": ("id", "npuID")}
"""Exporter → the labels of which every series has one, where those of its id may be empty."""


def vendor_holders() -> str:
    """Containers that hold a device, by any of these exporters; alternatives, each grouped."""
    return "\nor\n".join(_all_holders())


def vendor_values(*facts: str, most: float | None = None) -> str:
    """The facts of every device, the first that is known counts; at most `most`."""
    found = [
        _bounded(one, vocabulary, most) for vocabulary in RECORDED_VENDORS for one in spellings_of(vocabulary, *facts)
    ]
    return "\nor\n".join(found)


def _bounded(spelling: Spelling, vocabulary: Vocabulary, most: float | None) -> str:
    whole = spelling.scope is Scope.WHOLE
    by = "cluster, node, device" if whole else DEVICE
    of_job = f"by ({by}, job, instance)"
    usable = named(_usable(spelling, vocabulary), vocabulary)
    agreed = f"max {of_job} ({usable})"
    if not whole:
        agreed = f"(\n  {agreed}\n  ==\n  min {of_job} ({usable})\n)"
    found = f"max by ({by}) ({in_cluster(agreed)})"
    limit = f" <= {promql_number(spelling.limit)}" if spelling.limit < float("inf") else ""
    found = f"({found} >= {promql_number(spelling.lowest)}{limit})"
    if whole:
        found = replaced_by_nothing(found, "GPU_I_ID")
    found = _scaled(found, spelling.factor)
    return f"clamp_max({found}, {promql_number(most)})" if most is not None else found


def _scaled(series: str, factor: float) -> str:
    """By whole numbers only, which are exact."""
    if factor == 1:
        return series
    return f"{factor:.0f} * {series}" if factor > 1 else f"{series} / {1 / factor:.0f}"


def _usable(spelling: Spelling, vocabulary: Vocabulary) -> str:
    selected = _of_devices(spelling.theirs, vocabulary)
    if vocabulary.blank_from < float("inf"):
        return f"({selected}) < {vocabulary.blank_from:.0f}"
    return selected


def _of_devices(series: str, vocabulary: Vocabulary, matchers: str = "") -> str:
    """Series that name a device which is not cut by AMD's partitions."""
    spelled = devices_of(vocabulary)
    ids = [label for one in _TELLING.get(vocabulary.source, spelled.uuid) for label in cases(vocabulary, one)]
    uncut = ""
    if spelled.whole_profiles:
        whole = "|".join(sorted(profile for profile in spelled.whole_profiles))
        profiles = [label for one in spelled.slice_profile for label in cases(vocabulary, one)]
        uncut = "".join(f',{label}=~"(?i:{whole})"' for label in profiles)
    rest = f",{matchers}" if matchers else ""
    return " or ".join(f'{series}{{{label}!=""{uncut}{rest}}}' for label in ids)


def named(series: str, vocabulary: Vocabulary) -> str:
    """Adds `node`, `device` and, of slices, `GPU_I_ID`."""
    spelled = devices_of(vocabulary)

    def cased(labels: tuple[str, ...]) -> list[str]:
        return [label for one in labels[::-1] for label in cases(vocabulary, one)]

    found = reduce(overwritten, (("node", label) for label in cased(spelled.node) if label != "node"), series)
    found = reduce(overwritten, (("place", label) for label in cased(spelled.index)), found)
    found = f'label_join({found},\n  "device", "/", "node", "place")' if spelled.index else found
    found = reduce(
        lambda inner, uuid: replaced(inner, "device", uuid, "([^:]+).*"),
        (label for label in cased(spelled.uuid) if label != "device"),
        found,
    )
    if spelled.whole_profiles:
        return replaced_by_nothing(found, "GPU_I_ID")
    return reduce(overwritten, (("GPU_I_ID", label) for label in cased(spelled.slice_id)), found)


def _all_holders() -> Iterator[str]:
    for vocabulary in RECORDED_VENDORS:
        spelled = devices_of(vocabulary).holders
        own = f".*({'|'.join(spelled.own_pods)}).*" if spelled.own_pods else ""
        families = [one.theirs for one in spellings_of(vocabulary, names.MEMORY_USED, names.POWER)]
        for namespace, pod, container in spelled.labels:
            for pod_label in cases(vocabulary, pod):
                not_own = f',{pod_label}!~"{own}"' if own else ""
                plain = f'{pod_label}!=""{not_own}'
                renamed = f'exported_{pod_label}!=""' if pod_label in RENAMED else ""
                ways = [f'{plain},exported_{pod_label}=""', renamed] if renamed else [plain]
                for way in ways:
                    held = "\nor ".join(f"({_of_devices(family, vocabulary, way)})" for family in families)
                    yield _holders_of(named(held, vocabulary), vocabulary, (namespace, pod, container))


def _holders_of(series: str, vocabulary: Vocabulary, labels: tuple[str, str, str]) -> str:
    found = series
    for ours, theirs in zip(RENAMED, labels, strict=True):
        spelled = [label for label in cases(vocabulary, theirs) if label != ours]
        renamed = [f"exported_{theirs}"] if theirs in RENAMED else []
        for label in (*spelled, *renamed):
            found = overwritten(found, (ours, label))
    group = f"group by ({DEVICE}, namespace, pod, container, replica)"
    whole = replaced_by_nothing(found, "replica")
    return f"{group} ({in_cluster(f'{group} ({whole})')})"

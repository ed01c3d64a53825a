"""The collector's series about RDMA, as Prometheus has them now → whose network is slow. Asks nobody itself.

They need no age of their own: the collector leaves out what is too old, and a collector that is gone makes blind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.assemble.fabric import agreed_slow, can_not_be_judged, new_edges_sentence, slow_edges_sentence
from collector.model.fabric import Edge
from collector.model.snapshot import OtherCause, OtherKind
from collector.model.tenancy import Site
from collector.sources.prometheus import VectorSample

_RATIO: Final = "trimtab_tenant_rdma_latency_ratio"
_LATENCY: Final = "trimtab_rdma_latency_seconds"
_AGE: Final = "trimtab_rdma_probe_age_seconds"
_NEW: Final = "trimtab_tenant_rdma_new_links"
_LINKS: Final = "trimtab_rdma_links"
_JUDGED: Final = frozenset({"usual", "slow"})
_NOT_YET: Final = frozenset({"unjudged", "failed"})
FABRIC_SERIES: Final = frozenset((_RATIO, _LATENCY, _AGE, _NEW, _LINKS))
"""What to ask for."""


@dataclass(frozen=True, slots=True)
class FabricEvidence:
    """Tenants in trouble with their cause, and why nothing can be said now; None when it can, or nothing is watched."""

    causes: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    suspected: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    """Tenants with one slow edge among several, as a busy host makes too, or with edges that can not be judged yet."""
    unseen: str | None = None


def fabric_evidence(samples: Iterable[VectorSample], site: Site) -> FabricEvidence:
    """What `samples` (of one cluster, at one moment) say about the tenants of the site."""
    # (tenant, objective) → edge → ratio; of two collectors that probe the same edge the better counts.
    slow: dict[tuple[str, str], dict[Edge, float]] = defaultdict(dict)
    new: dict[tuple[str, str], int] = {}
    links = Counter[str]()
    probed: set[Edge] = set()
    measured: set[Edge] = set()
    for sample in samples:
        name, edge = sample.labels.get("__name__"), _edge(sample)
        if name == _AGE:
            probed.add(edge)
        elif name == _LATENCY:
            measured.add(edge)
        elif name == _LINKS:
            links[sample.labels.get("judged", "")] += int(sample.value)
        elif name == _NEW:
            key = sample.labels.get("tenant", ""), sample.labels.get("objective", "")
            new[key] = int(min(sample.value, new.get(key, sample.value)))
        elif name == _RATIO:
            ratios = slow[sample.labels.get("tenant", ""), sample.labels.get("objective", "")]
            ratios[edge] = min(sample.value, ratios.get(edge, sample.value))
    unseen = _no_link_judged(links)
    if probed and not measured:
        unseen = f"no probe of its {len(probed)} edges succeeded lately"
    known, suspected = (dict(_causes(slow, site, known=known)) for known in (True, False))
    for tenant, causes in _not_judged(slow, new, site):
        suspected[tenant] = suspected.get(tenant, ()) + causes
    return FabricEvidence(known, suspected, unseen)


def _no_link_judged(links: Mapping[str, int]) -> str | None:
    """Why links between NICs rule nothing out; None when some are judged, or none was probed lately."""
    waiting = sum(count for word, count in links.items() if word in _NOT_YET)
    judged = any(links.get(word) for word in _JUDGED)
    return f"none of {waiting} links between NICs can be judged now" if waiting and not judged else None


def _not_judged(
    ratios: Mapping[tuple[str, str], Mapping[Edge, float]], new: Mapping[tuple[str, str], int], site: Site
) -> Iterable[tuple[str, tuple[OtherCause, ...]]]:
    for tenant in site.tenants:
        sentences = [
            new_edges_sentence(objective.name, count)
            for objective in tenant.objectives
            if (count := new.get((tenant.name, objective.name), 0))
            and can_not_be_judged(count, len(ratios.get((tenant.name, objective.name), {})))
        ]
        if sentences:
            yield tenant.name, tuple(OtherCause(OtherKind.RDMA, sentence) for sentence in sentences)


def _causes(
    ratios: Mapping[tuple[str, str], Mapping[Edge, float]], site: Site, *, known: bool
) -> Iterable[tuple[str, tuple[OtherCause, ...]]]:
    """Those that enough edges agree on, or those that are only suspected."""
    for tenant in site.tenants:
        sentences: list[str] = []
        for objective in tenant.objectives:
            used = ratios.get((tenant.name, objective.name), {})
            missed = {edge: ratio for edge, ratio in used.items() if ratio > 1}
            if missed and agreed_slow(len(missed), len(used)) is known:
                sentences.append(slow_edges_sentence(objective.name, missed))
        if sentences:
            yield tenant.name, tuple(OtherCause(OtherKind.RDMA, sentence) for sentence in sentences)


def _edge(sample: VectorSample) -> Edge:
    return Edge(sample.labels.get("source", ""), sample.labels.get("destination", ""))

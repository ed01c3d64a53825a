"""Series about RDMA become a cause that names the edge; what can not be seen is said, and is no cause."""

from __future__ import annotations

from collector.model.snapshot import OtherCause, OtherKind
from collector.model.tenancy import Objective, ObjectiveKind, Site, Tenant
from collector.sources.fabric_evidence import FabricEvidence, fabric_evidence
from collector.sources.prometheus import VectorSample

RDMA = ObjectiveKind.RDMA_LATENCY
SITE = Site(
    "c1",
    (),
    (),
    (
        Tenant(
            "vision", "critical", objectives=(Objective("fabric", RDMA, 0.99, 1.0), Objective("tail", RDMA, 0.9, 1.0))
        ),
        Tenant("speech", "critical"),
    ),
)


def sample(name: str, value: float, source: str = "gpu-1", destination: str = "gpu-2", **labels: str) -> VectorSample:
    return VectorSample({"__name__": name, "source": source, "destination": destination, **labels}, value, 0.0)


def ratio(
    value: float, source: str = "gpu-1", tenant: str = "vision", objective: str = "fabric", **labels: str
) -> VectorSample:
    name = "trimtab_tenant_rdma_latency_ratio"
    return sample(name, value, source, tenant=tenant, objective=objective, **labels)


def sentences(evidence: FabricEvidence, tenant: str = "vision") -> list[str]:
    assert all(cause.kind is OtherKind.RDMA for cause in evidence.causes.get(tenant, ()))
    return [cause.sentence for cause in evidence.causes.get(tenant, ())]


def test_a_slow_edge_is_named_and_the_slowest_first() -> None:
    evidence = fabric_evidence([ratio(4.0), ratio(12.25, "gpu-7"), ratio(0.9, "gpu-9")], SITE)
    assert evidence.causes == {
        "vision": (
            OtherCause(
                OtherKind.RDMA,
                "RDMA from gpu-7 to gpu-2 takes 12.2 times as long as its objective fabric allows, "
                "and its running gangs use it (1 more are slow)",
            ),
        )
    }


def test_an_objective_that_is_kept_or_not_judged_is_no_cause() -> None:
    assert fabric_evidence([ratio(1.0)], SITE) == FabricEvidence()
    assert fabric_evidence([], SITE) == FabricEvidence()


def test_each_objective_has_its_own_sentence() -> None:
    found = sentences(fabric_evidence([ratio(4.0), ratio(2.0, objective="tail")], SITE))
    assert [sentence.partition("objective ")[2].split()[0] for sentence in found] == ["fabric", "tail"]


def test_of_two_collectors_that_probe_one_edge_the_better_counts() -> None:
    assert sentences(fabric_evidence([ratio(4.0, instance="1"), ratio(0.8, instance="2")], SITE)) == []


def test_tenants_and_objectives_that_are_no_more_are_left_out() -> None:
    gone = [ratio(4.0, tenant="gone"), ratio(4.0, objective="gone"), ratio(4.0, tenant="speech")]
    assert fabric_evidence(gone, SITE).causes == {}


def test_probes_that_all_fail_rule_nothing_out() -> None:
    ages = [sample("trimtab_rdma_probe_age_seconds", 900.0), sample("trimtab_rdma_probe_age_seconds", 900.0, "gpu-5")]
    assert fabric_evidence(ages, SITE).unseen == "no probe of its 2 edges succeeded lately"
    measured = sample("trimtab_rdma_latency_seconds", 1e-5, quantile="0.5")
    assert fabric_evidence([*ages, measured], SITE).unseen is None


def test_one_slow_edge_among_several_is_suspected_and_a_second_makes_it_known() -> None:
    one = fabric_evidence([ratio(4.0), ratio(0.9, "gpu-5"), ratio(0.8, "gpu-7")], SITE)
    assert (one.causes, set(one.suspected)) == ({}, {"vision"})
    two = fabric_evidence([ratio(4.0), ratio(3.0, "gpu-5"), ratio(0.8, "gpu-7")], SITE)
    assert (set(two.causes), two.suspected) == ({"vision"}, {})


def test_where_one_edge_is_all_there_is_it_is_known() -> None:
    assert set(fabric_evidence([ratio(4.0)], SITE).causes) == {"vision"}


def new(count: int, tenant: str = "vision", **labels: str) -> VectorSample:
    name = "trimtab_tenant_rdma_new_links"
    return VectorSample({"__name__": name, "tenant": tenant, "objective": "fabric", **labels}, float(count), 0.0)


def test_before_a_baseline_the_network_is_not_ruled_out_for_the_tenant_that_uses_it() -> None:
    evidence = fabric_evidence([new(3), new(2, tenant="speech")], SITE)
    (cause,) = evidence.suspected["vision"]
    assert cause.kind is OtherKind.RDMA
    assert cause.sentence.startswith("RDMA can not be judged yet by its objective fabric: 3 of the edges")
    assert set(evidence.suspected) == {"vision"}, "the other promised itself nothing about it"
    assert evidence.causes == {}


def test_two_edges_with_a_past_rule_it_out_whatever_is_new_beside_them() -> None:
    assert fabric_evidence([new(3), ratio(0.5), ratio(0.6, "gpu-7")], SITE).suspected == {}
    assert fabric_evidence([new(1), ratio(0.5)], SITE).suspected != {}
    assert fabric_evidence([new(0), ratio(0.5)], SITE).suspected == {}
    assert fabric_evidence([new(3, instance="1"), new(0, instance="2")], SITE).suspected == {}, "the better collector"


def linked(judged: str, count: float) -> VectorSample:
    return VectorSample({"__name__": "trimtab_rdma_links", "judged": judged}, count, 0.0)


def test_links_between_nics_of_which_none_is_judged_rule_nothing_out() -> None:
    nothing = [linked(word, 0.0) for word in ("usual", "slow", "unjudged", "failed", "old")]
    assert fabric_evidence(nothing, SITE).unseen is None, "nobody was asked to probe"
    assert fabric_evidence([*nothing, linked("failed", 4.0), linked("unjudged", 2.0)], SITE).unseen == (
        "none of 6 links between NICs can be judged now"
    )
    assert fabric_evidence([linked("failed", 4.0), linked("usual", 1.0)], SITE).unseen is None
    assert fabric_evidence([linked("old", 9.0)], SITE).unseen is None

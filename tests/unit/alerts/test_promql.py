"""The check of expressions finds unknown names, lost labels and joins that can not match or that mix clusters."""

from __future__ import annotations

import pytest

from alerts.promql import output_labels, problems

SHORTFALL = "trimtab_tenant_shortfall_gpus"
INFO = "trimtab_tenant_namespace_info"


@pytest.mark.parametrize(
    ("expr", "labels"),
    [
        (f"sum by (cluster, tenant) (max by (cluster, tenant, pool) ({SHORTFALL}))", {"cluster", "tenant"}),
        (f"max without (job, instance) ({SHORTFALL})", {"cluster", "tenant", "pool"}),
        (f"topk(3, max by (cluster, tenant) (rate({SHORTFALL}[5m])))", {"cluster", "tenant"}),
        (f"time() - max by (cluster) ({SHORTFALL}) > 5", {"cluster"}),
        ("vector(1)", set()),
        (f'label_replace(max by (cluster) ({SHORTFALL}), "site", "$1", "cluster", "(.*)")', {"cluster", "site"}),
        ("trimtab:tenant_attainment_ratio:1h", {"cluster", "tenant", "pool"}),
        (
            (
                "max by (cluster, namespace, pod) (DCGM_FI_PROF_GR_ENGINE_ACTIVE)"
                f" * on (cluster, namespace) group_left (tenant) max by (cluster, namespace, tenant) ({INFO})"
            ),
            {"cluster", "namespace", "pod", "tenant"},
        ),
        (f"max by (cluster) (max_over_time(({SHORTFALL} > 0)[10m:1m]))", {"cluster"}),
        (f"-max by (cluster) ({SHORTFALL}) and ignoring (tenant) max by (cluster, tenant) ({SHORTFALL})", {"cluster"}),
    ],
)
def test_a_sound_expression_gives_its_labels(expr: str, labels: set[str]) -> None:
    assert problems(expr) == ()
    assert output_labels(expr) == frozenset(labels)


@pytest.mark.parametrize(
    ("expr", "what"),
    [
        ("sum(", "not PromQL"),
        ("trimtab_tenant_shortfall", "the catalogue has no such metric"),
        ('{__name__="trimtab_tenant_shortfall_gpus"}', "the catalogue has no such metric"),
        (f'{SHORTFALL}{{queue="x"}}', "has no label queue"),
        (f'{SHORTFALL}{{tenant="a" or queue="x"}}', "has no label queue"),
        (f"max by (cluster, queue) ({SHORTFALL})", "has no label queue"),
        (
            f"max by (cluster) (max by (cluster) ({SHORTFALL}) and max by (cluster, tenant) ({SHORTFALL}))",
            "never matches",
        ),
        (f"sum ({SHORTFALL})", "mixes clusters"),
        (f"max by (tenant) ({SHORTFALL})", "mixes clusters"),
        (f"{SHORTFALL} * on (namespace) group_left (tenant) {INFO}", "has no label namespace"),
        (f"DCGM_FI_DEV_GPU_TEMP * on (namespace) group_left (tenant) {INFO}", "mixes clusters"),
        (f"DCGM_FI_DEV_GPU_TEMP * on (cluster, namespace) group_left (tier) {INFO}", "group_left: has no label tier"),
        ("sum by (cluster, tenant) (DCGM_FI_DEV_GPU_TEMP)", "has no label tenant"),
        (f"max by (cluster) (absent({SHORTFALL}))", "has no label cluster"),
    ],
)
def test_what_is_wrong_is_said_in_words(expr: str, what: str) -> None:
    assert any(what in problem for problem in problems(expr))


def test_an_unsound_expression_has_no_labels() -> None:
    with pytest.raises(ValueError, match="no such metric"):
        output_labels("up")

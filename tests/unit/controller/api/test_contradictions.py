"""Documents that are good one by one and can not all be true."""

from __future__ import annotations

import pytest

from controller.api.documents import combine, parse_documents, read_documents
from controller.api.errors import InputError

POLICY = """apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  pools: [{name: h100, resource: nvidia.com/gpu, engine: kueue, flavor: h100}]
  tiers:
  - {name: critical, rank: 100, startWithin: {single-node: 5m}}
  - {name: standard, rank: 50, startWithin: {single-node: 15m, small-gang: 1h}}
"""
TENANT = """---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: NAME}
spec: {tier: standard, members: {namespaces: [NAME]}, pools: [{pool: h100, guarantee: 16, floating: 24}]}
"""
TEXT = POLICY + TENANT.replace("NAME", "ads") + TENANT.replace("NAME", "vision")


def mistakes(text: str, **capacity: int) -> list[str]:
    try:
        combine(read_documents(text, "site.yaml"), "default", capacity)
    except InputError as error:
        return [str(mistake) for mistake in error.mistakes]
    return []


def test_what_fits_is_good() -> None:
    assert mistakes(TEXT, h100=80) == []
    assert mistakes(TEXT) == []
    assert mistakes(TEXT, other=1) == []


def test_promises_above_the_capacity_are_refused_each_with_all_others() -> None:
    shown = "site.yaml: document 2 (Tenant ads) 40, site.yaml: document 3 (Tenant vision) 40"
    words = f"got 16, expected guarantees and floats of at most 79 GPUs in all in pool h100, not 80: {shown}"
    assert mistakes(TEXT, h100=79) == [
        f"site.yaml: document 2 (Tenant ads): spec.pools[0].guarantee: {words}",
        f"site.yaml: document 3 (Tenant vision): spec.pools[0].guarantee: {words}",
    ]


def test_a_lower_rank_is_not_promised_an_earlier_start() -> None:
    with pytest.raises(InputError) as caught:
        parse_documents(TEXT.replace("single-node: 15m", "single-node: 1m"), "site.yaml")
    assert str(caught.value) == (
        "site.yaml: document 1 (Policy default): spec.tiers[1].startWithin.single-node: got 1m, expected at least 5m, "
        "as spec.tiers[0].startWithin.single-node: a tier of higher rank is served first"
    )

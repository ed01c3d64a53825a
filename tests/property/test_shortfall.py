"""Entitled demand and shortfall (design: entitled-demand attainment), for any tenant whatever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from collector.model.reading import Known
from collector.model.snapshot import TenantPool
from collector.model.tenancy import Entitlement

gpus = st.integers(0, 200)


@st.composite
def tenants(draw: st.DrawFn) -> TenantPool:
    waiting = draw(gpus)
    entitlement = Entitlement("h100", draw(gpus), draw(gpus), draw(st.none() | gpus), draw(st.none() | gpus))
    return TenantPool(
        "vision",
        "standard",
        "h100",
        entitlement,
        Known(draw(gpus)),
        running=draw(gpus),
        waiting=waiting,
        overdue=draw(st.integers(0, waiting)),
    )


@given(tenants())
def test_shortfall_is_a_part_of_the_demand_and_demand_ends_at_the_burst(tenant: TenantPool) -> None:
    assert 0 <= tenant.shortfall <= tenant.demand <= tenant.entitlement.burst_gpus


@given(tenants())
def test_they_are_as_the_design_defines_them(tenant: TenantPool) -> None:
    demand = min(tenant.running + tenant.waiting, tenant.entitlement.burst_gpus)
    assert tenant.demand == demand
    assert tenant.shortfall == max(0, min(demand - tenant.running, tenant.overdue))


@given(tenants())
def test_nobody_lacks_anything_while_nothing_waits_too_long(tenant: TenantPool) -> None:
    if tenant.overdue == 0 or tenant.running >= tenant.entitlement.burst_gpus:
        assert tenant.shortfall == 0

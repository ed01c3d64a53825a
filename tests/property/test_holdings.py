"""Whatever stands in a cluster: what is exported as held, free and unusable is the capacity of each pool."""

from __future__ import annotations

from hypothesis import given

from collector.assemble.gpu_ledger import Devices
from collector.assemble.idle_held import gpu_use
from collector.exporter.families import Published
from tests.pictures import PictureMaker
from tests.property.test_look import devices, makers
from tests.unit.collector.exporter.published import scraped
from tests.views import view_of_picture


@given(makers(), devices())
def test_one_scrape_closes(maker: PictureMaker, read: Devices) -> None:
    picture = maker.picture()
    view = view_of_picture(picture, read)
    uses = gpu_use(picture, view.snapshot, read, view.now)
    found = scraped(Published("c1", view.snapshot, uses=uses), view.now)
    for (_, pool), capacity in found.get("trimtab_pool_capacity_gpus", {}).items():
        held = sum(value for key, value in found["trimtab_tenant_held_gpus"].items() if key[2] == pool)
        unusable = sum(value for key, value in found["trimtab_pool_unusable_gpus"].items() if key[1] == pool)
        assert held + unusable + found["trimtab_pool_free_gpus"]["c1", pool] == capacity

"""`trimtab look`: the report and its screen, on pictures built by hand."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest
from rich.cells import cell_len
from rich.console import Console

from collector.assemble.gpu_ledger import Devices
from collector.model.reading import Known
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import parse_exposition
from controller.api.documents import parse_documents
from controller.cli.look_report import look_report, report_record
from controller.cli.look_screen import look_screen
from controller.cli.view import View
from tests.pictures import PRODUCT, PictureMaker
from tests.views import starving_site, view_of_picture


def _screen(view: View, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    for part in look_screen(look_report(view)):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _record(view: View) -> dict[str, Any]:
    decoded: dict[str, Any] = orjson.loads(orjson.dumps(report_record(look_report(view))))
    return decoded


def test_the_starved_work_stands_first_with_its_holder_and_what_would_help() -> None:
    text = _screen(view_of_picture(starving_site().picture()))
    assert "vision/train" in text
    assert "nlp borrows 16" in text
    assert text.index("vision/train") < text.index("vision/eval")


def test_work_that_can_never_start_is_not_among_the_waits() -> None:
    record = _record(view_of_picture(starving_site().picture()))
    assert [work["name"] for work in record["never_start"]] == ["hero"]
    assert [work["name"] for work in record["longest_waits"]] == ["train", "eval"]


def test_lies_are_told_with_what_to_change() -> None:
    text = " ".join(_screen(view_of_picture(starving_site().picture())).split())
    assert "ClusterQueue speech 16 guaranteed GPUs may be lent to Cohort site" in text
    assert "Set it to Any, or lendingLimit to 0" in text


def test_without_prometheus_the_columns_say_so_instead_of_zero() -> None:
    view = view_of_picture(starving_site().picture())
    record = _record(view)
    (pool,) = record["pools"]
    assert (pool["active"], pool["idle_held"], pool["unknown"]) == (None, None, 32)
    assert pool["unknown_why"] == "no Prometheus was asked"
    assert "no Prometheus was asked (give --prometheus-url)" in " ".join(_screen(view).split())


def test_idle_holders_and_sick_devices_are_named_when_readings_exist() -> None:
    lines = ""
    for index in range(8):
        labels = f'UUID="g{index}",gpu="{index}",Hostname="n3",namespace="vision",pod="segment-0",container="c"'
        lines += f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} {0.9 if index else 0.0}\n"
        lines += f"DCGM_FI_DEV_XID_ERRORS{{{labels}}} {79 if index == 7 else 0}\n"
    view = view_of_picture(starving_site().picture(), Devices(Known(gpu_readings(parse_exposition(lines)))))
    record = _record(view)
    assert [(one["pod"], one["idle_gpus"]) for one in record["idle_holders"]] == [("segment-0", 1)]
    assert [(one["node"], one["xid"]) for one in record["sick_devices"]] == [("n3", 79)]
    assert "Sick devices: 1" in _screen(view)


def test_kinds_that_may_not_be_read_are_said_and_the_rest_is_shown() -> None:
    picture = starving_site().picture(unreadable={"resourcequotas": "403 Forbidden"})
    text = _screen(view_of_picture(picture))
    assert "resourcequotas: 403 Forbidden." in text
    assert "vision/train" in text


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    maker = starving_site()
    maker.work("vision", "a-name-that-is-much-longer-than-any-screen-would-like-it-to-be-0123456789", age=9999.0)
    lines = _screen(view_of_picture(maker.picture()), width).splitlines()
    assert max(map(cell_len, lines)) <= width


def test_a_well_cluster_has_no_findings() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.tenant("vision", floor=8)
    view = view_of_picture(maker.picture())
    assert look_report(view).findings == 0
    assert "Nobody waits." in _screen(view)
    assert "no findings" in _screen(view)


def test_an_empty_cluster_is_shown_without_failing() -> None:
    text = _screen(view_of_picture(PictureMaker().picture()))
    assert "No node offers GPUs." in text


def test_the_inferred_documents_are_good_documents_and_say_where_they_come_from() -> None:
    documents = look_report(view_of_picture(starving_site().picture())).documents
    parsed = parse_documents(documents, "inferred")
    assert [tenant.name for tenant in parsed.site.tenants] == ["nlp", "speech", "vision"]
    assert "# Tenant vision: Cohort tenant-vision and the LocalQueues that lead to it." in documents
    assert "# Pool h100: ResourceFlavor h100, for which ClusterQueues hold nvidia.com/gpu." in documents


def test_a_workspace_with_two_namespaces_in_a_native_pool_loses_what_no_document_can_say() -> None:
    maker = PictureMaker("h100")
    maker.node("n0", labels={PRODUCT: "H100"})
    for namespace in ("a", "b"):
        maker.namespace(namespace, kubesphere_io__workspace="research")
        maker.resource_quota(namespace, 4)
    view = view_of_picture(maker.picture())
    assert view.site.tenants[0].entitlements[0].guarantee == 8
    documents = look_report(view).documents
    assert parse_documents(documents, "inferred").site.tenants[0].entitlements == ()
    assert "# Left out: 8 GPUs of h100 by ResourceQuota" in documents
    assert "borrowClass borrow must be created" in documents


def test_numbers_that_find_no_room_beside_their_names_are_told_in_words() -> None:
    text = _screen(view_of_picture(starving_site().picture()), 60)
    assert "  h100: gpus 40, active ?, idle-held ?, free 8, stranded 0," in text
    assert "  nlp h100: guarantee 8, float 0, used 24, borrowed 16," in text


def test_one_thing_is_not_told_as_several() -> None:
    maker = starving_site()
    maker.work("vision", "small", gpus=1, age=9999.0)
    text = " ".join(_screen(view_of_picture(maker.picture())).split())
    assert "1 GPU of float would start it" in text
    assert " 1 GPUs" not in text
    assert "1 workload that can never start, 1 setting that can not be true;" in text

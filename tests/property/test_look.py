"""Whatever stands in a cluster: every GPU is counted once, inferred documents are good, and no rule fails."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from collector.assemble.assemble import NEEDED_KINDS
from collector.assemble.gpu_ledger import Devices, total_of
from collector.assemble.infer_pools import is_gpu
from collector.model.objects import Picture
from collector.model.reading import Known
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import parse_exposition
from controller.api.documents import parse_documents
from controller.cli.explain_facts import tenant_facts, work_facts
from controller.cli.explain_screen import tenant_screen, work_screen
from controller.cli.look_report import look_report, report_record
from controller.cli.look_screen import look_screen
from controller.cli.not_known import OF_WAITS
from tests.pictures import PRODUCT, PictureMaker
from tests.views import view_of_picture

NAMESPACES = ("a", "b", "c", "unassigned")
NODES = ("n0", "n1", "n2", "n3")
names = st.sampled_from(NAMESPACES)
few = st.integers(0, 3)
gpus = st.integers(0, 9)
limit = st.none() | gpus


@st.composite
def makers(draw: st.DrawFn) -> PictureMaker:
    """Nodes of several kinds, queues with and without cohorts, quotas, work that runs, waits or cannot start."""
    maker = PictureMaker("h100")
    for node in NODES[: draw(st.integers(0, 4))]:
        labels = draw(st.sampled_from([{PRODUCT: "H100"}, {PRODUCT: "A100"}, {}]))
        maker.node(node, draw(gpus), labels, ready=draw(st.booleans()), cordoned=draw(st.booleans()))
    for namespace in NAMESPACES:
        if draw(st.booleans()):
            workspace = {"kubesphere_io__workspace": draw(names)} if draw(st.booleans()) else {}
            maker.namespace(namespace, **workspace)
    _draw_quota(draw, maker)
    _draw_work(draw, maker)
    return maker


def _draw_quota(draw: st.DrawFn, maker: PictureMaker) -> None:
    cohorts = st.sampled_from([None, "site", "tenant-a", "trimtab-a", "loop"])
    for name in draw(st.lists(st.sampled_from(["site", "tenant-a", "trimtab-a", "loop"]), unique=True)):
        maker.cohort(name, draw(cohorts), draw(limit), draw(limit))
    for name in draw(st.lists(st.sampled_from(["q0", "q1", "q2"]), unique=True)):
        rules = {"reclaim_within_cohort": draw(st.sampled_from(["Never", "Any"])), "active": draw(st.booleans())}
        maker.queue(name, draw(cohorts), draw(gpus), borrow=draw(limit), lend=draw(limit), **rules)
    for number in range(draw(few)):
        maker.door(draw(names), draw(st.sampled_from(["q0", "q1", "q2", "gone"])), f"door{number}")
    for name in draw(st.lists(st.sampled_from(["q", "trimtab-cap"]), max_size=3)):
        maker.resource_quota(draw(names), draw(gpus), draw(gpus), name=name)


def _draw_work(draw: st.DrawFn, maker: PictureMaker) -> None:
    for number in range(draw(st.integers(0, 6))):
        place = draw(st.none() | st.sampled_from([*NODES, "gone"]))
        maker.pod(draw(names), f"p{number}", place, draw(st.integers(1, 9)), draw(st.floats(0, 1e6)))
    for number in range(draw(few)):
        pods, age = draw(st.integers(1, 40)), draw(st.floats(0, 1e6))
        if draw(st.booleans()):
            maker.work(draw(names), f"w{number}", draw(gpus), pods, age, queue=draw(st.sampled_from(["door0", "x"])))
        else:
            maker.job(draw(names), f"j{number}", draw(gpus), pods, age)


@st.composite
def devices(draw: st.DrawFn) -> Devices:
    """No readings at all, or some devices with any holder, activity and error."""
    if draw(st.booleans()):
        return Devices()
    text = ""
    for number in range(draw(st.integers(1, 12))):
        labels = f'UUID="{draw(st.integers(0, 9))}",gpu="{number}",Hostname="{draw(st.sampled_from(NODES))}"'
        if draw(st.booleans()):
            labels += f',namespace="{draw(names)}",pod="p{draw(few)}",container="c"'
        text += f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} {draw(st.sampled_from(['0', '0.5', 'NaN', '1']))}\n"
        text += f"DCGM_FI_DEV_XID_ERRORS{{{labels}}} {draw(st.sampled_from([0, 13, 79]))}\n"
    return Devices(Known(gpu_readings(parse_exposition(text))))


def _gpus_of(picture: Picture) -> int:
    return sum(count for node in picture.nodes.values() for name, count in node.allocatable.items() if is_gpu(name))


@given(makers(), devices())
def test_the_columns_of_the_ledger_add_up_to_every_gpu_that_is_known(maker: PictureMaker, read: Devices) -> None:
    view = view_of_picture(maker.picture(), read)
    for one in (*view.ledgers, total_of(view.ledgers)):
        counts = (one.active, one.idle_held, one.free, one.stranded, one.sick, one.unknown)
        assert min(counts) >= 0
        assert sum(counts) == one.total
        assert sum(item.gpus for item in one.stranded_on) == one.stranded or one.pool == "all"
    total = total_of(view.ledgers).total
    withdrawn = total - _gpus_of(maker.picture())
    assert withdrawn >= 0
    assert withdrawn == 0 or total_of(view.ledgers).sick >= withdrawn


@given(makers())
def test_inferred_documents_are_good_documents_of_the_same_tenants(maker: PictureMaker) -> None:
    view = view_of_picture(maker.picture())
    text = look_report(view).documents
    parsed = parse_documents(text, "inferred")
    assert [tenant.name for tenant in parsed.site.tenants] == [tenant.name for tenant in view.site.tenants]
    left_out = {pool.name for pool in view.site.pools if f"Left out: pool {pool.name}, whose nodes" in text}
    assert {pool.name for pool in parsed.site.pools} | left_out == {pool.name for pool in view.site.pools}
    assert not left_out or len(parsed.site.pools) > 0


@given(makers(), devices(), st.sampled_from([40, 80, 120]), st.sets(st.sampled_from(NEEDED_KINDS)))
def test_every_cluster_can_be_shown_and_explained(
    maker: PictureMaker, read: Devices, width: int, hidden: set[str]
) -> None:
    view = view_of_picture(maker.picture(unreadable=dict.fromkeys(hidden, "403 Forbidden")), read)
    console = Console(file=io.StringIO(), width=width)
    report = look_report(view)
    assert report_record(report)["findings"] == report.findings
    parts = [*look_screen(report)]
    for work in view.snapshot.works:
        parts += work_screen(work_facts(view, work), view)
    for tenant in view.site.tenants:
        parts += tenant_screen(tenant_facts(view, tenant), view)
    for part in parts:
        console.print(part)


@given(makers(), devices(), st.sets(st.sampled_from(NEEDED_KINDS), min_size=1))
def test_no_number_stands_where_its_source_was_not_seen(maker: PictureMaker, read: Devices, hidden: set[str]) -> None:
    gone: dict[str, Any] = {kind: {} for kind in ("nodes", "pods", "jobs", "workloads") if kind in hidden}
    picture = replace(maker.picture(unreadable=dict.fromkeys(hidden, "403 Forbidden")), **gone)
    record = report_record(look_report(view_of_picture(picture, read)))
    assert {gap["kind"] for gap in record["not_known"]} >= hidden
    if hidden & {"nodes", "pods"}:
        assert {pool["free"] for pool in record["pools"] or ()} <= {None}
    if hidden & {"nodes", "pods", "jobs", "workloads"}:
        assert (record["waiting_count"], record["overdue_count"]) == (None, None)
        assert {state["shortfall"] for state in record["tenants"] or ()} <= {None}
    assert record["never_start"] != [] or not hidden & OF_WAITS

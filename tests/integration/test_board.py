"""Every question of the boards has an answer on a live Prometheus, while the real programs steer a starving site."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alerts.render.rules import prometheus_rules
from alerts.rules.groups import rule_groups
from alerts.rules.objectives import objective_windows
from alerts.rules.timing import DAY
from controller.demo.processes import wait_until
from dashboards.boards import tenant
from dashboards.finish import finished
from dashboards.lint import expressions, substituted
from dashboards.variables import ANY_VALUE
from tests.e2e.scene import Scene, Terms
from tests.testbed.bed import Testbed
from tests.testbed.cluster import Site, SiteTenant, build_site, gpu_job
from tests.testbed.monitoring import ScrapeTarget

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus, pytest.mark.timeout(1800)]

# vision wants 32 and may have 24 at most: it stays short after all that is lent has been moved, and is still found.
SITE = Site("board", 4, (SiteTenant("vision", floor=8, floating=4), SiteTenant("nlp", floor=8, floating=4)), shared=8)
TERMS = Terms(120.0, tick="120s", dwell="20m", ttl="24h", burst={"vision": 24})
RULES_TIME_SCALE = 28 * DAY / 30.0  # the longest window is seen whole after half a minute
NO_SOURCE_HERE = re.compile("trimtab:tenant_(activity_ratio|power_watts|storage_)|trimtab_storage_")
"""What comes from exporters of GPUs and from Ceph; this site has neither, so that nothing but silence may be shown."""
CHOSEN = {"cluster": SITE.name, "tenant": "vision", "pool": "h100", "__rate_interval": "15s"}


@pytest.fixture
def scene(control_plane: Testbed, monitoring: Testbed, tmp_path: Path) -> Iterator[Scene]:
    build_site(control_plane.kubernetes.api, SITE)
    made = Scene(control_plane, SITE, TERMS, tmp_path / "scene")
    try:
        made.prepare()
        made.start_collector()
        made.start_controller()
        yield made
    finally:
        made.leave()


def watch(scene: Scene) -> None:
    """Prometheus scrapes both programs. Only the collector's labels name the cluster, as on a site with just one."""
    rules = scene.folder / "rules.yaml"
    rules.write_text(prometheus_rules(rule_groups(scene.documents().site, RULES_TIME_SCALE)))
    programs = ("collector", "controller")
    targets = [ScrapeTarget(f"trimtab-{name}", f"{scene.address(name)}/metrics") for name in programs]
    scene.bed.prometheus.configure(targets, [rules])


def starve(scene: Scene) -> None:
    """nlp takes what is lent, then vision comes with more than its share."""
    api = scene.bed.kubernetes.api
    for number in range(7):
        api.create(gpu_job(f"borrower-{number}", "nlp", 4, queue="nlp"))
    wait_until(lambda: len(api.list_objects("v1", "Pod", "nlp")) == 7, "the borrower runs")
    for number in range(8):
        api.create(gpu_job(f"train-{number}", "vision", 4, queue="vision"))


def never_answered(scene: Scene, asked: set[str], within_seconds: float) -> set[str]:
    """The queries that gave nothing at any moment of that time; some tell of what passes."""
    deadline, left = time.monotonic() + within_seconds, set(asked)
    while left and time.monotonic() < deadline:
        left = {expr for expr in left if not scene.bed.prometheus.query(expr)}
        time.sleep(0.5)
    return left


def choices(scene: Scene, variable: dict[str, Any], chosen: dict[str, str]) -> set[str]:
    """What Grafana offers for a variable `label_values(selector, label)`."""
    selector, label = variable["query"].removeprefix("label_values(").removesuffix(")").rsplit(", ", 1)
    found = scene.bed.prometheus.query(f"group by ({label}) ({substituted(selector, chosen)})")
    return {one["metric"][label] for one in found}


def shaded(scene: Scene, expr: str) -> dict[str, float]:
    """Stage of changes that gave vision something → GPUs, as the annotation asks for them."""
    found = [one for one in scene.bed.prometheus.query(expr) if one["metric"]["direction"] == "given"]
    return {one["metric"]["stage"]: float(one["value"][1]) for one in found}


def in_force(scene: Scene) -> dict[str, float]:
    """The same from the ledger in the cluster."""
    gpus: dict[str, float] = {}
    for change in scene.changes():
        if change["destination"] == "trimtab-vision" and change["given"]:
            gpus[change["stage"]] = gpus.get(change["stage"], 0.0) + change["given"]
    return gpus


def test_every_question_of_the_tenant_board_is_answered_while_a_tenant_starves(scene: Scene) -> None:
    watch(scene)
    board = finished(tenant.build(objective_windows(scene.documents().site)), tenant.KEY)
    asked = {substituted(expr, CHOSEN) for expr in expressions(board)}
    silent = set(filter(NO_SOURCE_HERE.search, asked))
    assert 0 < len(silent) < len(asked) / 2
    starve(scene)

    assert never_answered(scene, asked - silent, 300) == set()
    assert never_answered(scene, silent, 1) == silent, "shown although nobody measures it"

    everywhere = {substituted(expr, {**CHOSEN, "pool": ANY_VALUE}) for expr in expressions(board)}
    everywhere = {expr for expr in everywhere if not NO_SOURCE_HERE.search(expr)}
    assert never_answered(scene, everywhere, 120) == set(), "with all pools at once"
    offered = {one["name"]: one for one in board["templating"]["list"]}
    assert SITE.name in choices(scene, offered["cluster"], CHOSEN)
    assert choices(scene, offered["tenant"], CHOSEN) == {"vision", "nlp"}
    assert choices(scene, offered["pool"], CHOSEN) == {"h100"}

    (mark,) = board["annotations"]["list"]
    expr = substituted(mark["expr"], CHOSEN)
    wait_until(lambda: shaded(scene, expr) == in_force(scene), "the board to shade what the ledger says")

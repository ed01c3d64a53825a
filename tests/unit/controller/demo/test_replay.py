"""A trace as a demonstration: whatever its tenants are called, the site that is made of them is a sound one."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.demo.replay import replayed
from controller.runtime.configuration import Configuration
from controller.traces.trace import TraceJob


@pytest.mark.parametrize(
    "names",
    [
        ("team.a", "team-a", "TEAM_A"),
        ("a" * 39 + "-b", "a" * 39 + "-c"),
        ("...", "Ä", "-"),
    ],
)
def test_tenants_of_a_trace_get_names_that_kubernetes_takes_and_that_differ(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    jobs = [TraceJob(60.0 * minute, 600.0, 1, name) for minute in range(30) for name in names]
    scenery, story = replayed(jobs, seed=1)
    documents = tmp_path / "documents.yaml"
    documents.write_text(scenery.documents_text(), encoding="utf-8")
    tenants = {tenant.name for tenant in Configuration([documents]).load().site.tenants}
    assert len(tenants) == len(names)
    assert {one.job.tenant for one in story.submissions} <= tenants

"""Session-wide real parts for pytest. Tests share them, and keep apart by their own namespaces, sites and tenants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed import build
from tests.testbed.bed import Testbed
from tests.testbed.parts import GO_PARTS, PartMissing


@pytest.fixture(scope="session")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    """An empty testbed; it stops at the end of the session whatever was started in it."""
    with Testbed(tmp_path_factory.mktemp("testbed")) as bed:
        yield bed


@pytest.fixture(scope="session")
def control_plane(testbed: Testbed) -> Testbed:
    """The testbed with Kubernetes, KWOK and Kueue running."""
    return _started(testbed, "kubernetes", "kwok", "kueue")


@pytest.fixture(scope="module")
def monitoring(testbed: Testbed) -> Testbed:
    """The testbed with Prometheus and Alertmanager running; of what earlier modules scraped, it knows nothing."""
    started = _started(testbed, "prometheus", "alertmanager")
    started.prometheus.configure([])
    started.prometheus.forget()
    return started


@pytest.fixture(scope="session")
def chart() -> Path:
    """The Helm chart, with helm built to render it."""
    try:
        build.get(GO_PARTS["helm"])
    except PartMissing as missing:
        pytest.skip(f"testbed part missing: {missing}")
    return Path(__file__).resolve().parents[2] / "deploy" / "helm" / "trimtab"


@pytest.fixture(scope="session")
def storage(testbed: Testbed) -> Testbed:
    """The testbed with Ceph running."""
    return _started(testbed, "ceph")


@pytest.fixture(scope="session")
def database(testbed: Testbed) -> Testbed:
    """The testbed with PostgreSQL running."""
    return _started(testbed, "postgres")


@pytest.fixture(scope="session")
def fabric(testbed: Testbed) -> Testbed:
    """The testbed with two hosts on one slow link."""
    return _started(testbed, "ucx")


def _started(bed: Testbed, *names: str) -> Testbed:
    try:
        bed.start(*names)
    except PartMissing as missing:
        pytest.skip(f"testbed part missing: {missing}")
    return bed

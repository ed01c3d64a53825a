"""What the tests of the running controller share: a user with its rights, a namespace, own Cohorts, documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.sources.kubernetes_api import KubernetesApi, connect
from controller.api.policy import Mode
from controller.knobs import own
from controller.knobs.own import Baseline, baseline_text
from controller.knobs.rights import home_rules, reading_rules, steering_rules
from controller.runtime.assembly import Settings
from tests.integration.own_objects import AGREED, DOCUMENTS, KUEUE
from tests.testbed import Testbed
from tests.testbed.api import KubeApi
from tests.testbed.cluster import namespace


@pytest.fixture(scope="session")
def kubeconfig(control_plane: Testbed) -> Path:
    """A user with the rights that an enforcing controller gets for the two own Cohorts, and not one more."""
    rules = [*reading_rules(), *steering_rules(AGREED.names, Mode.ENFORCE), *home_rules(Mode.ENFORCE)]
    return control_plane.kubernetes.user("rt-controller", rules).kubeconfig


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[KubernetesApi]:
    api = connect(kubeconfig)
    yield api
    api.close()


@pytest.fixture
def admin(control_plane: Testbed) -> KubeApi:
    return control_plane.kubernetes.api


@pytest.fixture
def home(admin: KubeApi, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of this test's own."""
    name = f"rt-home-{abs(hash(request.node.name)) % 10**8}"
    admin.apply(namespace(name), "git")
    yield name
    admin.delete("v1", "Namespace", name)


@pytest.fixture
def leaves(admin: KubeApi) -> Iterator[Baseline]:
    """The own Cohorts, at their baseline."""
    for leaf in AGREED.leaves:
        admin.apply(own.baseline_manifest(leaf)[1], "trimtab")
    yield AGREED
    for leaf in AGREED.leaves:
        admin.delete(KUEUE, "Cohort", leaf.name)


@pytest.fixture
def settings(tmp_path: Path, home: str) -> Settings:
    config, baseline = tmp_path / "documents.yaml", tmp_path / "baseline.yaml"
    config.write_text(DOCUMENTS, encoding="utf-8")
    baseline.write_text(baseline_text(AGREED), encoding="utf-8")
    return Settings((config,), "rt", home, Mode.ENFORCE, 1.0, baseline)

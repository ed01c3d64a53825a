"""The Helm chart on the real API server: every object is taken, installed, raised to Enforce, and taken away again."""

from __future__ import annotations

import copy
import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.cli.main import run
from controller.demo.processes import wait_until
from controller.knobs.own import read_baseline
from controller.knobs.rights import reading_rules
from tests.integration.chart_values import HOME, SITE, TOGGLES, WHOLE, at
from tests.testbed import Testbed
from tests.testbed.api import ApiRefused, KubeApi, Manifest, path_of
from tests.testbed.cluster import TRIMTAB, Site, build_site, namespace, remove_site
from tests.testbed.helm import Helm
from tests.testbed.installed import Installed

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]

CHECKOUT = Path(__file__).resolve().parents[2]
OPERATOR = "monitoring.coreos.com/v1"
RBAC = "rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def site(control_plane: Testbed) -> Iterator[KubeApi]:
    api = control_plane.kubernetes.api
    build_site(api, SITE)
    api.apply(namespace(HOME, {"pod-security.kubernetes.io/enforce": "restricted"}), "git")
    yield api
    remove_site(api, SITE)


@pytest.fixture
def installer(site: KubeApi, control_plane: Testbed, chart: Path, tmp_path: Path) -> Iterator[Helm]:
    helm = Helm(chart, tmp_path / "helm", HOME, kubeconfig=control_plane.kubernetes.kubeconfig)
    yield helm
    helm.remove()
    for name in ("trimtab-baseline", "trimtab-control"):
        site.delete("v1", "ConfigMap", name, HOME)


@pytest.fixture
def operator(site: KubeApi, shared_folder: Path) -> Iterator[None]:
    """The definitions of the Prometheus operator."""
    names = []
    for plural in ("prometheusrules", "servicemonitors"):
        text = (shared_folder / "fixtures" / "crds" / f"monitoring.coreos.com_{plural}.yaml.gz").read_bytes()
        definition = yaml.safe_load(gzip.decompress(text))
        site.apply(definition, "testbed", force=True)
        names.append(definition["metadata"]["name"])
    wait_until(lambda: len(served(site, f"/apis/{OPERATOR}")) >= 2, "the operator's kinds")
    yield
    for name in names:
        site.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)


def served(api: KubeApi, path: str) -> list[Any]:
    """The kinds of an API group, none while it is not there."""
    try:
        return list(api.request("GET", path)["resources"])
    except ApiRefused:
        return []


def dry_run(api: KubeApi, manifest: Manifest) -> None:
    """What the API server says of an object, unknown fields being errors."""
    query = {"fieldManager": "helm", "dryRun": "All", "fieldValidation": "Strict"}
    api.request("PATCH", path_of(manifest), manifest, "application/apply-patch+yaml", query)


@pytest.mark.parametrize("name", TOGGLES)
def test_the_api_server_takes_every_object(site: KubeApi, installer: Helm, name: str) -> None:
    for manifest in installer.render({**TOGGLES[name], "monitoring": {}}):
        dry_run(site, manifest)


@pytest.mark.usefixtures("operator")
def test_the_api_server_takes_what_is_for_the_prometheus_operator(site: KubeApi, installer: Helm) -> None:
    theirs = [one for one in installer.render(WHOLE) if one["apiVersion"] == OPERATOR]
    assert {one["kind"] for one in theirs} == {"PrometheusRule", "ServiceMonitor"}
    for manifest in theirs:
        dry_run(site, manifest)


def test_raising_the_ceiling_and_uninstalling_leaves_the_baseline_behind(
    site: KubeApi, control_plane: Testbed, installer: Helm, tmp_path: Path
) -> None:
    installer.install(at("Observe"))
    assert len(site.list_objects("v1", "Pod", HOME)) == 2, "admitted under the restricted profile, and running"
    installed = Installed(control_plane.kubernetes, HOME, tmp_path / "volumes")
    leaf = SITE.baseline_manifests()[0]
    controller, janitor = (KubeApi.from_kubeconfig(installed.user(it).kubeconfig) for it in ("controller", "janitor"))
    with pytest.raises(ApiRefused, match="cannot patch resource"):
        controller.apply(moved(leaf), TRIMTAB)
    assert janitor.apply(leaf, TRIMTAB), "what was begun under a higher ceiling can still be ended"

    installer.install(at("Enforce"))
    assert controller.apply(moved(leaf), TRIMTAB), "own Cohorts, by their names"
    with pytest.raises(ApiRefused, match="cannot patch resource"):
        controller.apply({**leaf, "metadata": {"name": "trimtab-other"}}, TRIMTAB)

    assert "trimtab-chart-a holds its baseline." in uninstalled_with_its_hook(installer, installed)
    assert float_of(site, "trimtab-chart-a") == 4
    left = {one["metadata"]["name"] for one in site.list_objects("v1", "ConfigMap", HOME)} - {"kube-root-ca.crt"}
    assert {"trimtab-baseline", "trimtab-control"} <= left, "the way back, and the word that it is paused"
    assert not left & {"trimtab-documents", "trimtab-ledger"}
    assert site.list_objects(RBAC, "ClusterRole", labels="app.kubernetes.io/name=trimtab") == []
    installer.install(at("Observe"))  # takes up again what was kept


def moved(leaf: Manifest) -> Manifest:
    """The own Cohort with two GPUs more than was agreed."""
    other = copy.deepcopy(leaf)
    other["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = 6
    return other


def float_of(api: KubeApi, name: str) -> int:
    """GPUs that an own Cohort holds."""
    cohort = api.get("kueue.x-k8s.io/v1beta2", "Cohort", name)
    return int(cohort["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])


def uninstalled_with_its_hook(helm: Helm, installed: Installed) -> str:
    """Uninstalls while this test plays the kubelet for the hook: it runs its command line and says how it ended."""
    api = installed.kubernetes.api
    with subprocess.Popen(helm.uninstall_command(), env=helm.environment) as uninstall:
        wait_until(lambda: bool(hook_pods(api)), "the pod of the hook to run")
        pod = hook_pods(api)[0]
        command = [sys.executable, "-c", "from controller.cli.main import main; main()"]
        asked = [*command, *installed.arguments(pod["spec"])]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(CHECKOUT)})
        assert done.returncode == 0, done.stderr
        metadata = {"name": pod["metadata"]["name"], "namespace": HOME}
        end = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": "Succeeded"}}
        api.patch(end, "status")
        assert uninstall.wait(300) == 0
    return done.stderr


def hook_pods(api: KubeApi) -> list[Manifest]:
    """Running pods of the uninstall hook."""
    found = api.list_objects("v1", "Pod", HOME, labels="app.kubernetes.io/component=uninstall")
    return [pod for pod in found if pod["status"]["phase"] == "Running"]


def test_the_rendered_baseline_is_what_the_site_agreed_on(
    control_plane: Testbed, site: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = control_plane.kubernetes.user("baseline-reader", reading_rules())
    (tmp_path / "site.yaml").write_text(documents_of(SITE))
    asked = ["render", "baseline", "--config", str(tmp_path), "--shared", "h100=4"]
    assert run([*asked, "--kubeconfig", str(reader.kubeconfig)]) == 0
    agreed = yaml.safe_dump_all(SITE.baseline_manifests(), sort_keys=False)
    assert read_baseline(capsys.readouterr().out, "printed") == read_baseline(agreed, "agreed")


def documents_of(site: Site) -> str:
    """The documents of a site, with no more than what it agreed on."""
    pool = {"name": "h100", "resource": "nvidia.com/gpu", "engine": "kueue", "flavor": site.name}
    specs: dict[tuple[str, str], Any] = {
        ("Policy", "default"): {"pools": [pool], "tiers": [{"name": "standard", "rank": 50}]}
    }
    for one in site.tenants:
        part = {"pool": "h100", "guarantee": one.floor, "floating": one.floating}
        members = {"namespaces": [one.name]}
        specs["Tenant", one.name] = {"tier": "standard", "members": members, "pools": [part]}
    return yaml.safe_dump_all(
        {"apiVersion": "trimtab.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}
        for (kind, name), spec in specs.items()
    )

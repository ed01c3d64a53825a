"""The Helm chart as helm renders it: every toggle, what the schema refuses, and who gets which rights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.render.alertmanager import DOORBELL_URL
from collector.model.probing import Where
from controller.api.documents import parse_documents
from controller.api.policy import Mode
from controller.api.probe_settings import parse_probe_settings
from controller.knobs.own import read_baseline
from controller.knobs.rights import (
    cap_rules,
    history_rules,
    home_rules,
    janitor_rules,
    node_rules,
    reading_rules,
    steering_rules,
    volume_rules,
)
from controller.knobs.roles import role_manifests
from tests.integration.chart_values import BASELINE, DOCUMENTS, HOME, OWNED, TOGGLES, WHOLE, at
from tests.testbed.api import Manifest
from tests.testbed.helm import Helm, HelmRefused

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def helm(chart: Path, tmp_path: Path) -> Helm:
    return Helm(chart, tmp_path / "helm", HOME)


def of_kind(manifests: list[Manifest], kind: str) -> list[Manifest]:
    """The objects of one kind."""
    return [one for one in manifests if one["kind"] == kind]


# Rendered


@pytest.mark.parametrize("values", TOGGLES.values(), ids=TOGGLES)
def test_helm_finds_no_fault_with_the_chart(helm: Helm, values: dict[str, Any]) -> None:
    assert "0 chart(s) failed" in helm.lint(values)


def test_a_toggle_takes_away_or_adds_just_its_objects(helm: Helm) -> None:
    def kinds(values: Mapping[str, Any]) -> set[tuple[str, str]]:
        return {(one["kind"], one["metadata"]["name"]) for one in helm.render(values)}

    plain = kinds({})
    assert plain - kinds({"collector": {"enabled": False}}) == {
        ("Deployment", "trimtab-collector"),
        ("Service", "trimtab-collector"),
    }
    assert plain - kinds({"janitor": {"enabled": False}}) == {("CronJob", "trimtab-janitor")}
    assert plain - kinds({"existingDocuments": "ours"}) == {("ConfigMap", "trimtab-documents")}
    assert kinds(WHOLE) - plain == {
        ("DaemonSet", "trimtab-node"),
        ("Service", "trimtab-node"),
        ("NetworkPolicy", "trimtab"),
        ("ServiceMonitor", "trimtab"),
        ("PrometheusRule", "trimtab"),
        ("Job", "trimtab-uninstall"),
        ("ClusterRole", "trimtab-steering"),
        ("ClusterRoleBinding", "trimtab-steering"),
        ("ClusterRole", "trimtab-volumes"),
        ("ClusterRoleBinding", "trimtab-volumes"),
        ("Role", "trimtab-cap"),
        ("RoleBinding", "trimtab-cap"),
        ("Role", "trimtab-collector"),
        ("RoleBinding", "trimtab-collector"),
        ("PersistentVolumeClaim", "trimtab-history"),
    }
    assert ("Job", "trimtab-uninstall") not in kinds({**WHOLE, "uninstall": {"revert": False}})
    assert ("Job", "trimtab-uninstall") not in kinds(at("Observe")), "in Observe there is nothing to undo"


def test_a_plain_install_observes_with_documents_that_are_valid(helm: Helm) -> None:
    manifests = helm.render({})
    (documents,) = [one for one in of_kind(manifests, "ConfigMap") if one["metadata"]["name"] == "trimtab-documents"]
    assert parse_documents(documents["data"]["policy.yaml"], "policy.yaml").policy.mode is Mode.OBSERVE
    (controller,) = [one for one in of_kind(manifests, "Deployment") if one["metadata"]["name"] == "trimtab-controller"]
    assert controller["spec"]["replicas"] == 1
    assert controller["spec"]["strategy"] == {"type": "Recreate"}
    assert "--max-mode=Observe" in controller["spec"]["template"]["spec"]["containers"][0]["args"]


def test_documents_and_baseline_reach_the_cluster_unchanged(helm: Helm) -> None:
    manifests = {one["metadata"]["name"]: one for one in of_kind(helm.render(WHOLE), "ConfigMap")}
    assert manifests["trimtab-documents"]["data"] == DOCUMENTS
    assert manifests["trimtab-baseline"]["data"] == {"baseline.yaml": BASELINE}
    assert read_baseline(BASELINE, "baseline.yaml").names == ("chart-a/trimtab-cap", *OWNED.cohorts)


def test_the_rules_of_the_chart_are_the_generated_ones(helm: Helm) -> None:
    (rule,) = of_kind(helm.render(WHOLE), "PrometheusRule")
    generated = yaml.safe_load((CHECKOUT / "deploy" / "generated" / "trimtab.rules.yaml").read_text())
    assert rule["spec"] == generated
    (own,) = of_kind(helm.render(TOGGLES["monitoring with own rules"]), "PrometheusRule")
    assert own["spec"] == {"groups": []}


def test_alertmanager_finds_the_doorbell_where_the_chart_puts_it(helm: Helm) -> None:
    (service,) = [one for one in of_kind(helm.render({}), "Service") if "controller" in one["metadata"]["name"]]
    host = f"{service['metadata']['name']}.{HOME}.svc:{service['spec']['ports'][0]['port']}"
    assert f"http://{host}/alerts" == DOORBELL_URL


def test_the_installer_is_told_the_mode_the_kill_switch_and_what_is_missing(helm: Helm) -> None:
    plain, whole = helm.notes({}), helm.notes({**WHOLE, "monitoring": {}})
    assert "mode Observe at most" in plain
    assert all(word in plain for word in ("NO PROMETHEUS", "No documents yet", "No baseline yet", "revert --all"))
    assert "writes the 4 own objects that the baseline names" in whole
    assert "NO PROMETHEUS" not in whole


# Refused


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"controller": {"maxMode": False}}, "maxMode"),  # what YAML makes of Off
        ({"controller": {"maxMode": "observe"}}, "maxMode"),
        ({"controller": {"replicas": 2}}, "replicas"),
        ({"controler": {}}, "controler"),
        ({"timeScale": 0.5}, "timeScale"),
        ({"documents": {"policy.json": "{}"}}, "documents"),
        ({"timeScale": 3601}, "timeScale"),
        ({"cluster": {"name": "../east"}}, "cluster"),
        ({"documents": {"policy.yaml": {"kind": "Policy"}}}, "documents"),
        ({"baseline": {"kind": "Cohort"}}, "baseline"),
        ({"prometheus": {"url": "prometheus:9090"}}, "url"),
        ({"image": {"digest": "latest"}}, "digest"),
        ({"janitor": {"schedule": "sometimes"}}, "schedule"),
        ({"monitoring": {"prometheusRule": {"rules": "alert: yes"}}}, "rules"),
    ],
)
def test_the_schema_refuses_values_that_mean_nothing(helm: Helm, values: dict[str, Any], place: str) -> None:
    with pytest.raises(HelmRefused, match=place):
        helm.render(values)


@pytest.mark.parametrize(
    "manifest",
    [
        "kind: Cohort\nmetadata: {name: tenant-vision}\n",
        "kind: ClusterQueue\nmetadata: {name: trimtab-vision}\n",
        "kind: ResourceQuota\nmetadata: {name: guarantee, namespace: vision}\n",
        "kind: ResourceQuota\nmetadata: {name: trimtab-cap}\n",
        "metadata: {name: trimtab-vision}\n",
        "kind: [\n",
    ],
)
def test_a_baseline_can_give_no_right_to_write_what_is_not_ours(helm: Helm, manifest: str) -> None:
    with pytest.raises(HelmRefused, match="baseline: "):
        helm.render({"baseline": f"{BASELINE}---\n{manifest}"})


# Rights


@pytest.mark.parametrize("mode", list(Mode))
def test_the_chart_gives_each_program_the_rights_that_the_code_names_and_not_one_more(helm: Helm, mode: Mode) -> None:
    manifests = helm.render(at(mode.word))
    steering, caps, reading = steering_rules(OWNED.cohorts, Mode.ENFORCE), cap_rules(Mode.ENFORCE), reading_rules()
    assert rights_of(manifests, "collector") == {None: reading}
    assert rights_of(manifests, "janitor") == {None: [*reading, *steering], HOME: janitor_rules(), "chart-a": caps}
    expected: dict[str | None, list[Any]] = {None: reading, HOME: home_rules(mode)}
    if mode is not Mode.OBSERVE:
        expected = {None: [*reading, *steering], HOME: home_rules(mode), "chart-a": caps}
    assert rights_of(manifests, "controller") == expected


def rights_of(manifests: list[Manifest], program: str) -> dict[str | None, list[Any]]:
    """Namespace (None: everywhere) → the rules that the service account of a program gets there."""
    rules = {(one["kind"], *where(one)): one["rules"] for one in manifests if one["kind"] in ("Role", "ClusterRole")}
    found: dict[str | None, list[Any]] = {}
    account = {"kind": "ServiceAccount", "name": f"trimtab-{program}", "namespace": HOME}
    for binding in manifests:
        if binding["kind"] in ("RoleBinding", "ClusterRoleBinding") and account in binding["subjects"]:
            space, _ = where(binding)
            role = binding["roleRef"]
            found.setdefault(space, []).extend(rules[role["kind"], space, role["name"]])
    return found


def where(manifest: Manifest) -> tuple[str | None, str]:
    """Namespace and name."""
    return manifest["metadata"].get("namespace"), manifest["metadata"]["name"]


def test_the_pod_of_a_node_has_no_token_no_account_and_reads_only_sys(helm: Helm) -> None:
    assert of_kind(helm.render({}), "DaemonSet") == []
    (daemons,) = of_kind(helm.render(TOGGLES["nodes"]), "DaemonSet")
    spec = daemons["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in spec
    (container,) = spec["containers"]
    assert {"--role=node", "--node=$(NODE_NAME)", "--sysfs=/host/sys"} <= set(container["args"])
    assert not [word for word in container["args"] if word.startswith(("--config", "--nvml"))]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not container["securityContext"].get("privileged")
    host = [volume for volume in spec["volumes"] if "hostPath" in volume]
    assert [volume["hostPath"]["path"] for volume in host] == ["/sys"]
    assert {"name": "sys", "mountPath": "/host/sys", "readOnly": True} in container["volumeMounts"]


def test_the_pod_that_probes_has_a_profile_of_its_own_and_no_other_pod_has_it(helm: Helm) -> None:
    manifests = helm.render(TOGGLES["probes"])
    (daemons,) = of_kind(manifests, "DaemonSet")
    spec = daemons["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["image"] == "registry.example/ai/trimtab-probe:1"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}
    assert (spec["securityContext"]["runAsUser"], spec["automountServiceAccountToken"]) == (0, True)
    assert container["resources"]["limits"]["rdma/hca_shared"] == 1
    assert {"--probes=/etc/trimtab-probe/fabric.yaml", "--probe-token-file=/etc/trimtab-probe-token/token"} <= set(
        container["args"]
    )
    assert rights_of(manifests, "node") == {None: node_rules()}
    texts = {one["metadata"]["name"]: one["data"] for one in of_kind(manifests, "ConfigMap")}
    text = texts["trimtab-fabric"]["fabric.yaml"]
    assert parse_probe_settings(text, "fabric.yaml").where is Where.DRAINED
    assert "--probes=/etc/trimtab-probe/fabric.yaml" in collector_of(manifests)["containers"][0]["args"]
    plain = helm.render(TOGGLES["nodes"])
    assert "probe" not in str(plain)
    assert rights_of(plain, "node") == {}


def test_devices_of_the_node_are_given_to_a_privileged_container_alone(helm: Helm) -> None:
    values = TOGGLES["probes"]["node"]["probe"]
    (daemons,) = of_kind(helm.render({"node": {"enabled": True, "probe": {**values, "privileged": True}}}), "DaemonSet")
    spec = daemons["spec"]["template"]["spec"]
    assert spec["containers"][0]["securityContext"]["privileged"] is True
    assert "/dev/infiniband" in [one["hostPath"]["path"] for one in spec["volumes"] if "hostPath" in one]


def test_probes_without_nics_or_token_are_refused(helm: Helm) -> None:
    for without in ("fabric", "existingSecret"):
        values = {**TOGGLES["probes"]["node"]["probe"], without: ""}
        with pytest.raises(HelmRefused, match="nothing can be probed"):
            helm.render({"node": {"enabled": True, "probe": values}})


def test_nvml_is_asked_where_a_site_says_so_alone(helm: Helm) -> None:
    (daemons,) = of_kind(helm.render(WHOLE), "DaemonSet")
    spec = daemons["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert "--nvml" in container["args"]
    assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"} in container["env"]
    assert (spec["runtimeClassName"], spec["nodeSelector"]) == ("nvidia", {"gpu": "yes"})


def test_the_kubelet_is_asked_as_root_where_a_site_says_so_alone(helm: Helm) -> None:
    (daemons,) = of_kind(
        helm.render(at("Observe", node={"enabled": True, "nvml": True, "podResources": True})), "DaemonSet"
    )
    spec = daemons["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert "--pod-resources=/host/pod-resources/kubelet.sock" in container["args"]
    assert spec["securityContext"]["runAsUser"] == 0
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    host = [volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume]
    assert sorted(host) == ["/sys", "/var/lib/kubelet/pod-resources"]
    (usual,) = of_kind(helm.render(WHOLE), "DaemonSet")
    assert usual["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] is True


def test_a_collector_that_reads_ceph_may_read_volumes_too(helm: Helm) -> None:
    rights = rights_of(
        helm.render(at("Observe", collector={"cephUrls": ["http://ceph-mgr:9283/metrics"]})), "collector"
    )
    assert rights == {None: [*reading_rules(), *volume_rules()]}


def test_a_collector_that_keeps_the_history_may_read_the_ledger_and_has_somewhere_to_write(helm: Helm) -> None:
    manifests = helm.render(TOGGLES["history in a pod's own file"])
    assert rights_of(manifests, "collector") == {None: reading_rules(), HOME: history_rules()}
    on_claim, in_pod, in_database = (
        collector_of(helm.render(values))
        for values in (WHOLE, TOGGLES["history in a pod's own file"], TOGGLES["history in PostgreSQL"])
    )
    for spec, volume in ((on_claim, "persistentVolumeClaim"), (in_pod, "emptyDir")):
        (mounted,) = [one for one in spec["volumes"] if one["name"] == "history"]
        assert volume in mounted
        assert "--accounting=/var/lib/trimtab/history.db" in spec["containers"][0]["args"]
    assert [one["name"] for one in in_database["volumes"]] == ["documents", "tmp"]
    (variable,) = in_database["containers"][0]["env"]
    assert variable["name"] == "TRIMTAB_ACCOUNTING", "a password stands in no argument"
    assert not any(word.startswith("--accounting=") for word in in_database["containers"][0]["args"])


def collector_of(manifests: list[Manifest]) -> Manifest:
    """The spec of the collector's pod."""
    (found,) = [one for one in of_kind(manifests, "Deployment") if one["metadata"]["name"] == "trimtab-collector"]
    spec: Manifest = found["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("ceph", [[], ["http://ceph-mgr:9283/metrics"]])
@pytest.mark.parametrize("mode", list(Mode))
def test_the_chart_and_render_rbac_make_the_same_objects(helm: Helm, mode: Mode, ceph: list[str]) -> None:
    kinds = ("ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
    values = at(mode.word, collector={"cephUrls": ceph, "accounting": {"enabled": bool(ceph)}})
    rendered = {key_of(one): one for one in helm.render(values) if one["kind"] in kinds}
    expected = {key_of(one): one for one in role_manifests(HOME, OWNED, mode, ceph=bool(ceph), history=bool(ceph))}
    assert rendered.keys() == expected.keys()
    for key, manifest in expected.items():
        del rendered[key]["metadata"]["labels"]
        assert rendered[key] == manifest


def key_of(manifest: Manifest) -> tuple[str, str | None, str]:
    """Kind, namespace and name."""
    return manifest["kind"], *where(manifest)

"""`trimtab render baseline|rbac|rules`: what the documents lead to, as text for Git, kubectl and Prometheus.

Prints only. `baseline` reads the cluster, to find the Cohort that each tenant's part hangs on.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
import yaml

from alerts.render.rules import prometheus_rules
from alerts.rules.groups import rule_groups
from collector.model.objects import Picture
from collector.model.tenancy import Engine, Site
from collector.sources.kubernetes_api import KubernetesApi, connect
from collector.sources.kubernetes_lists import look_once
from controller.api.errors import InputError, Mistake
from controller.api.shown_values import told
from controller.api.yaml_text import Dumper
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.options import Cluster, Context, Documents, Kubeconfig, TimeScale
from controller.cli.output import REFUSED, UNREACHABLE, Failed, print_text
from controller.cli.steering import mode_of, now
from controller.cli.values import path_for
from controller.files.reading import read_text
from controller.knobs import own
from controller.knobs.roles import owned_by, owned_in, role_manifests
from controller.runtime.configuration import Configuration

_NEEDED = ("namespaces", "localqueues", "clusterqueues", "cohorts")
"""Kinds that say which Cohort a tenant's queues are in."""
_FROM_DOCUMENTS = "# Made by `trimtab render rules` from Tenant and Policy documents: edit those, and make it anew.\n"


def render_baseline(
    config: Documents,
    shared: Annotated[
        list[str] | None,
        typer.Option("--shared", help="GPUs of a Kueue pool that are lent to everybody.", metavar="POOL=GPUS"),
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Print the baseline: each object that Trimtab may move, as it stands when no change is in force.

    Keep it in Git, but outside every folder that Argo CD, Flux or the like apply: they would undo each change.

    Example: trimtab render baseline --config tenants/ --shared h100=8 > baseline.yaml
    """
    site, picture = _site(config), Picture(taken_at=now())
    agreed = dict(_shared_gpus(text) for text in shared or ())
    if any(pool.engine is Engine.KUEUE for pool in site.pools):
        picture = _looked(connect(kubeconfig, context))
    print_text(own.baseline_text(own.baseline_for(site, picture, agreed)))


def render_rbac(
    config: Documents,
    max_mode: Annotated[
        str,
        typer.Option("--max-mode", help="The ceiling that the controller has: Observe, Recommend or Enforce."),
    ] = "Observe",
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            parser=path_for("--baseline"),
            help="Baseline manifest; else what the documents lead to.",
            show_default=False,
        ),
    ] = None,
    namespace: Namespace = NAMESPACE,
    ceph: Annotated[
        bool,
        typer.Option(
            "--ceph",
            help="The collector also reads PersistentVolumes: it is run with --ceph-url.",
        ),
    ] = False,
    accounting: Annotated[
        bool,
        typer.Option("--accounting", help="The collector also reads the ledger: it is run with --accounting."),
    ] = False,
) -> None:
    """Print service accounts, roles and bindings; each object that may be moved is named there. Asks no cluster.

    They are those of --baseline, else those that the documents lead to. In Observe only the janitor may write them.

    Example: trimtab render rbac --config tenants/ --max-mode Enforce | kubectl apply -f -
    """
    ceiling, site = mode_of(max_mode), _site(config)
    owned = owned_in(site) if baseline is None else owned_by(_kept(baseline))
    manifests = role_manifests(namespace, owned, ceiling, ceph=ceph, history=accounting)
    print_text(yaml.dump_all(manifests, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=110))


def render_rules(config: Documents, cluster: Cluster = "default", time_scale: TimeScale = 1.0) -> None:
    """Print a Prometheus rule file that holds each tenant to its own objectives. Asks no cluster.

    Example: trimtab render rules --config tenants/ > trimtab.rules.yaml
    """
    groups = rule_groups(_site(config, cluster), time_scale)
    print_text(prometheus_rules(groups, _FROM_DOCUMENTS))


def _site(config: list[Path], cluster: str = "default") -> Site:
    return Configuration(config, cluster).load().site


def _shared_gpus(text: str) -> tuple[str, int]:
    pool, _, gpus = text.partition("=")
    if not pool or not re.fullmatch("[0-9]{1,7}", gpus):
        raise InputError((Mistake("--shared", told(text), "POOL=GPUS, such as h100=8"),))
    return pool, int(gpus)


def _looked(api: KubernetesApi) -> Picture:
    picture = look_once(api, now())
    missing = [kind for kind in _NEEDED if kind in picture.unreadable]
    if missing:
        code = REFUSED if set(missing) <= picture.forbidden else UNREACHABLE
        raise Failed(f"{missing[0]} can not be read: {picture.unreadable[missing[0]]}.", code)
    return picture


def _kept(baseline: Path) -> own.Baseline:
    return own.read_baseline(read_text(baseline, "a baseline manifest"), str(baseline))

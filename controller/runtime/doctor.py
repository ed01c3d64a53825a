"""What each source says when it is asked once: reached, what is missing, and how to fix that, in words. Writes nothing.

The API server is asked for one object of each kind and whether it may be watched; exporters and Ceph for their page.
What Prometheus holds is looked at in `doctor_prometheus`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

from collector.model.fabric import ProbePlan
from collector.model.reading import Known
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import Exposition, parse_exposition, scrape_problem
from collector.parse.json_fields import JsonObject
from collector.sources.ceph_admin import AdminMissing, CephAdmin
from collector.sources.errors import Forbidden, NotFound, SourceError, TimedOut, Unreachable
from collector.sources.kubernetes_kinds import Kind
from collector.sources.kubernetes_lists import served_version
from collector.sources.kubernetes_port import ObjectReader
from collector.sources.scrape import Scrape, ScrapeFailed, ScrapeFault, target_label

_CEPH_ADMIN: Final = "Ceph, as an administrator"
_NO_BINDINGS: Final = "install it and name the file, or leave --ceph-admin out: the pages tell most of it"


class State(StrEnum):
    """How one thing stands."""

    FINE = "fine"
    ABSENT = "absent"
    """Not there, and nothing that is asked of it needs it."""
    MISSING = "missing"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    """What was seen, in words."""
    fix: str = ""
    """What a person can do about it; empty where nothing is to be done."""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """One source, and all that was looked at there."""

    source: str
    target: str
    checks: tuple[Check, ...]

    @property
    def reached(self) -> bool:
        """Whether it answered at all."""
        return any(check.state is not State.UNREACHABLE for check in self.checks)

    @property
    def state(self) -> State:
        """The worst of its checks."""
        return max((check.state for check in self.checks), key=list(State).index, default=State.FINE)


class Api(ObjectReader, Protocol):
    """What is needed of a `collector.sources.kubernetes_api.KubernetesApi`."""

    @property
    def server(self) -> str:
        """Its address."""
        ...

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> JsonObject:
        """One write. Raises SourceError."""
        ...


_MAY_I: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_FAULTS: Final = {
    ScrapeFault.REFUSED: "no connection: nobody listens there, or it is refused",
    ScrapeFault.UNRESOLVED: "there is no host of that name",
    ScrapeFault.TIMEOUT: "no answer in time",
    ScrapeFault.CUT_OFF: "the connection broke before the answer was complete",
}
_NOT_REACHED: Final = _FAULTS.keys()
_NO_GPUS: Final = "give the address of a GPU exporter's metrics, such as http://node-1:9400/metrics"
_PROGRAM: Final = "ucx_perftest"


def check_kubernetes(api: Api, kinds: Iterable[Kind]) -> SourceReport:
    """Each kind: may it be listed and watched, by the rule that is needed where not. Raises CredentialsProblem."""
    checks: list[Check] = []
    for kind in kinds:
        try:
            checks.append(_kind(api, kind))
        except (Unreachable, TimedOut) as problem:
            fix = "check the address in the kubeconfig, and that this machine may reach it"
            checks.append(Check("the API server", State.UNREACHABLE, silence(problem), fix))
            break
    return SourceReport("Kubernetes API", api.server, tuple(checks))


def silence(problem: Unreachable | TimedOut) -> str:
    """Why nothing came, in words for a person."""
    if isinstance(problem, TimedOut):
        return "no answer in time"
    return f"it answers {problem.status}" if problem.status else "no connection: nobody listens there, or it is refused"


def _kind(api: Api, kind: Kind) -> Check:
    try:
        api.get(kind.path(served_version(api, kind)), {"limit": 1})
    except Forbidden as problem:
        if problem.status == 401:
            return Check(kind.name, State.MISSING, "401: who asks is not known there", "renew the credentials")
        return Check(kind.name, State.MISSING, "403: it may not be listed", _rule(kind))
    except NotFound:
        if kind.may_be_absent:
            return Check(kind.name, State.ABSENT, f"this cluster has no {kind.group}")
        return Check(kind.name, State.MISSING, "the API server does not know it", "is this a Kubernetes API server?")
    except (Unreachable, TimedOut):
        raise
    except SourceError as problem:
        return Check(kind.name, State.MISSING, str(problem))
    if not _may_watch(api, kind):
        return Check(kind.name, State.MISSING, "it may be listed and not watched", _rule(kind))
    return Check(kind.name, State.FINE, "may be listed and watched")


def _may_watch(api: Api, kind: Kind) -> bool:
    """Asked as kubectl auth can-i asks; a server that does not answer that is not held against it."""
    attributes = {"group": kind.group, "resource": kind.plural, "verb": "watch"}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    try:
        answer = api.request("POST", _MAY_I, {**review, "spec": {"resourceAttributes": attributes}})
    except SourceError:
        return True
    return bool(answer.get("status", {}).get("allowed", True))


def _rule(kind: Kind) -> str:
    rule = f'{{apiGroups: ["{kind.group}"], resources: [{kind.plural}], verbs: [get, list, watch]}}'
    return f"add to its ClusterRole: {rule}; trimtab render rbac prints all of them"


class Scraping(Protocol):
    """What is needed of a `collector.sources.scrape.Scraper`."""

    def scrape(self, url: str) -> Scrape | ScrapeFailed:
        """The text of one target, or what went wrong."""
        ...


def check_gpu_exporter(scraper: Scraping, url: str) -> SourceReport:
    """Whether its GPUs say what they do, and who holds them."""
    return _page("GPU exporter", scraper, url, _gpu_checks)


def check_ceph(scraper: Scraping, url: str) -> SourceReport:
    """Whether it is the active manager, and tells of images and OSDs."""
    return _page("Ceph manager", scraper, url, _ceph_checks)


def check_ceph_admin(configuration: Path, user: str) -> SourceReport:
    """Whether Ceph can be asked as an administrator: bindings, connection, rights."""
    target = f"{user}, {configuration}"
    try:
        admin = CephAdmin(configuration, user)
    except AdminMissing as missing:
        return SourceReport(_CEPH_ADMIN, target, (Check("bindings", State.UNREACHABLE, str(missing), _NO_BINDINGS),))
    try:
        flags = sorted(admin.flags())
    except AdminMissing as missing:
        fix = "check the addresses of the monitors, the keyring, and the name"
        return SourceReport(_CEPH_ADMIN, target, (Check("monitors", State.UNREACHABLE, str(missing), fix),))
    finally:
        admin.close()
    return SourceReport(_CEPH_ADMIN, target, (Check("monitors", State.FINE, f"flags: {', '.join(flags)}"),))


def _page(source: str, scraper: Scraping, url: str, checks_of: Callable[[Exposition], Iterable[Check]]) -> SourceReport:
    target = target_label(url)
    result = scraper.scrape(url)
    if isinstance(result, ScrapeFailed):
        if result.fault is ScrapeFault.EMPTY and checks_of is _ceph_checks:
            standby = Check(
                "page", State.ABSENT, "an empty page: a manager that stands by; name the active one as well"
            )
            return SourceReport(source, target, (standby,))
        state = State.UNREACHABLE if result.fault in _NOT_REACHED else State.MISSING
        words = _FAULTS.get(result.fault, result.sentence)
        return SourceReport(source, target, (Check("page", state, words, _fix_of(result.fault)),))
    exposition = parse_exposition(result.text)
    problem = scrape_problem(exposition)
    if problem is not None:
        return SourceReport(source, target, (Check("page", State.MISSING, problem, "is it the page of metrics?"),))
    return SourceReport(source, target, tuple(checks_of(exposition)))


def _fix_of(fault: ScrapeFault) -> str:
    if fault is ScrapeFault.UNRESOLVED:
        return "correct the host in the address"
    if fault in _NOT_REACHED:
        return "check that it runs, its port, and that network policies let this machine in"
    return "check the path of the address, often /metrics"


def _gpu_checks(exposition: Exposition) -> Iterable[Check]:
    gpus = gpu_readings(exposition)
    if not gpus:
        yield Check("GPUs", State.MISSING, "no GPU in it", _NO_GPUS)
        return
    yield Check("GPUs", State.FINE, f"{len(gpus)} GPUs and slices of {', '.join(sorted({gpu.vendor for gpu in gpus}))}")
    active = sum(isinstance(gpu.activity_ratio, Known) for gpu in gpus)
    fix = "" if active else "export how many multiprocessors work (DCGM: DCGM_FI_PROF_GR_ENGINE_ACTIVE)"
    state = State.FINE if active else State.MISSING
    yield Check("activity", state, f"{active} of {len(gpus)} say whether they compute", fix)
    held = sum(bool(gpu.holders) for gpu in gpus)
    if held:
        yield Check("pods", State.FINE, f"{held} of {len(gpus)} name who holds them")
    else:
        fix = "if pods hold GPUs there, let it map them (dcgm-exporter: DCGM_EXPORTER_KUBERNETES=true)"
        yield Check("pods", State.ABSENT, "no GPU names a pod: all idle, or it is not told", fix)


def _ceph_checks(exposition: Exposition) -> Iterable[Check]:
    names = {sample.name for sample in exposition.samples}
    if "ceph_health_status" not in names:
        yield Check(
            "cluster", State.MISSING, "it tells of no cluster", "name the page of the active manager, port 9283"
        )
        return
    yield Check("cluster", State.FINE, "the active manager")
    wanted = (
        ("images", "ceph_rbd_read_latency_count", "ceph config set mgr mgr/prometheus/rbd_stats_pools '*'"),
        ("OSDs", "ceph_osd_op_r_latency_count", "since Reef: name the pages of ceph-exporter (port 9926) as well"),
    )
    for what, name, fix in wanted:
        if name in names:
            yield Check(what, State.FINE, "their latencies are told")
        else:
            yield Check(what, State.MISSING, f"{name} is not told", fix)


def check_probes(plan: ProbePlan, which: Callable[[str], str | None] = shutil.which) -> SourceReport:
    """Whether the programs that a plan starts are here. Probes nothing: that would load the network."""
    commands = sorted({words[0] if words else _PROGRAM for one in plan.targets for words in (one.client, one.server)})
    checks = []
    for command in commands:
        if which(command) is None:
            fix = "install ucx-utils" if command == _PROGRAM else "install it, or correct the file of the probes"
            checks.append(Check(command, State.MISSING, "is not on this machine", fix))
        else:
            checks.append(Check(command, State.FINE, "is here"))
    return SourceReport("RDMA probes", f"{len(plan.targets)} pairs of nodes", tuple(checks))


def check_webhook_token(file: Path) -> SourceReport:
    """Whether the controller could take alerts by the token in this file."""
    place = ("Alertmanager webhook", str(file))
    mount = "mount the Secret there (chart: controller.doorbell.existingSecret)"
    try:
        token = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return SourceReport(*place, (Check("token", State.UNREACHABLE, "there is no such file", mount),))
    except (OSError, UnicodeDecodeError):
        return SourceReport(*place, (Check("token", State.UNREACHABLE, "it can not be read as text", mount),))
    if not token:
        fix = "put a token into it, and the same one into Alertmanager's http_config"
        return SourceReport(*place, (Check("token", State.MISSING, "the file is empty: every alert is refused", fix),))
    return SourceReport(*place, (Check("token", State.FINE, "is there"),))

"""Puts a controller together: connections, picture, evidence, stores, loop. The only place that knows all the parts."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from collector.assemble.capacity import CAP_NAME
from collector.model.objects import Cohort, ResourceQuota
from collector.model.snapshot import Evidence
from collector.model.tenancy import Site
from collector.sources.evidence import EvidenceLimits, read_evidence
from collector.sources.kubernetes_api import ApiLimits, KubernetesApi
from collector.sources.kubernetes_kinds import KINDS
from collector.sources.kubernetes_lists import project, read_list, served_version
from collector.sources.kubernetes_watch import ClusterWatch
from collector.sources.prometheus import Prometheus
from controller.actuators.server_side_apply import ServerSideApply
from controller.api.policy import Mode
from controller.runtime.acting import Fence
from controller.runtime.configuration import Configuration
from controller.runtime.control import BaselineSource, read_control
from controller.runtime.doorbell import Doorbell
from controller.runtime.lease import Lease
from controller.runtime.ledger_store import LedgerStore
from controller.runtime.loop import Loop, least_gap_seconds
from controller.runtime.observe import EvidenceSource, Observer, PictureSource, wait_clocks
from controller.runtime.status import StatusBoard
from controller.runtime.status_store import StatusStore
from controller.runtime.tick import Controller

_COHORTS = next(kind for kind in KINDS if kind.name == "cohorts")
_QUOTAS = next(kind for kind in KINDS if kind.name == "resourcequotas")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line says."""

    config: tuple[Path, ...]
    cluster: str
    namespace: str
    ceiling: Mode
    time_scale: float
    baseline_file: Path | None = None
    prometheus_url: str | None = None
    lease_seconds: int = 30


@dataclass(frozen=True, slots=True)
class ListedOwnObjects:
    """Own objects by one list each."""

    api: KubernetesApi

    def cohorts(self) -> Sequence[Cohort]:
        """All Cohorts. Raises SourceError; NotFound where there is no Kueue."""
        version = served_version(self.api, _COHORTS)
        return tuple(read_list(self.api, _COHORTS, version, page_size=500).objects.values())

    def caps(self) -> Sequence[ResourceQuota]:
        """All caps; one that can not be understood is left out. Raises SourceError."""
        query = {"fieldSelector": f"metadata.name={CAP_NAME}"}
        pages = self.api.list_pages(_QUOTAS.path("v1"), query=query)
        found = (project(_QUOTAS, item).projection for page in pages for item in page.items)
        return tuple(one for one in found if isinstance(one, ResourceQuota))


def evidence_source(settings: Settings) -> EvidenceSource:
    """Prometheus, or a source that is always blind where none is given: then nothing new is ever decided."""
    if settings.prometheus_url is None:
        return lambda site, now: Evidence(blind=("no Prometheus is configured",))
    prometheus = Prometheus(settings.prometheus_url)
    limits = EvidenceLimits(time_scale=settings.time_scale)

    def read(site: Site, now: float) -> Evidence:
        return read_evidence(prometheus, site, now, limits)

    return read


def controller_for(
    settings: Settings, api: KubernetesApi, pictures: PictureSource, evidence: EvidenceSource, fence: Fence
) -> Controller:
    """A controller over a living picture."""
    return Controller(
        configuration=Configuration(settings.config, settings.cluster),
        observer=Observer(pictures, evidence, ListedOwnObjects(api), wait_clocks(settings.time_scale)),
        store=LedgerStore(api, settings.namespace),
        actuator=ServerSideApply(api),
        fence=fence,
        baseline_source=BaselineSource(api, settings.namespace, settings.baseline_file),
        read_control=lambda: read_control(api, settings.namespace),
        clock=time.time,
        ceiling=settings.ceiling,
        time_scale=settings.time_scale,
    )


def steering_limits(lease_seconds: int) -> ApiLimits:
    """No request of who steers outlasts the third of its lease that is left when it begins, nor its being stopped."""
    third = lease_seconds / 3
    return ApiLimits(
        connect_seconds=third / 4, read_seconds=third * 3 / 4, answer_seconds=third, retry_within_seconds=third
    )


def lease_for(settings: Settings, api: KubernetesApi) -> Lease:
    """The lease, in the name of this process alone: a container that starts anew has its old host name and number."""
    identity = f"{socket.gethostname()}-{uuid4().hex[:12]}"
    return Lease(api, settings.namespace, identity, time.monotonic, time.time, settings.lease_seconds)


def loop_for(settings: Settings, api: KubernetesApi, watch: ClusterWatch, doorbell: Doorbell) -> Loop:
    """The whole loop, ready to run."""
    lease = lease_for(settings, api)
    controller = controller_for(settings, api, watch, evidence_source(settings), lease)
    gap_seconds = least_gap_seconds(settings.time_scale)
    status = StatusStore(api, settings.namespace, time.monotonic)
    return Loop(controller, lease, StatusBoard(settings.cluster), doorbell, status, time.monotonic, gap_seconds)

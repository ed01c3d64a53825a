"""Wrong causes: what is known not to be scheduling is named, and no quota is proposed for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.snapshot import Evidence, OtherCause, OtherKind, Snapshot
from controller.api.policy import Mode
from controller.policy.engine import decide
from controller.policy.findings import Cause, Trouble, find
from controller.policy.ledger import Ledger
from tests.unit.controller.policy.starving import POLICY, TARGETS, starving

SLOW = OtherCause(OtherKind.CEPH, "Ceph: osd.1 commits in 900 ms, others in 10 ms; volumes of tenant vision wait 880 ms")


def with_causes(snapshot: Snapshot, *causes: OtherCause, tenant: str = "vision") -> Snapshot:
    return replace(snapshot, evidence=Evidence(other_causes={tenant: causes}))

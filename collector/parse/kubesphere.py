"""JSON of KubeSphere's quotas of workspaces → `collector.model.gangs`. Pure."""

from __future__ import annotations

from collector.model.gangs import WorkspaceQuota
from collector.model.tenancy import WORKSPACE_LABEL
from collector.parse.json_fields import JsonObject, parts, section, text, text_map
from collector.parse.kubernetes import quota_counts


def workspace_quota(raw: JsonObject) -> WorkspaceQuota | None:
    """A ResourceQuota of quota.kubesphere.io; None when it selects no workspace. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    workspace = text_map(spec, "selector", "spec").get(WORKSPACE_LABEL)
    if not workspace:
        return None
    total = section(status, "total", "status")
    return WorkspaceQuota(
        name=text(metadata, "name", "metadata"),
        workspace=workspace,
        hard=quota_counts(section(section(spec, "quota", "spec"), "hard", "spec.quota"), "spec.quota.hard"),
        used=quota_counts(section(total, "used", "status.total"), "status.total.used"),
    )

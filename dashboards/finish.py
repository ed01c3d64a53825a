"""From grafanalib's board to what today's Grafana reads: data source by variable, stable ids, nothing of old versions.

Pure. grafanalib writes the form of Grafana 5 with fields of every version since; what is kept of it is named here.
"""

from __future__ import annotations

import json
import zlib
from typing import Any, Final

from grafanalib.core import Dashboard

from dashboards.variables import DATASOURCE

SCHEMA_VERSION: Final = 39
"""That of Grafana 10.4; newer versions bring it up to date when they load it."""
TAG: Final = "trimtab"
PROMETHEUS: Final = {"type": "prometheus", "uid": f"${{{DATASOURCE}}}"}

_OF_BOARD: Final = ("title", "description", "time", "refresh")
_OF_PANEL: Final = ("title", "description", "type", "gridPos", "options", "transformations")
_OF_ROW: Final = ("title", "type", "gridPos", "collapsed")
_OF_TARGET: Final = ("expr", "format", "instant", "legendFormat", "refId")
_OF_VARIABLE: Final = ("name", "label", "type", "query", "refresh", "sort", "multi", "includeAll", "allValue", "hide")
_SHARED_CROSSHAIR: Final = 1


def finished(board: Dashboard, key: str) -> dict[str, Any]:
    """The board as Grafana's JSON model. `key` names it for ever: links and updates find it by the uid made of it."""
    plain = json.loads(json.dumps(board.to_json_data(), default=lambda part: part.to_json_data()))
    document: dict[str, Any] = {name: plain[name] for name in _OF_BOARD}
    return document | {
        "uid": f"{TAG}-{key}",
        "id": None,
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "graphTooltip": _SHARED_CROSSHAIR,
        "timezone": "browser",
        "tags": [TAG],
        "links": [_link_to_all_boards()],
        "annotations": {"list": [one | {"datasource": PROMETHEUS} for one in plain["annotations"]["list"]]},
        "templating": {"list": [_variable(one) for one in plain["templating"]["list"]]},
        "panels": [_panel(one) for one in plain["panels"]],
    }


def board_text(document: dict[str, Any]) -> str:
    """The JSON model as a file that shows each difference on a line of its own."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _panel(panel: dict[str, Any]) -> dict[str, Any]:
    if panel["type"] == "row":
        inside = [_panel(one) for one in panel["panels"]]
        return {name: panel[name] for name in _OF_ROW} | {"id": _stable_id(panel), "panels": inside}
    return {name: panel[name] for name in _OF_PANEL} | {
        "id": _stable_id(panel),
        "datasource": PROMETHEUS,
        "fieldConfig": _field_config(panel["fieldConfig"]),
        "targets": [_target(one) for one in panel["targets"]],
    }


def _field_config(config: dict[str, Any]) -> dict[str, Any]:
    defaults = _without_nulls(config["defaults"])
    defaults.get("custom", {}).pop("displayMode", None)  # of tables before Grafana 9
    if not defaults["thresholds"]["steps"]:
        del defaults["thresholds"]
    return {"defaults": defaults, "overrides": config.get("overrides", [])}


def _stable_id(panel: dict[str, Any]) -> int:
    """Made of the title: a link to one panel still finds it when another is put before it."""
    return zlib.crc32(panel["title"].encode()) & 0x7FFF_FFFF


def _target(target: dict[str, Any]) -> dict[str, Any]:
    kept = {name: target[name] for name in _OF_TARGET}
    return kept | {"datasource": PROMETHEUS, "editorMode": "code", "range": not target["instant"]}


def _variable(variable: dict[str, Any]) -> dict[str, Any]:
    kept = {name: variable[name] for name in _OF_VARIABLE if variable[name] is not None}
    if variable["type"] == "query":
        kept |= {"datasource": PROMETHEUS, "definition": variable["query"]}
    if variable["includeAll"]:
        kept["current"] = {"selected": True, "text": ["All"], "value": ["$__all"]}
    return kept


def _link_to_all_boards() -> dict[str, Any]:
    return {
        "type": "dashboards",
        "title": "Trimtab boards",
        "tags": [TAG],
        "asDropdown": True,
        "includeVars": True,
        "keepTime": True,
    }


def _without_nulls(value: Any) -> Any:
    """Without what is not set; but the lowest step of a threshold is null and means it."""
    if not isinstance(value, dict):
        return value
    return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}

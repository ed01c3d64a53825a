"""What can be said of the chart's files without helm: versions, and documented values."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "trimtab"


def test_chart_application_and_package_have_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (version, version)


def test_every_value_is_in_the_schema_and_every_key_of_the_schema_has_a_default() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert set(_paths_of_values(values, schema)) == set(_paths_of_schema(schema)) - {"global"}


def test_every_object_of_the_schema_refuses_unknown_keys() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert [path for path, node in _objects(schema) if node.get("additionalProperties") is not False] == []


def _paths_of_schema(schema: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, node in schema.get("properties", {}).items():
        yield f"{above}{key}"
        yield from _paths_of_schema(node, f"{above}{key}.")


def _paths_of_values(values: Mapping[str, Any], schema: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield f"{above}{key}"
        node = schema["properties"][key]
        if "properties" in node:
            yield from _paths_of_values(value, node, f"{above}{key}.")


def _objects(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    if "properties" in schema:
        yield above, schema
        for key, node in schema["properties"].items():
            yield from _objects(node, f"{above}.{key}")

"""The file that names the RDMA edges to probe (`run collector --rdma-probes`): YAML text → `ProbePlan`. Pure.

Judged as the documents are: strict, each mistake with its place, and all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from collector.model.fabric import Edge, ProbePlan, ProbeTarget
from controller.api.border import Border
from controller.api.fields import Dwell, ObjectName, Text, Tick
from controller.api.probe_fields import Address, UcxVariables, parsed
from controller.api.yaml_text import ValuePath


class EdgeModel(Border):
    """One pair of nodes, and how to get to each."""

    source: ObjectName
    destination: ObjectName
    address: Address
    port: Annotated[int, Field(ge=1, le=65535)] = 13337
    client: list[Text] = Field(default_factory=list)
    server: list[Text] = Field(default_factory=list)

    def value(self, environment: dict[str, str]) -> ProbeTarget:
        """The frozen form."""
        edge = Edge(self.source, self.destination)
        return ProbeTarget(edge, self.address, self.port, tuple(self.client), tuple(self.server), environment)


class ProbesModel(Border):
    """The whole file."""

    interval: Dwell = 60.0
    timeout: Tick = 20.0
    iterations: Annotated[int, Field(ge=100, le=1_000_000)] = 500
    progress: Literal["sleep", "poll"] = "sleep"
    environment: UcxVariables = Field(default_factory=dict)
    edges: list[EdgeModel] = Field(min_length=1)

    def value(self) -> ProbePlan:
        """The frozen form."""
        return ProbePlan(
            targets=tuple(edge.value(self.environment) for edge in self.edges),
            interval_seconds=self.interval,
            timeout_seconds=self.timeout,
            iterations=self.iterations,
            progress=self.progress,
        )


def parse_probe_plan(text: str, origin: str) -> ProbePlan:
    """The plan in one text; `origin` names it in messages. Raises InputError with every mistake."""
    return parsed(ProbesModel, text, origin, "edges", _crossed).value()


def _crossed(model: ProbesModel) -> Iterator[tuple[ValuePath, str]]:
    seen: dict[tuple[str, str], int] = {}
    for number, edge in enumerate(model.edges):
        pair = (edge.source, edge.destination)
        if edge.source == edge.destination:
            yield ("edges", number, "destination"), "another node than source"
        if pair in seen:
            yield ("edges", number), f"each pair once; this one stands at edges[{seen[pair]}] too"
        seen.setdefault(pair, number)

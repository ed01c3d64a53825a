"""The file that names the RDMA edges to probe (`run collector --rdma-probes`): YAML text → `ProbePlan`. Pure.

Judged as the documents are: strict, each mistake with its place, and all of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationError

from collector.model.fabric import Edge, ProbePlan, ProbeTarget
from controller.api.border import Border
from controller.api.errors import InputError, Mistake
from controller.api.fields import Dwell, ObjectName, Text, Tick
from controller.api.wording import mistakes_in_words
from controller.api.yaml_text import ValuePath, YamlDocument, place_in_words, printable, read_yaml

_ADDRESS: Final = re.compile(r"[0-9A-Za-z:][0-9A-Za-z.:%-]{0,252}")
_VARIABLE: Final = re.compile(r"UCX_[A-Z0-9_]+")
_SETTING: Final = re.compile(r"[A-Za-z0-9_.,:/^+=@%-]+")


def _address(text: str) -> str:
    # It becomes a word of a command: one that begins with a dash would be an option.
    if not _ADDRESS.fullmatch(text):
        raise ValueError("an IP address or a host name")
    return text


def _variables(settings: dict[str, str]) -> dict[str, str]:
    wrong = sorted(name for name in settings if not _VARIABLE.fullmatch(name))
    if wrong:
        raise ValueError(f"variables of UCX, such as UCX_TLS, and not {wrong[0]}")
    # An `ssh` before the command hands it to a shell at the other end.
    unsafe = sorted(name for name, value in settings.items() if not _SETTING.fullmatch(value))
    if unsafe:
        raise ValueError(f"for {unsafe[0]} a value of letters, digits and _ . , : / ^ + = @ % -")
    return settings


class EdgeModel(Border):
    """One pair of nodes, and how to get to each."""

    source: ObjectName
    destination: ObjectName
    address: Annotated[str, AfterValidator(_address)]
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
    environment: Annotated[dict[str, str], AfterValidator(_variables)] = Field(default_factory=dict)
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
    documents, flaw = read_yaml(text)
    if flaw is not None:
        place = printable(f"{origin}: line {flaw.line}")
        raise InputError((Mistake(place, flaw.written, f"YAML, which this is not: {flaw.problem}"),))
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise InputError((Mistake(printable(origin), f"{len(documents)} documents", "one mapping with the key edges"),))
    document = documents[0]
    wrong = [(one.path, one.expected) for one in document.flaws]
    try:
        model = ProbesModel.model_validate(document.value)
    except ValidationError as error:
        wrong += mistakes_in_words(ProbesModel, error)
        raise InputError(_mistakes(origin, document, wrong)) from None
    wrong += _crossed(model)
    if wrong:
        raise InputError(_mistakes(origin, document, wrong))
    return model.value()


def _crossed(model: ProbesModel) -> Iterator[tuple[ValuePath, str]]:
    seen: dict[tuple[str, str], int] = {}
    for number, edge in enumerate(model.edges):
        pair = (edge.source, edge.destination)
        if edge.source == edge.destination:
            yield ("edges", number, "destination"), "another node than source"
        if pair in seen:
            yield ("edges", number), f"each pair once; this one stands at edges[{seen[pair]}] too"
        seen.setdefault(pair, number)


def _mistakes(origin: str, document: YamlDocument, wrong: list[tuple[ValuePath, str]]) -> tuple[Mistake, ...]:
    return tuple(
        Mistake(
            printable(f"{origin}: {place_in_words(path)}" if path else origin),
            document.written.get(path, "nothing"),
            printable(expected),
        )
        for path, expected in wrong
    )

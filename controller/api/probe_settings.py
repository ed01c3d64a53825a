"""The file that says which NICs are probed and how (`--probes`): YAML text → `ProbeSettings`. Pure.

The same file on every node: each works out from it whom it asks and when. Judged as the documents are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from collector.model.probing import Nic, ProbeHost, ProbeSettings, Tool, Where
from controller.api.border import Border
from controller.api.fields import Dwell, ObjectName, Text, Tick
from controller.api.probe_fields import Address, UcxVariables, parsed
from controller.api.yaml_text import ValuePath

_DEVICE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_Port = Annotated[int, Field(ge=1, le=65535)]
MOST_NICS_PER_NODE: Final = 64


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError("the name of an RDMA device, such as mlx5_0")
    return text


def _even(degree: int) -> int:
    if degree % 2:
        raise ValueError("an even number: each NIC has two neighbours in each ring")
    return degree


class NicModel(Border):
    """One NIC of a node."""

    device: Annotated[str, AfterValidator(_device)]
    address: Address
    rail: Annotated[int, Field(ge=0, le=1023)]
    leaf: Text | None = None


class HostModel(Border):
    """One node that takes part."""

    name: ObjectName
    address: Address
    nics: list[NicModel] = Field(default_factory=list, max_length=MOST_NICS_PER_NODE)
    addresses: list[Address] = Field(default_factory=list, max_length=MOST_NICS_PER_NODE)
    group: Text | None = None

    def value(self, rails: list[str]) -> ProbeHost:
        """The frozen form; `rails`: the device of each rail."""
        nics = [Nic(self.name, nic.device, nic.address, nic.rail, nic.leaf or "") for nic in self.nics]
        for rail, (device, address) in enumerate(zip(rails, self.addresses, strict=False)):
            leaf = f"{self.group}-{rail}" if self.group else ""
            nics.append(Nic(self.name, device, address, rail, leaf))
        return ProbeHost(self.name, self.address, tuple(nics))


class ProbeSettingsModel(Border):
    """The whole file."""

    where: Literal["demand", "drained", "all"] = "drained"
    tool: Literal["perftest", "ucx"] = "perftest"
    port: _Port = 9110
    first_data_port: Annotated[int, Field(ge=1024, le=65535 - MOST_NICS_PER_NODE)] = 18515
    links_per_nic: Annotated[int, Field(ge=2, le=64), AfterValidator(_even)] = 6
    changing_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    period: Dwell = 600.0
    timeout: Tick = 20.0
    iterations: Annotated[int, Field(ge=100, le=1_000_000)] = 1000
    progress: Literal["sleep", "poll"] = "sleep"
    full_load: Annotated[float, Field(gt=0, le=1000)] = 1.0
    traffic_class: Annotated[int, Field(ge=0, le=255)] | None = None
    gid_index: Annotated[int, Field(ge=0, le=255)] | None = None
    environment: UcxVariables = Field(default_factory=dict)
    rails: list[Annotated[str, AfterValidator(_device)]] = Field(default_factory=list, max_length=MOST_NICS_PER_NODE)
    nodes: list[HostModel] = Field(min_length=1)

    def value(self) -> ProbeSettings:
        """The frozen form."""
        return ProbeSettings(
            hosts=tuple(host.value(self.rails) for host in self.nodes),
            where=Where(self.where),
            tool=Tool(self.tool),
            port=self.port,
            first_data_port=self.first_data_port,
            degree=self.links_per_nic,
            changing_ratio=self.changing_share,
            period_seconds=self.period,
            timeout_seconds=self.timeout,
            iterations=self.iterations,
            progress=self.progress,
            full_load=self.full_load,
            traffic_class=self.traffic_class,
            gid_index=self.gid_index,
            environment=self.environment,
        )


def parse_probe_settings(text: str, origin: str) -> ProbeSettings:
    """The settings in one text; `origin` names it in messages. Raises InputError with every mistake."""
    return parsed(ProbeSettingsModel, text, origin, "nodes", _crossed).value()


def _crossed(model: ProbeSettingsModel) -> Iterator[tuple[ValuePath, str]]:
    names: dict[str, int] = {}
    addresses: dict[str, str] = {}
    for number, host in enumerate(model.nodes):
        if host.name in names:
            yield ("nodes", number, "name"), f"each node once; this one stands at nodes[{names[host.name]}] too"
        names.setdefault(host.name, number)
        if not (host.nics or host.addresses):
            yield ("nodes", number), "nics, or addresses in the order of rails"
        if len(host.addresses) > len(model.rails):
            yield ("nodes", number, "addresses"), f"one for each of the {len(model.rails)} rails at most"
        devices: set[str] = set()
        for nic in host.value(model.rails).nics:
            if nic.device in devices:
                yield ("nodes", number), f"each device of a node once, and {nic.device} is there twice"
            devices.add(nic.device)
            owner = addresses.setdefault(nic.address, nic.key)
            if owner != nic.key:
                yield ("nodes", number), f"addresses of its own; {owner} has {nic.address}"

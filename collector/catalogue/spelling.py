"""What a line of the tables of other people's metrics says: their spelling, our name, the unit between. Values only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

MIB: Final = 1024.0 * 1024.0
KIB: Final = 1024.0
PERCENT: Final = 0.01
PERCENT_LIMIT: Final = 101.0
RATIO_LIMIT: Final = 1.01
"""Sampling may put a ratio a little above 1; more means that the unit has changed."""
MEBIBYTES_LIMIT: Final = 2.0**20
"""No device has a tebibyte: bytes would stand far above it."""
WATTS_LIMIT: Final = 20_000.0
CELSIUS_LIMIT: Final = 250.0
MEGA: Final = 1e6
MEGAHERTZ_LIMIT: Final = 20_000.0
HERTZ_LIMIT: Final = MEGAHERTZ_LIMIT * MEGA
MILLI: Final = 1e-3
MICRO: Final = 1e-6
NANO: Final = 1e-9


class Scope(StrEnum):
    """What a value of an accelerator is about."""

    DEVICE = "device"
    """The device, or its slice where the series names one; repeated for every holder."""
    WHOLE = "whole device"
    """Always the whole device, repeated on every slice."""
    HOLDER = "holder"
    """The part of one container: differs between holders."""
    INFO = "info"
    """Only its labels say something."""


@dataclass(frozen=True, slots=True, eq=False)  # one line of a table is itself alone, which makes it a cheap key
class Spelling:
    """One metric of somebody else, and what it becomes: value × factor, in the unit of ours."""

    theirs: str
    ours: str
    factor: float = 1.0
    limit: float = math.inf
    """The highest value, in their unit, that makes sense."""
    lowest: float = 0.0
    scope: Scope = Scope.DEVICE
    true_when: tuple[float, ...] | None = None
    """Becomes 1 for these values and 0 for others."""
    labels: tuple[tuple[str, str], ...] = ()
    """(our label, its fixed value)"""
    keeps: tuple[tuple[str, str], ...] = ()
    """(our label, theirs)"""
    saturates_at: float | None = None
    """A counter that has reached it counts no more."""
    documented: str = ""
    """Known by its documentation alone, since that release; "": met on a real one, or recorded."""

    @property
    def is_counter(self) -> bool:
        """Only grows."""
        return self.ours.endswith("_total")

    def converted(self, value: float) -> float:
        """In the unit of ours."""
        if self.true_when is not None:
            return 1.0 if value in self.true_when else 0.0
        # Division by a whole number is exact where a factor such as 0.01 is not.
        return value * self.factor if self.factor >= 1 else value / round(1 / self.factor)


@dataclass(frozen=True, slots=True)
class Holders:
    """How series name who holds a device: sets of labels (namespace, pod, container), the first that is there."""

    labels: tuple[tuple[str, str, str], ...] = (("namespace", "pod", "container"),)
    jobs: tuple[str, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()
    """(namespace, name) of a claim of dynamic resource allocation."""
    replicas: tuple[str, ...] = ()
    """The holder's number on a shared device."""
    own_pods: tuple[str, ...] = ()
    """Parts of the name of the exporter's own pod, which a Prometheus may put on devices that nobody holds."""


@dataclass(frozen=True, slots=True)
class Devices:
    """How series name a device: for each fact the labels that tell it, the first that is not empty counts."""

    uuid: tuple[str, ...]
    index: tuple[str, ...]
    node: tuple[str, ...]
    model: tuple[str, ...]
    slice_id: tuple[str, ...] = ()
    slice_profile: tuple[str, ...] = ()
    whole_profiles: frozenset[str] = frozenset()
    """Profiles (lower case) of a device that is not cut."""
    uuid_of_cut: tuple[str, ...] = ()
    """Of a slice: the labels that tell the device, where `uuid` tells the slice."""
    needs: tuple[str, ...] = ()
    """A series with none of these labels is not one of this exporter, whatever its name."""
    holders: Holders = Holders()


@dataclass(frozen=True, slots=True)
class Canary:
    """Two of our counters whose quotient shows when somebody has changed a unit."""

    amount: str
    count: str
    lowest: float
    highest: float
    counted_at_least: float = 100.0
    """Of fewer, the mean says nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """How one exporter says things."""

    source: str
    """The name of it, as in `trimtab collect --as`."""
    title: str
    spellings: tuple[Spelling, ...]
    prefixes: tuple[str, ...]
    """Beginnings of the names of all its metrics."""
    vendor: str = ""
    devices: Devices | None = None
    """None: its series are not about accelerators, and keep their own labels."""
    any_prefix: bool = False
    """A site may put a prefix of its own before every name."""
    any_case: bool = False
    """Versions differ in whether names and labels are upper or lower case."""
    blank_from: float = math.inf
    """Of a gauge: numbers from here on mean "no value"."""
    blank_in: tuple[tuple[float, float], ...] = ()
    """Of a counter, which may be large: numbers in these ranges mean "no value"."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Label of theirs → the catalogue's."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Value of any label → its one spelling."""
    canaries: tuple[Canary, ...] = ()

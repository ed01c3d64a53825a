"""What a look could not see, what is therefore not known, and what would help. Pure: missing is never shown as zero."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from collector.assemble.gpu_ledger import Devices
from collector.model.objects import Picture
from collector.model.snapshot import Snapshot, Work, WorkPhase
from controller.cli.output import FINDINGS, OK, REFUSED, UNREACHABLE, Failed, section

OF_GPUS: Final = frozenset({"nodes", "pods"})
OF_USE: Final = frozenset({"nodes", "pods", "workloads", "localqueues", "clusterqueues"})
OF_WAITS: Final = OF_USE | {"jobs"}
"""Kinds without which counts of GPUs, of use by tenants, of waits would be too low or wrong."""
OF_TENANTS: Final = "namespaces"
"""Where documents choose namespaces by label, whose work it is comes from here as well."""

_WORK_SOURCES: Final = ("pods", "jobs", "workloads")
_GPU_READINGS: Final = "GPU readings"

_THEREFORE: Final = {
    "nodes": "how many GPUs there are, and which are free",
    "pods": "who holds which GPUs, and which pods wait",
    "namespaces": "labels of namespaces, and the tenants that only they tell of",
    "jobs": "Jobs whose pods were refused",
    "workloads": "who waits in Kueue's queues, and what is admitted",
    "localqueues": "which namespaces use which queues",
    "clusterqueues": "Kueue's quotas, and why their queues do not admit",
    "cohorts": "which queues lend to each other, and the floats",
    "resourceflavors": "which nodes a quota of Kueue is for",
    "resourcequotas": "quotas of namespaces",
    "priorityclasses": "priorities of pods",
    "workloadpriorityclasses": "priorities in Kueue's queues",
    _GPU_READINGS: "whether held GPUs compute, and which are sick",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that was not seen: a kind of objects or a source, why, and what is not known without it."""

    kind: str
    reason: str
    therefore: str
    remedy: str

    def record(self) -> dict[str, Any]:
        """For scripts."""
        return {"kind": self.kind, "reason": self.reason, "not_known": self.therefore, "remedy": self.remedy or None}


def gaps(picture: Picture, devices: Devices) -> tuple[Gap, ...]:
    """All of them, by kind; readings of GPUs only where somebody was asked for them."""
    found = [_of_kind(picture, kind, why) for kind, why in sorted(picture.unreadable.items())]
    for kind, problems in sorted(picture.malformed.items()):
        found.append(Gap(kind, f"{len(problems)} not understood, such as {problems[0]}", "those objects", ""))
    if devices.missing and devices.missing != Devices().missing:
        found.append(Gap(_GPU_READINGS, devices.missing, _THEREFORE[_GPU_READINGS], ""))
    return tuple(found)


def _of_kind(picture: Picture, kind: str, why: str) -> Gap:
    remedy = ""
    if kind in picture.forbidden:
        remedy = f"a role with the verbs get and list on {kind} (kubectl auth can-i list {kind} --all-namespaces)"
    return Gap(kind, why, _THEREFORE.get(kind, kind), remedy)


def unseen(picture: Picture, kinds: Iterable[str]) -> bool:
    """Whether objects of one of these kinds were not seen, or not all of them understood."""
    return any(kind in picture.unreadable or kind in picture.malformed for kind in kinds)


def answer_code(picture: Picture, needed: Collection[str]) -> int:
    """How an answer made of the `needed` kinds ends: whole, in part, or (no source of work was seen) not at all."""
    if not unseen(picture, needed):
        return OK
    hidden = {kind for kind in _WORK_SOURCES if kind in picture.unreadable}
    if not hidden or hidden | picture.unserved < set(_WORK_SOURCES):
        return FINDINGS
    return REFUSED if hidden <= picture.forbidden else UNREACHABLE


def raise_when_hidden(picture: Picture, wanted: str) -> None:
    """Something by a name was not found: raise Failed when it may only be hidden."""
    hidden = sorted(kind for kind in (*OF_WAITS, OF_TENANTS) if kind in picture.unreadable)
    if hidden:
        code = REFUSED if set(hidden) <= picture.forbidden else UNREACHABLE
        why = f"{' and '.join(hidden)} could not be read ({picture.unreadable[hidden[0]]})"
        raise Failed(f"Whether there is a {wanted} is not known: {why}.", code)


def gap_section(found: tuple[Gap, ...]) -> Iterator[RenderableType]:
    """What was not seen, for people; nothing when all was."""
    if found:
        lines = []
        for gap in found:
            lines.append(Text.assemble((f"{gap.kind}: ", "bold yellow"), f"{gap.reason.rstrip('.')}."))
            therefore = f"Not known without them: {gap.therefore}."
            lines.append(Text(therefore + (f" What helps: {gap.remedy}." if gap.remedy else ""), style="italic"))
        yield section("Not seen, therefore not known", *lines)


def without_invention(snapshot: Snapshot, picture: Picture) -> Snapshot:
    """The snapshot in which no reason is given to waiting work that only stands on what was not seen."""
    works = tuple(_judged(work, picture) for work in snapshot.works)
    return replace(snapshot, works=works)


def _judged(work: Work, picture: Picture) -> Work:
    needed = OF_GPUS | ({"localqueues", "clusterqueues"} if work.queue else frozenset())
    hidden = sorted(needed & picture.unreadable.keys())
    if not hidden or not work.waits or work.phase is WorkPhase.SUSPENDED:
        return work
    return replace(work, waiting=None, ineligible=None, why=f"Not known: {' and '.join(hidden)} could not be read.")

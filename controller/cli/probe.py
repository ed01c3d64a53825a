"""The verbs `probe run` and `probe list`: measure two nodes now, and what the probes of all nodes say together.

Asks the collectors of nodes that run with --probes. Changes nothing but that a probe is sent.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer
from rich.table import Table
from rich.text import Text

from collector.assemble.probe_verdicts import LinkVerdict, ProbePicture, judge
from collector.exporter.probe_board import picture_document, stale_after_seconds
from collector.model.probing import LinkState, ProbeSettings
from collector.model.quantities import counted
from collector.model.reading import Known, Reading
from collector.parse.probe_links import read_links
from collector.sources.probe_gather import gather
from collector.sources.probe_peer import RUN, ask_peer
from collector.sources.probe_tool import runs_of
from controller.api.errors import InputError, Mistake
from controller.cli.names import nearest
from controller.cli.options import Format
from controller.cli.output import (
    FINDINGS,
    OK,
    REFUSED,
    UNREACHABLE,
    Failed,
    Output,
    console,
    left,
    print_json,
    right,
    section,
    table,
    talk,
)
from controller.cli.probe_options import read_token
from controller.cli.values import path_for
from controller.runtime.probe_file import ProbeFile

_MOST_LISTED: Final = 20

SettingsFile: TypeAlias = Annotated[
    Path,
    typer.Option("--probes", parser=path_for("--probes"), help="File that names the NICs, the same as on the nodes."),
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--probe-token-file",
        parser=path_for("--probe-token-file"),
        help="File with the token that the nodes share.",
        show_default=False,
    ),
]


def run(
    source: Annotated[str, typer.Argument(metavar="NODE", help="The node that asks.")],
    destination: Annotated[str, typer.Argument(metavar="NODE", help="The node that answers.")],
    probes: SettingsFile,
    probe_token_file: TokenFile = None,
    output: Format = Output.TEXT,
) -> None:
    """Measure every rail between two nodes now, and the NICs of the first with themselves, one after the other.

    Whatever `where` says in the file: a person asks. Each link is compared with what is usual for it, once it has five
    probes. Write and send are half a round trip, read is a whole one.

    Example: trimtab probe run gpu-1 gpu-2 --probes fabric.yaml --probe-token-file token

    Exit code 0: measured and as usual; 1: something is slow or could not be measured; 3: the first node does not
    answer; 4: it refuses.
    """
    settings = ProbeFile(probes).settings()
    host = settings.host(_known(settings, source))
    _known(settings, destination)
    token = read_token(probe_token_file)
    if host is None or source == destination:
        raise InputError((Mistake("NODE NODE", f"{source} twice", "two nodes"),))
    seconds = 2 * len(host.nics) * (60.0 + len(runs_of(settings.tool)) * (settings.timeout_seconds + 5.0))
    talk(f"Probing {counted(len(host.nics), 'NIC')} of {source}, one after the other …")
    body = {"destination": destination}
    answer = ask_peer(host.address, settings.port, RUN, token, body, seconds=seconds)
    if answer.status != 200 or not isinstance(answer.document, dict):
        raise Failed(f"{source}: {answer.message}", UNREACHABLE if answer.status in (0, 404) else REFUSED)
    states, _ = read_links(answer.document.get("links"))
    picture = _judged(states, settings)
    if output is Output.JSON:
        print_json(picture_document(picture))
    else:
        console().print(section(f"{source} to {destination}", _links(picture.links)))
    good = bool(picture.links) and not any(one.slow or one.state.fault for one in picture.links)
    raise typer.Exit(OK if good else FINDINGS)


def list_links(probes: SettingsFile, output: Format = Output.TEXT) -> None:
    """Say what the slow links of all nodes point at, and list the worst twenty; as JSON all of them.

    A host that is slow with itself, a NIC with nearly all of its links slow, a switch that several NICs agree on, else
    the link. Asks every node in the file.

    Example: trimtab probe list --probes fabric.yaml -o json

    Exit code 0: nothing is slow; 1: something is, or a node did not answer; 3: none did.
    """
    settings = ProbeFile(probes).settings()
    found = gather(settings, "")
    picture = _judged(found.states, settings)
    if output is Output.JSON:
        print_json({**picture_document(picture), "unanswered": dict(found.failures)})
    else:
        _print(picture, found.failures.values())
    if len(found.failures) == len(settings.hosts):
        raise typer.Exit(UNREACHABLE)
    raise typer.Exit(FINDINGS if picture.suspects or found.failures else OK)


def _known(settings: ProbeSettings, node: str) -> str:
    names = {host.node for host in settings.hosts}
    if node not in names:
        raise InputError((Mistake("NODE", node, f"a node in the file{nearest(node, names)}"),))
    return node


def _judged(states: Iterable[LinkState], settings: ProbeSettings) -> ProbePicture:
    nics = {nic.key: nic for nic in settings.nics}
    return judge(states, nics, time.time(), stale_after_seconds(settings))


def _print(picture: ProbePicture, failures: Iterable[str]) -> None:
    screen = console()
    suspects = [
        Text(f"{one.kind} {one.name}: {counted(len(one.links), 'slow link')}, up to {one.ratio:.1f} times the usual")
        for one in picture.suspects[:_MOST_LISTED]
    ]
    screen.print(section("What slow links point at", *(suspects or [Text("Nothing is slow.")])))
    title = f"The worst of {counted(len(picture.links), 'link')}"
    if picture.links:
        screen.print(section(title, _links(picture.links[:_MOST_LISTED])))
    for sentence in list(failures)[:_MOST_LISTED]:
        screen.print(Text(sentence, style="yellow"))


def _links(links: Iterable[LinkVerdict]) -> Table:
    titles = (right(title) for title in ("MEDIAN", "P99", "USUAL", "TIMES"))
    shown = table(left("LINK"), left("HOP"), left("WHAT"), *titles)
    for one in links:
        operations = dict.fromkeys(operation for operation, _ in one.state.quantities)
        for operation in operations:
            told = {quantile: q for (o, quantile), q in one.state.quantities.items() if o == operation}
            numbers = [_microseconds(told[q].latest) if q in told else "–" for q in (0.5, 0.99)]
            usual = _microseconds(told[0.5].usual) if 0.5 in told else "–"
            times = f"{one.ratio.value:.1f}" if isinstance(one.ratio, Known) else one.state.fault or "?"
            what = f"{operation} ({operation.path})"
            shown.add_row(str(one.state.link), one.hop, what, *numbers, usual, times, style="red" if one.slow else "")
        if not operations:
            shown.add_row(str(one.state.link), one.hop, "–", "–", "–", "–", one.state.fault)
    return shown


def _microseconds(reading: Reading[float]) -> str:
    return f"{1e6 * reading.value:.3g} µs" if isinstance(reading, Known) else "?"

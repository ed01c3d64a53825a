"""`trimtab demo`: the whole loop on a simulated cluster, live, with a real Prometheus and a real Alertmanager."""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.live import Live

from collector.exporter.http import ListenError
from collector.model.quantities import format_duration, parse_duration
from controller.api.errors import InputError, Mistake
from controller.cli.demo_screen import closing_words, screen
from controller.cli.listening import listen_address
from controller.cli.options import Format
from controller.cli.output import FINDINGS, UNREACHABLE, Output, console, print_json, talk
from controller.demo.monitoring import Programs, ProgramsMissing, find_programs, install_programs
from controller.demo.performance import DemoBroken, Performance, Play
from controller.demo.processes import NotInTime, ServiceFailed
from controller.demo.replay import replayed
from controller.demo.scenery import DEMO_SITE
from controller.demo.story import arranged
from controller.demo.summary import Summary
from controller.traces.read import read_trace

_LOOK_SECONDS = 0.5


def demo(
    duration: Annotated[
        str | None,
        typer.Option(
            "--for", help="End by itself after so long, such as 120s; without it: until Ctrl-C.", metavar="TIME"
        ),
    ] = None,
    time_scale: Annotated[
        float, typer.Option("--time-scale", min=1.0, max=600.0, help="So many times faster than real time.")
    ] = 120.0,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            help="Replay this trace instead of generated work: CSV, plain or gzip, with the columns timestamp, "
            "duration (seconds), num_gpus, cluster (who submitted).",
            metavar="FILE",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another day.")] = 1,
    listen: Annotated[str, typer.Option("--listen", help="Address of the status page. Port 0: any free one.")] = (
        "127.0.0.1:0"
    ),
    output: Format = Output.TEXT,
) -> None:
    """Watch the whole loop work, without a cluster: a tenant starves, an alert rings, quota moves, it helped.

    Real: Prometheus and Alertmanager with the generated rules, the collector, the doorbell, the loop and its decisions.
    Simulated: the cluster, and the values of its GPU, Ceph and RDMA exporters. Later a disk of the storage gets slow,
    and the loop names it and moves no quota for it.

    It runs until Ctrl-C, or for as long as --for says; the two events come again every three minutes. Look for the four
    marks in the last line: all are there after about a minute. Times on the screen are real ones.

    Exit code 0 when an alert was delivered, a change was made, one helped, and none followed a wrong cause; else 1.
    Everything that was started is stopped at the end.

    Example: trimtab demo --for 120s -o json
    """
    seconds = None if duration is None else _seconds(duration)
    address = listen_address(listen)
    scenery, story = (DEMO_SITE, arranged(seed)) if trace is None else replayed(read_trace(trace).jobs, seed)
    play = Play(scenery, story, time_scale, seed, address)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        summary, closing = _played(play, stop, seconds, output)
    except ListenError as error:
        raise InputError((Mistake("--listen", repr(listen), f"an address that is free ({error})"),)) from error
    except (ProgramsMissing, ServiceFailed, NotInTime, DemoBroken) as error:
        talk(str(error))
        raise typer.Exit(UNREACHABLE) from None
    if output is Output.JSON:
        print_json(summary.document())
    else:
        console().print(closing)
    raise typer.Exit(0 if summary.passed else FINDINGS)


def _played(play: Play, stop: threading.Event, seconds: float | None, output: Output) -> tuple[Summary, RenderableType]:
    """What it came to, and the closing words; everything has been stopped by then."""
    with Performance(play, _programs(), talk) as performance:
        _watch(performance, stop, seconds, output)
        summary = summary_of(performance)
        return summary, closing_words(summary, performance.chronicle.told(), performance.cluster.begins_at)


def summary_of(performance: Performance) -> Summary:
    """What there is to say so far."""
    chronicle, play = performance.chronicle, performance.play
    return Summary(
        alerts_fired=performance.board.alerts_fired,
        changes=len(chronicle.changes),
        verdicts=chronicle.verdict_counts(),
        wrong_cause=tuple(chronicle.wrong_cause_changes),
        storage_fault_named=bool(chronicle.storage_named),
        seconds=performance.elapsed_seconds,
        time_scale=play.time_scale,
        seed=play.seed,
    )


def _watch(performance: Performance, stop: threading.Event, seconds: float | None, output: Output) -> None:
    """Show what goes on until it is over. Raises DemoBroken."""
    until = "until Ctrl-C" if seconds is None else f"for {format_duration(seconds)}"
    talk(f"running {until}; Prometheus {performance.prometheus_url}")
    out = console()
    with _live(out, output) as live:
        while not stop.wait(_LOOK_SECONDS):
            performance.check()
            if live is not None:
                live.update(screen(performance, summary_of(performance), seconds, out), refresh=True)
            if seconds is not None and performance.elapsed_seconds >= seconds:
                return


def _live(out: Console, output: Output) -> AbstractContextManager[Live | None]:
    """A screen of its own on a terminal; nothing between start and end for scripts and files."""
    if output is Output.JSON or not out.is_terminal:
        return nullcontext()
    return Live(console=out, screen=True, auto_refresh=False)


def _programs() -> Programs:
    found = find_programs()
    if found is None:
        talk("Prometheus or Alertmanager is not here: installing them")
        found = install_programs()
    return found


def _seconds(text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise InputError((Mistake("--for", repr(text), "a duration such as 120s or 5m"),)) from error
    if seconds <= 0:
        raise InputError((Mistake("--for", repr(text), "a duration above 0"),))
    return seconds

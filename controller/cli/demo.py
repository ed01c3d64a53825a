"""`trimtab demo`: the whole loop on a simulated cluster, live, with a real Prometheus and a real Alertmanager."""

from __future__ import annotations

import shutil
import tempfile
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import Console, RenderableType
from rich.live import Live

from collector.exporter.http import ListenError
from collector.model.quantities import counted, format_duration
from controller.api.errors import InputError, Mistake
from controller.cli.demo_screen import closing_words, screen
from controller.cli.listening import listen_address, not_free
from controller.cli.options import Format
from controller.cli.output import FINDINGS, UNREACHABLE, Failed, Output, console, print_json, talk
from controller.cli.stopping import stop_event
from controller.cli.values import duration_for, path_for, time_scale_for
from controller.demo.monitoring import Programs, ProgramsMissing, find_programs, install_programs
from controller.demo.performance import DemoBroken, Performance, Play
from controller.demo.processes import NotInTime, ServiceFailed
from controller.demo.replay import replayed
from controller.demo.scenery import DEMO_SITE, Scenery
from controller.demo.story import Story, arranged
from controller.demo.summary import Summary
from controller.traces.read import read_trace

_LOOK_SECONDS = 0.5
_HIGHEST_TIME_SCALE = 600.0
_LEAST_ROOM_BYTES = 256 * 2**20

Duration: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--for",
        parser=duration_for("--for", 1.0, 7 * 86400.0, "a duration from 1s to 7d, such as 120s or 5m"),
        help="End by itself after so long, such as 120s; without it: until Ctrl-C.",
        metavar="TIME",
    ),
]
DemoTimeScale: TypeAlias = Annotated[
    float,
    typer.Option(
        "--time-scale",
        parser=time_scale_for("--time-scale", _HIGHEST_TIME_SCALE),
        help="So many times faster than real time, from 1 to 600.",
    ),
]
TraceFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        parser=path_for("--trace"),
        help="Replay this trace instead of generated work: a CSV as for trimtab simulate, plain or gzip: tenant, "
        "submitted (ISO, such as 2017-10-09 07:01:55), run_seconds, gpus; or a published trace.",
        metavar="FILE",
    ),
]


def demo(
    duration: Duration = None,
    time_scale: DemoTimeScale = 120.0,
    trace: TraceFile = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31, help="Another seed, another day.")] = 1,
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
    address = listen_address(listen)
    scenery, story = (DEMO_SITE, arranged(seed)) if trace is None else _replayed(trace, seed)
    _check_room()
    play = Play(scenery, story, time_scale, seed, address)
    stop = stop_event()
    try:
        summary, closing = _played(play, stop, duration, output)
    except ListenError as error:
        raise not_free(listen, error) from error
    except (ProgramsMissing, ServiceFailed, NotInTime, DemoBroken) as error:
        raise Failed(f"The demo can not go on: {error}.", UNREACHABLE) from None
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


def _replayed(file: Path, seed: int) -> tuple[Scenery, Story]:
    """The trace as a demonstration; says what of it is not replayed. Raises InputError."""
    trace = read_trace(file)
    for reason, count in sorted(trace.skipped.items()):
        talk(f"{file}: left out {counted(count, 'row')}: {reason}")
    scenery, story = replayed(trace.jobs, seed)
    talk(
        f"{file}: replaying {len(story.submissions)} of {len(trace.jobs)} jobs: one day of its "
        f"busiest tenants ({len(scenery.tenants)}), without jobs that are larger than this cluster can give at once"
    )
    return scenery, story


def _check_room() -> None:
    """Prometheus, without room, would say anything but that. Raises InputError."""
    expected = f"a folder with at least {_LEAST_ROOM_BYTES // 2**20} MiB free for what Prometheus keeps meanwhile"
    try:
        folder = tempfile.gettempdir()
        free_bytes = shutil.disk_usage(folder).free
    except OSError:
        raise InputError((Mistake("TMPDIR", "no folder that can be written to", expected),)) from None
    if free_bytes < _LEAST_ROOM_BYTES:
        raise InputError((Mistake(f"TMPDIR {folder}", f"{free_bytes // 2**20} MiB free", expected),))


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

"""The verb `collect`: what one exporter, tool output or folder says, in our names, and what became of every sample."""

from __future__ import annotations

import stat
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from collector.assemble.between import with_shares
from collector.model.collected import Collected, SampleCounts
from collector.parse.collect import Circumstances, SourceKind, collect_text
from collector.parse.rdma_files import rdma_readings
from collector.sources.rdma_sysfs import read_rdma_files
from collector.sources.scrape import ScrapeFailed, ScrapeFault, ScrapeLimits, Scraper, target_label
from controller.api.errors import InputError, Mistake
from controller.cli.collect_output import collected_record, print_collected
from controller.cli.output import BAD_INPUT, OK, UNREACHABLE, Failed, print_json, talk
from controller.cli.values import duration_for, path_for, words_for
from controller.runtime.configuration import Configuration

_LARGEST_BYTES: Final = 256 * 1024 * 1024
_UNUSABLE: Final = frozenset({ScrapeFault.NOT_TEXT, ScrapeFault.EMPTY, ScrapeFault.TOO_LARGE})
"""The source answered, and nothing in the answer can be read."""
_SCRAPE_FAULTS: Final = {
    ScrapeFault.REFUSED: "no answer: nobody listens there, or the connection broke before one",
    ScrapeFault.UNRESOLVED: "there is no host of that name",
    ScrapeFault.TIMEOUT: "no answer in time",
    ScrapeFault.CUT_OFF: "the connection broke before the answer was complete",
    ScrapeFault.NOT_TEXT: "the answer is no text",
    ScrapeFault.EMPTY: "an empty answer",
}


class Form(StrEnum):
    """For people or for scripts."""

    TABLE = "table"
    JSON = "json"


def collect(
    source: Annotated[
        str,
        typer.Option(
            "--from",
            parser=words_for("--from", "a file, an address or a folder"),
            help="A file, - for standard input, an address, or a folder of /sys.",
            metavar="WHERE",
        ),
    ],
    kind: Annotated[
        SourceKind, typer.Option("--as", help="What it is; auto finds out by what it says.")
    ] = SourceKind.AUTO,
    node: Annotated[str, typer.Option("--node", help="Name of the node, where the source does not tell it.")] = "",
    rename: Annotated[
        list[str] | None,
        typer.Option("--rename", help="THEIRS=DEFAULT: a metric that this site has renamed (may be repeated)."),
    ] = None,
    again: Annotated[
        float | None,
        typer.Option(
            "--again",
            parser=duration_for("--again", 0.001, 3600.0, "a duration up to 1h, such as 10s"),
            help="Read the address twice, so long apart (10s), for shares of time.",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        list[Path] | None,
        typer.Option(
            "--config",
            parser=path_for("--config"),
            help="Tenant documents, which name the tenant of a namespace.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Form, typer.Option("--output", "-o", help="A table for people, or JSON for scripts.")
    ] = Form.TABLE,
) -> None:
    """Read one source as the collector would: every vendor's metrics under one set of names and units.

    Each number is known, or unknown with its reason. Every sample is accounted for: read = used + passed + dropped,
    with a reason for each that was dropped. Which names are understood stands in docs/reference/spellings.md.

    Example: [bold]trimtab collect --from http://node-1:9400/metrics -o json[/bold]

    Exit code 0: read, even if parts of it are bad; 2: nothing in it could be read; 3: the source can not be reached.
    """
    asked = _Asked(source, kind, node, _tenants(config or ()), _renames(rename or ()))
    found = _collected(asked) if again is None else _collected_twice(asked, again)
    if output is Form.JSON:
        print_json(collected_record(found))
    else:
        print_collected(found)
    if found.samples.used + found.samples.passed == 0:
        talk(f"{source}: nothing in it could be read{_first_reason(found.samples)}")
        raise typer.Exit(BAD_INPUT)
    raise typer.Exit(OK)


@dataclass(frozen=True, slots=True)
class _Asked:
    source: str
    kind: SourceKind
    node: str
    tenants: Mapping[str, str]
    renames: Mapping[str, str]

    @property
    def is_address(self) -> bool:
        return self.source.startswith(("http://", "https://"))


def _collected_twice(asked: _Asked, apart_seconds: float) -> Collected:
    if not asked.is_address:
        raise InputError(
            (Mistake("--again", asked.source, "an address in --from: only that changes from one look to the next"),)
        )
    earlier, started = _collected(asked), time.monotonic()
    time.sleep(apart_seconds)
    later = _collected(asked)
    return with_shares(earlier, later, time.monotonic() - started)


def _collected(asked: _Asked) -> Collected:
    source, kind = asked.source, asked.kind
    around = Circumstances(time.time() if asked.is_address else None, asked.node, asked.tenants, asked.renames)
    if asked.is_address:
        return collect_text(_fetched(source), kind, around)
    if source == "-":
        return collect_text(_bounded(sys.stdin.buffer, asked), kind, around)
    path = Path(source)
    try:
        if path.is_dir() and kind in (SourceKind.AUTO, SourceKind.SYSFS):
            return rdma_readings(read_rdma_files(path), asked.node, time.time())
        # A pipe might hang, and a device never end: only a regular file is opened.
        if stat.S_ISREG(path.stat().st_mode) and kind is not SourceKind.SYSFS:
            with path.open("rb") as file:
                return collect_text(_bounded(file, asked), kind, around)
        raise InputError((Mistake("--from", source, _expected(kind)),))
    except FileNotFoundError:
        raise _unreachable(source, "there is no such file or folder") from None
    except PermissionError:
        raise _unreachable(source, "no right to read it") from None
    except OSError:
        raise _unreachable(source, "it can not be read") from None


def _bounded(file: BinaryIO, asked: _Asked) -> str:
    """All of it as text, read to the bound and not beyond. Raises InputError when there is more."""
    data = file.read(_LARGEST_BYTES + 1)
    if len(data) > _LARGEST_BYTES:
        raise InputError((Mistake("--from", asked.source, _expected(asked.kind)),))
    return data.decode(errors="replace")


def _expected(kind: SourceKind) -> str:
    if kind is SourceKind.SYSFS:
        return "a folder such as /sys/class/infiniband"
    return f"a file of at most {_LARGEST_BYTES // 2**20} MiB, or an address; folders are for sysfs"


def _unreachable(source: str, why: str) -> Failed:
    return Failed(f"{source}: {why}", UNREACHABLE)


def _fetched(url: str) -> str:
    scraper = Scraper(ScrapeLimits(body_bytes=_LARGEST_BYTES, total_seconds=30.0, whole_last_line=False))
    try:
        result = scraper.scrape(url)
    finally:
        scraper.close()
    if isinstance(result, ScrapeFailed):
        words = _SCRAPE_FAULTS.get(result.fault)
        said = f"{target_label(url)}: {words}" if words else result.sentence
        raise Failed(said, BAD_INPUT if result.fault in _UNUSABLE else UNREACHABLE)
    return result.text


def _tenants(config: Sequence[Path]) -> dict[str, str]:
    if not config:
        return {}
    site = Configuration(config).load().site
    return {namespace: tenant.name for tenant in site.tenants for namespace in tenant.members.namespaces}


def _renames(pairs: Sequence[str]) -> dict[str, str]:
    renames: dict[str, str] = {}
    for pair in pairs:
        theirs, sign, default = pair.partition("=")
        if not (theirs and sign and default):
            raise InputError((Mistake("--rename", pair, "two names, such as board_watts=power_usage"),))
        renames[theirs] = default
    return renames


def _first_reason(samples: SampleCounts) -> str:
    reasons = ", ".join(f"{count} × {reason}" for reason, count in sorted(samples.dropped.items()))
    return f": {reasons}" if reasons else ": it holds no sample"

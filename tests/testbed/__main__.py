"""`python -m tests.testbed build|up|down|status|drive`: the testbed from the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from controller.demo.processes import NotInTime, ServiceFailed
from tests.testbed import build
from tests.testbed.api import KubeApi
from tests.testbed.bed import NEEDS, Testbed, UnknownPart, start_order
from tests.testbed.driver import READERS, BadTrace, Driver, plan, tenants_of, window_of
from tests.testbed.parts import GO_PARTS, PartMissing

_FOLDER = Path(__file__).with_name(".run")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb; 0 done, 1 a part could not be built or started, 2 bad input."""
    options = _parser().parse_args(arguments)
    verbs: Mapping[str, Callable[[argparse.Namespace], None]] = {
        "build": _build,
        "up": _up,
        "down": _down,
        "status": _status,
        "drive": _drive,
    }
    try:
        verbs[options.verb](options)
    except (UnknownPart, BadTrace, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    except (PartMissing, build.BuildFailed, ServiceFailed, NotInTime) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.testbed", description=__doc__)
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="where data, logs and pid files go")
    verbs = parser.add_subparsers(dest="verb", required=True)
    builder = verbs.add_parser("build", help="build Go parts into the user's cache")
    builder.add_argument("parts", nargs="*", metavar="PART", help=", ".join(GO_PARTS))
    builder.add_argument("--all", action="store_true", help="all of them, the cheap ones first")
    for verb, does in (("up", "start parts and what they need, and leave them running"), ("down", "stop parts")):
        one = verbs.add_parser(verb, help=does)
        one.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(NEEDS)}; by default all")
    verbs.add_parser("status", help="show what runs, and where")
    _add_drive(verbs.add_parser("drive", help="replay a window of a real trace as Jobs"))
    return parser


def _add_drive(driver: argparse.ArgumentParser) -> None:
    driver.add_argument("--trace", choices=sorted(READERS), default="philly")
    driver.add_argument("--file", type=Path, help="the trace; by default in the shared folder")
    driver.add_argument("--from", dest="start", type=datetime.fromisoformat, required=True, metavar="ISO")
    driver.add_argument("--to", dest="end", type=datetime.fromisoformat, required=True, metavar="ISO")
    driver.add_argument("--time-scale", type=float, default=60.0, help="the trace runs so many times faster")
    driver.add_argument(
        "--engine",
        choices=["kueue", "native"],
        default="kueue",
        help="a queue name, or class borrow beyond the guarantee",
    )
    driver.add_argument("--guarantee", type=int, default=8, help="native: GPUs that each tenant is guaranteed")
    driver.add_argument("--max-gpus", type=int, help="leave out larger gangs")
    driver.add_argument("--kubeconfig", type=Path, help="by default the one of the testbed in --folder")
    driver.add_argument(
        "--tenant",
        action="append",
        required=True,
        metavar="NAME[=VIRTUAL_CLUSTER]",
        help="a namespace and LocalQueue for one virtual cluster; without =, for the busiest that is left",
    )


def _build(options: argparse.Namespace) -> None:
    names = list(GO_PARTS) if options.all else options.parts
    unknown = [name for name in names if name not in GO_PARTS]
    if unknown or not names:
        raise UnknownPart(f"build what? {', '.join(unknown)}; there are {', '.join(GO_PARTS)}, or --all")
    for name in names:
        built = build.get(GO_PARTS[name])
        print(f"{name} {GO_PARTS[name].version}: {next(iter(built.binaries.values())).parent}", flush=True)


def _up(options: argparse.Namespace) -> None:
    bed = Testbed(options.folder, tethered=False)
    for name in start_order(options.parts or list(NEEDS)):
        bed.start(name)
        print(_addresses(bed, name), flush=True)


def _down(options: argparse.Namespace) -> None:
    start_order(options.parts)  # refuses a name that is no part
    Testbed(options.folder, tethered=False).stop(*options.parts)


def _status(options: argparse.Namespace) -> None:
    bed = Testbed(options.folder, tethered=False)
    table = Table("part", "program", "pid")
    where = []
    for name in NEEDS:
        running = [(one.name, one.identity) for one in bed.part(name).services]
        rows = [(name, program, str(identity.pid)) for program, identity in running if identity is not None]
        for row in rows:
            table.add_row(*row)
        if rows:
            where.append(_addresses(bed, name))
    console = Console()
    console.print(table if where else "nothing runs")
    console.print("\n".join(where), soft_wrap=True, highlight=False)


def _drive(options: argparse.Namespace) -> None:
    shared = Path(os.environ.get("TRIMTAB_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    trace = options.file or shared / "traces" / options.trace / f"{options.trace}.csv.gz"
    window = window_of(READERS[options.trace](trace), options.start, options.end)
    jobs = plan(window, options.start, tenants_of(window, options.tenant), options.time_scale, options.max_gpus)
    kubeconfig = options.kubeconfig or Testbed(options.folder, tethered=False).kubernetes.kubeconfig
    guarantees = {job.tenant: options.guarantee for job in jobs.jobs} if options.engine == "native" else None
    driver = Driver(KubeApi.from_kubeconfig(kubeconfig), jobs, guarantees)
    print(f"{len(jobs.jobs)} of {len(window)} jobs to submit", file=sys.stderr)
    print(json.dumps(driver.run().as_dict()))


def _addresses(bed: Testbed, name: str) -> str:
    return "\n".join(f"{name} {what}: {address}" for what, address in bed.part(name).addresses.items())


if __name__ == "__main__":
    sys.exit(main())

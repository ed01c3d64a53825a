"""The command `trimtab`: which verbs there are, and the outermost frame, in which every error ends as an exit code.

Exit codes: 0 ok, 1 findings or goal missed, 2 bad input, 3 source unreachable, 4 refused; 70 a fault of ours, 74 the
answer can not be written, 130 stopped by a person, 141 nobody reads the answer. Knows nothing of any verb but its name.
Imports nothing heavy by itself, so that a person who stops it while it still loads is answered like any other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from controller.cli.verb import Verb

_BAD_INPUT: Final = 2
_STOPPED: Final = 130
_READER_GONE: Final = 141

VERBS: Final = (
    Verb("look", "controller.cli.look:look", "One screen: where every GPU stands, who waits and why, what is wrong."),
    Verb("waits", "controller.cli.waits:waits", "Everything that waits, the longest first, each with its reason."),
    Verb("explain", "controller.cli.explain:explain", "Why a workload waits, how a tenant stands, what a change did."),
    Verb("status", "controller.cli.status:status", "What the controller said last: findings, changes, verdicts."),
    Verb("plan", "controller.cli.plan:plan", "What would be decided right now, and why not; writes nothing."),
    Verb("pause", "controller.cli.pause:pause", "No new changes from now on."),
    Verb("resume", "controller.cli.pause:resume", "Allow new changes again."),
    Verb("revert", "controller.cli.revert:revert", "Undo a change, a tenant's, or all: the kill switch."),
    Verb("collect", "controller.cli.collect:collect", "What an exporter, probe or /sys says, in one set of names."),
    Verb("probe run", "controller.cli.probe:run", "Measure RDMA between two nodes now, on every rail they share."),
    Verb("probe list", "controller.cli.probe:list_links", "What slow links between NICs point at, and the worst."),
    Verb("doctor sources", "controller.cli.doctor:sources", "Is each source reached, what is missing, how to fix it."),
    Verb("validate", "controller.cli.validate:validate", "Check Tenant and Policy documents."),
    Verb("demo", "controller.cli.demo:demo", "The whole loop on a simulated cluster, until Ctrl-C."),
    Verb("simulate", "controller.cli.simulate:simulate", "A recorded workload under a fixed setting: who would wait."),
    Verb("replay", "controller.cli.replay:replay", "What a policy would have done with what really happened."),
    Verb("whatif", "controller.cli.whatif:whatif", "Other quotas on what really happened, in one sentence."),
    Verb("evaluate", "controller.cli.evaluate:evaluate", "Measure against what others reach, on public traces."),
    Verb("render baseline", "controller.cli.render:render_baseline", "The manifest that the kill switch goes back to."),
    Verb("render rbac", "controller.cli.render:render_rbac", "Service accounts and roles, as few rights as can be."),
    Verb("render rules", "controller.cli.render:render_rules", "Prometheus rules with this site's own objectives."),
    Verb("report weekly", "controller.cli.report:weekly", "Where every GPU-hour of a week went, as a page or JSON."),
    Verb("accounting list", "controller.cli.accounting:list_rows", "What happened to workloads and policy changes."),
    Verb("accounting export", "controller.cli.accounting:export", "The whole history as CSV or Parquet."),
    Verb("run controller", "controller.cli.run_controller:run_controller", "The loop: watch, decide, steer."),
    Verb("run collector", "controller.cli.run_collector:run_collector", "Metrics per tenant, queue and pool."),
    Verb("run janitor", "controller.cli.run_janitor:run_janitor", "End what has outlived its time; for a CronJob."),
)

_GROUPS: Final = {
    "doctor": "Find out why something is not seen.",
    "accounting": "Read the history of workloads and policy changes that the collector keeps.",
    "probe": "Measure RDMA between nodes whose collectors run with --probes.",
    "render": "Print a manifest or rule file made from the documents.",
    "report": "Write a report to send.",
    "run": "Run one of the long-lived programs.",
}


def main() -> NoReturn:
    """Entry point of `trimtab` and of `kubectl trimtab`."""
    name = "kubectl trimtab" if Path(sys.argv[0]).name.startswith("kubectl-") else "trimtab"
    code = run(sys.argv[1:], name)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # as it is where whoever calls has closed it
                stream.flush()
        except OSError:
            # Said already where that was possible; the interpreter would say it again, with another exit code.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def run(arguments: Sequence[str], name: str = "trimtab") -> int:
    """Carry out one command line; the exit code. The only place where every error is caught."""
    try:
        from controller.cli.command_line import carry_out

        return carry_out(VERBS, _GROUPS, arguments, name)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # so ends the library that prints the help
            return _READER_GONE
        return end.code if isinstance(end.code, int) else _BAD_INPUT
    except KeyboardInterrupt:
        return _STOPPED
    except Exception as error:
        from controller.cli.failure import tell

        return tell(error, arguments)

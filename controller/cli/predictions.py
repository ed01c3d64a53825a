"""What `plan` predicts: when waiting work would start, as it is and with its moves. Asks only the history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from collector.model.quantities import format_duration, format_time
from collector.model.reading import Known, Reading
from collector.model.snapshot import Snapshot, Work
from collector.model.tenancy import Engine
from controller.cli.output import left, right, section, table
from controller.policy.change import Change
from controller.policy.targets import Target
from controller.simulate.ahead import DRAWS, Ahead, Future, future
from controller.simulate.learned_runs import LearnedRuns

_SHOWN: Final = 20
_NOTE: Final = f"median, and a tenth to nine tenths of {DRAWS} draws; as if nothing more were handed in"
_NOT_KUEUE: Final = "only pools of Kueue are run forward"


def learned_from(accounting: str, cluster: str) -> LearnedRuns:
    """Run times of what has ended. Raises InputError and StoreProblem."""
    from collector.accounting.store import Wanted
    from controller.cli.accounting_store import open_store, the_cluster
    from controller.traces.history import jobs_of_transitions

    store = open_store(accounting)
    wanted = Wanted(the_cluster(store, None if cluster == "default" else cluster))
    jobs = jobs_of_transitions(store.transitions(wanted), Counter(), None)
    return LearnedRuns.of((job.tenant, job.gpus, job.run_seconds) for job in jobs)


def predictions(
    snapshot: Snapshot, targets: Sequence[Target], changes: Sequence[Change], learned: LearnedRuns
) -> list[dict[str, Any]]:
    """For each pool in which anything waits, as plain JSON values; null where nothing is known, with the reason."""
    found = []
    for name, state in sorted(snapshot.pools.items()):
        own = [change for change in changes if change.pool == name]
        works = {work.key: work for work in snapshot.works if work.pool == name}
        if state.pool.engine is not Engine.KUEUE:
            if any(work.waits for work in works.values()):
                found.append({"pool": name, "changes": [], "unknown": _NOT_KUEUE, "starts": [], "evicted": []})
            continue
        levels = {
            one.name: one.observed.value for one in targets if one.pool == name and isinstance(one.observed, Known)
        }
        stays = future(snapshot, name, (levels, levels), learned)
        moved = future(snapshot, name, (levels, _moved(levels, own)), learned) if own else stays
        if stays.starts:
            found.append(_pool(name, own, works, (stays, moved)))
    return found


def _moved(levels: Mapping[str, int], changes: Iterable[Change]) -> Mapping[str, int]:
    """Levels once all of these changes are in force."""
    after = dict(levels)
    for change in changes:
        for name, gpus in ((change.source, -change.amount), (change.destination, change.amount)):
            if name in after:
                after[name] += gpus
    return after


def _pool(
    name: str, changes: Sequence[Change], works: Mapping[str, Work], sides: tuple[Future, Future]
) -> dict[str, Any]:
    stays, moved = sides
    named = [one.key for change in changes for one in change.forecast.ready]
    keys = sorted(stays.starts, key=lambda key: (key not in named, works[key].created_at, key))
    evicted = sorted({*stays.evicted, *moved.evicted}, key=lambda key: (-moved.evicted.get(key, 0.0), key))
    return {
        "pool": name,
        "changes": [change.id for change in changes],
        "unknown": None,
        "starts": [
            {
                **_work(works[key]),
                "waited_seconds": works[key].waited_seconds,
                "named": key in named,
                "as_it_is": _document(stays.starts[key]),
                "changed": _document(moved.starts[key]),
                "unknown": _reason(stays.starts[key]),
            }
            for key in keys
        ],
        "evicted": [
            {
                **_work(works[key]),
                "as_it_is_ratio": stays.evicted.get(key, 0.0),
                "changed_ratio": moved.evicted.get(key, 0.0),
            }
            for key in evicted
        ],
    }


def _work(work: Work) -> dict[str, Any]:
    return {"work": work.title, "tenant": work.tenant, "gpus": work.gpus}


def _document(reading: Reading[Ahead]) -> dict[str, float] | None:
    if not isinstance(reading, Known):
        return None
    found = reading.value
    return {"median_seconds": found.median, "low_seconds": found.low, "high_seconds": found.high}


def _reason(reading: Reading[Ahead]) -> str | None:
    return None if isinstance(reading, Known) else reading.reason


def print_predictions(out: Console, found: Sequence[Mapping[str, Any]] | None) -> None:
    """For people: the named ones first."""
    if found is None:
        out.print(Text("Predicted waits: not known without a history of what ran how long (--accounting)."))
        return
    for pool in found:
        title = f"Predicted starts in pool {pool['pool']}"
        if pool["unknown"] is not None:
            out.print(section(title, Text(f"not known: {pool['unknown']}")))
            continue
        columns = map(right, ("GPUs", "waited", "starts in", "with the changes"))
        rows = table(left("work"), *columns, left(""))
        for one in pool["starts"][:_SHOWN]:
            cells = (one["work"], str(one["gpus"]), format_duration(one["waited_seconds"]))
            rows.add_row(*cells, _told(one["as_it_is"]), _told(one["changed"]), one["unknown"] or "")
        lines = [Text(_victim(one)) for one in pool["evicted"][:_SHOWN]]
        out.print(section(title, rows, *lines, Text(_NOTE, style="italic")))


def forecasts(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Who should start by when for each move, and who may be evicted for it, by name."""
    return [
        {
            "change": change.id,
            "ready": [work.title for work in change.forecast.ready],
            "ready_by": format_time(change.forecast.ready_by),
            "evicted": [work.title for work in change.forecast.evicted],
            "lost_gpu_hours": change.forecast.lost_gpu_hours,
        }
        for change in changes
    ]


def _victim(one: Mapping[str, Any]) -> str:
    changed, as_it_is = one["changed_ratio"], one["as_it_is_ratio"]
    return f"may be evicted: {one['work']} in {changed:.0%} of the draws ({as_it_is:.0%} as it is)"


def _told(found: Mapping[str, float] | None) -> str:
    if found is None:
        return "not known"
    low, high = format_duration(found["low_seconds"]), format_duration(found["high_seconds"])
    return f"{format_duration(found['median_seconds'])} ({low} … {high})"

"""The answer to a what-if in one sentence that can be read out in a meeting. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from collector.model.quantities import counted, format_duration
from controller.evaluate.counterfactual import Comparison, Effect, Felt, Spread

_NAMED: Final = 3
_FELT: Final = {Felt.SHORTER: "less", Felt.LONGER: "more"}


def quota_sentence(answer: Comparison, shifts: Mapping[str, int], span: str) -> str:
    """What moving quota would have done: each tenant of `shifts` by name, then whoever else would have felt it."""
    named = [f"{tenant} {waits(answer.tenants[tenant], answer.question.seeds)}" for tenant in shifts]
    others = {name: effect for name, effect in answer.tenants.items() if name not in shifts}
    return f"{_moved(shifts)}, {span}: {'; '.join(named)}; {_others(others)}."


def policy_sentence(answer: Comparison, after: str, before: str, span: str) -> str:
    """What a policy would have done instead of what was agreed."""
    made = answer.changes
    changes = "" if made is None else f" with {_range(made)} changes"
    return (
        f"{after}{changes} instead of {before}, {span}: all {waits(answer.all, answer.question.seeds)}; "
        f"{_others(answer.tenants, 'tenants')}."
    )


def waits(effect: Effect, seeds: int) -> str:
    """ "waits 12m instead of 1h 40m on average (1h 25m to 1h 31m less with each of 5 seeds)"."""
    wait = effect.figures["mean_wait_seconds"]
    out = f", and {counted(effect.shut_out, 'job')} could never start" if effect.shut_out else ""
    if wait.before is None or wait.after is None or wait.difference is None:
        return "hands in no job that could start" + out
    after, before = format_duration(wait.after.median), format_duration(wait.before.median)
    if effect.felt is Felt.SAME:
        return f"waits {after} on average, as before"
    if effect.felt is Felt.UNCLEAR:
        spread = f"{_signed(wait.difference.low)} to {_signed(wait.difference.high)}"
        return f"waits {after} instead of {before} on average, which may be chance ({spread} over {seeds} seeds)"
    return f"waits {after} instead of {before} on average{_sure(wait.difference, seeds)}{out}"


def _sure(difference: Spread, seeds: int) -> str:
    if seeds == 1 or (difference.low < 0) != (difference.high < 0):
        return ""
    low, high = sorted((abs(difference.low), abs(difference.high)))
    word = "less" if difference.high < 0 else "more"
    return f" ({format_duration(low)} to {format_duration(high)} {word} with each of {seeds} seeds)"


def _signed(seconds: float) -> str:
    return ("+" if seconds >= 0 else "") + format_duration(seconds)


def _range(spread: Spread) -> str:
    low, high = round(spread.low), round(spread.high)
    return str(low) if low == high else f"{low} to {high}"


def _moved(shifts: Mapping[str, int]) -> str:
    """ "Moving 32 GPUs from vision to speech"; what does not add up to nothing changes the size of the cluster."""
    given = {tenant: gpus for tenant, gpus in shifts.items() if gpus > 0}
    taken = {tenant: -gpus for tenant, gpus in shifts.items() if gpus < 0}
    if len(given) == len(taken) == 1 and sum(shifts.values()) == 0:
        return f"Moving {counted(sum(given.values()), 'GPU')} from {next(iter(taken))} to {next(iter(given))}"
    parts = [f"{counted(gpus, 'GPU')} more for {tenant}" for tenant, gpus in given.items()]
    parts += [f"{counted(gpus, 'GPU')} less for {tenant}" for tenant, gpus in taken.items()]
    more = sum(shifts.values())
    bought = f" (a cluster of {counted(abs(more), 'GPU')} {'more' if more > 0 else 'less'})" if more else ""
    return f"With {_listed(parts)}{bought}"


def _others(effects: Mapping[str, Effect], noun: str = "others") -> str:
    """Who waits longer, by name and amount, the worst first; how many wait shorter, or feel nothing."""
    by_felt: dict[Felt, list[str]] = {felt: [] for felt in Felt}
    for name, effect in effects.items():
        by_felt[effect.felt].append(name)
    if not effects:
        return "there is nobody else"
    parts = []
    for felt, word in _FELT.items():
        names = sorted(by_felt[felt], key=lambda name: (-abs(_difference(effects[name])), name))
        if names:
            shown = [f"{name} {format_duration(abs(_difference(effects[name])))}" for name in names[:_NAMED]]
            shown += [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
            parts.append(f"{len(names)} wait{'s' if len(names) == 1 else ''} {word} ({_listed(shown)})")
    unclear, same = len(by_felt[Felt.UNCLEAR]), len(by_felt[Felt.SAME])
    parts += [f"for {unclear} it can not be told from chance"] if unclear else []
    parts += [f"{same} feel{'s' if same == 1 else ''} nothing"] if same else []
    return f"of {len(effects)} {noun} {_listed(parts)}"


def _difference(effect: Effect) -> float:
    found = effect.figures["mean_wait_seconds"].difference
    return 0.0 if found is None else found.median


def _listed(parts: Sequence[str] | Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last

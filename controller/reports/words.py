"""The sentences of the report: what a budget owner needs first, and how far the data carry. Pure, stable wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from alerts.rules.attainment import LEAST_COVERAGE_RATIO
from collector.model.quantities import format_duration
from collector.model.reading import Known, Reading, Unknown
from controller.reports.model import ChangeLine, Light, PoolSplit, TenantReport, TenantUse, Window

NEGLIGIBLE_RATIO: Final = 0.005
AMBER_MISFIT_RATIO: Final = 0.005
RED_MISFIT_RATIO: Final = 0.02
RED_SEEN_RATIO: Final = 0.8
JUDGED_RATIO: Final = 0.8
"""Share of the held GPU-hours that must be judged before idle-held is said as a number and not as a range."""

VERDICTS: Final = {
    "helped": "helped",
    "no-effect": "had no effect",
    "hurt": "hurt",
    "cannot-tell": "can not be told",
    None: "is still on trial",
}
_NARROW: Final = "\u202f"


def amount(value: float) -> str:
    """A number of GPU-hours or hours as people read it: 20 160, 94.5, 0; a little is never nothing."""
    if abs(value) < 1e-6:
        return "0"
    if 0 < value < 0.05:
        return "under 0.1"
    text = f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:,.1f}"
    return text.removesuffix(".0").replace(",", _NARROW)


def percent(ratio: float) -> str:
    """A share: 71 %, 9.3 %; what is not quite all is never 100 %, what is not quite nothing never 0 %."""
    value = 100 * ratio
    if 99.5 <= value < 100:
        return f"{min(value, 99.99):.2f} %"
    if 0 < value < 0.1:
        return "under 0.1 %"
    return f"{value:.1f} %" if 0 < value < 10 else f"{value:.0f} %"


def idle_held(use: TenantUse) -> str:
    """Idle-held GPU-hours as a number, a lower bound, or a range, the more was not judged."""
    if isinstance(use.idle_held, Unknown):
        return "not known"
    low = use.idle_held.value
    if use.unjudged <= (1 - JUDGED_RATIO) * use.held:
        return _least(use.unjudged, use.held) + amount(low)
    return f"{amount(low)} to {amount(low + use.unjudged)}"


def sentences(
    pools: Sequence[PoolSplit], tenants: Sequence[TenantReport], changes: Reading[tuple[ChangeLine, ...]]
) -> tuple[str, ...]:
    """Where the GPU-hours went; who got what was promised, and who waited; what Trimtab did about it."""
    return _capacity_sentence(pools, tenants), _promise_sentence(tenants), _change_sentence(changes)


def _capacity_sentence(pools: Sequence[PoolSplit], tenants: Sequence[TenantReport]) -> str:
    capacity = sum(pool.capacity.value for pool in pools if isinstance(pool.capacity, Known))
    if capacity <= 0:
        return "Nothing was seen of any GPU in this window."
    held, free = sum(pool.held for pool in pools), sum(pool.free for pool in pools)
    parts = [f"tenants held {_share(held, capacity)}", f"{_share(free, capacity)} stood free"]
    unusable = sum(pool.unusable_total for pool in pools)
    if unusable:
        parts.append(f"{_share(unusable, capacity)} were out of use")
    not_seen = sum(pool.not_seen for pool in pools)
    if not_seen:
        parts.append(f"of {_share(not_seen, capacity)} nobody knows")
    return f"Of {amount(capacity)} GPU-hours {_listed(parts)}; {_idle_words(held, tenants)}."


def _idle_words(held: float, tenants: Sequence[TenantReport]) -> str:
    uses = [use for tenant in tenants for use in tenant.uses]
    known = [use.idle_held.value for use in uses if isinstance(use.idle_held, Known)]
    unjudged = sum(use.unjudged for use in uses)
    if held <= 0:
        return "nobody held any"
    if unjudged >= held or not known:
        return "how much of what was held computed nothing is not known"
    return f"{_least(unjudged, held)}{_share(sum(known), held)} of what was held computed nothing"


def _promise_sentence(tenants: Sequence[TenantReport]) -> str:
    return f"{_promise_words(tenants)}; {_wait_words(tenants)}."


def _promise_words(tenants: Sequence[TenantReport]) -> str:
    judged = [(tenant.name, use) for tenant in tenants for use in tenant.uses if use.kept is not None]
    if judged:
        broken = [(name, use) for name, use in judged if not use.kept]
        if not broken:
            return "Every promise of a start in time that could be judged was kept"
        named = _listed(
            [f"{name} in {use.pool} ({_attained(use)} of {percent(use.target or 0)})" for name, use in broken]
        )
        return (
            f"{len(judged) - len(broken)} of {len(judged)} promises of a start in time were kept, not those to {named}"
        )
    served = [
        (use.attainment.value, tenant.name, use.pool)
        for tenant in tenants
        for use in tenant.uses
        if isinstance(use.attainment, Known)
    ]
    if not served:
        return "Whether work started in time could not be judged for any tenant"
    worst, name, pool = min(served)
    if worst >= 1.0:
        return "All entitled demand was served in time"
    return f"Worst served was {name} in {pool}: {percent(worst)} of its entitled demand in time"


def _attained(use: TenantUse) -> str:
    return percent(use.attainment.value) if isinstance(use.attainment, Known) else "?"


def _wait_words(tenants: Sequence[TenantReport]) -> str:
    waited = [t.waits.waited_hours.value for t in tenants if isinstance(t.waits.waited_hours, Known)]
    if not waited:
        return "how long work waited is not known"
    least = "at least " if any(tenant.waits.at_least for tenant in tenants) else ""
    words = f"work waited {least}{amount(sum(waited))} hours in all"
    oldest = [
        (t.waits.oldest_wait_seconds.value, t.name) for t in tenants if isinstance(t.waits.oldest_wait_seconds, Known)
    ]
    longest, name = max(oldest, default=(0.0, ""))
    if longest > 0:
        words += f", the longest {format_duration(longest)} (tenant {name})"
    evicted = [t.waits.evictions.value for t in tenants if isinstance(t.waits.evictions, Known)]
    return f"{words}, and was {_evicted(round(sum(evicted)))}" if evicted else words


def _change_sentence(changes: Reading[tuple[ChangeLine, ...]]) -> str:
    if isinstance(changes, Unknown):
        return f"What Trimtab changed is not known: {changes.reason}."
    made = [change for change in changes.value if not change.before_window]
    if not made:
        return "Trimtab changed nothing."
    counts = Counter(change.verdict for change in made)
    results = _listed([f"{counts[verdict]} {words}" for verdict, words in VERDICTS.items() if counts[verdict]])
    return f"Trimtab made {len(made)} {'change' if len(made) == 1 else 'changes'}: {results}."


def judged(
    window: Window,
    pools: Sequence[PoolSplit],
    tenants: Sequence[TenantReport],
    changes: Reading[tuple[ChangeLine, ...]],
    note: str,
) -> tuple[Light, tuple[str, ...]]:
    """The light of the data, and each reason why it is not green; the worst reason decides."""
    found = [*_pool_doubts(pools), *_tenant_doubts(tenants)]
    if not window.closed:
        found.append((Light.AMBER, "the window has not ended yet"))
    if isinstance(changes, Unknown):
        found.append((Light.AMBER, f"changes are not known: {changes.reason}"))
    if note:
        found.append((Light.AMBER, note))
    lights = {light for light, _ in found}
    worst = next((light for light in (Light.RED, Light.AMBER) if light in lights), Light.GREEN)
    return worst, tuple(sentence for _, sentence in sorted(found, key=lambda item: item[0] is not Light.RED))


def _pool_doubts(pools: Sequence[PoolSplit]) -> Iterator[tuple[Light, str]]:
    if not pools:
        yield Light.RED, "no pool was seen at all"
    for pool in pools:
        if pool.seen_ratio < LEAST_COVERAGE_RATIO:
            light = Light.RED if pool.seen_ratio < RED_SEEN_RATIO else Light.AMBER
            yield light, f"pool {pool.pool} was seen {percent(pool.seen_ratio)} of the time"
        capacity = pool.capacity.value if isinstance(pool.capacity, Known) else 0.0
        if pool.misfit > AMBER_MISFIT_RATIO * capacity:
            light = Light.RED if pool.misfit > RED_MISFIT_RATIO * capacity else Light.AMBER
            yield light, f"the parts of pool {pool.pool} miss its capacity by {_share(pool.misfit, capacity)}"


def _tenant_doubts(tenants: Sequence[TenantReport]) -> Iterator[tuple[Light, str]]:
    uses = [use for tenant in tenants for use in tenant.uses]
    held, unjudged = sum(use.held for use in uses), sum(use.unjudged for use in uses)
    if unjudged > (1 - JUDGED_RATIO) * held:
        yield Light.AMBER, f"whether they computed is not known of {_share(unjudged, held)} of what was held"


def _least(unjudged: float, held: float) -> str:
    return "at least " if unjudged > NEGLIGIBLE_RATIO * held else ""


def _share(part: float, whole: float) -> str:
    return f"{amount(part)} ({percent(part / whole)})" if whole else amount(part)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _evicted(count: int) -> str:
    return {0: "never evicted", 1: "evicted once", 2: "evicted twice"}.get(count, f"evicted {count} times")

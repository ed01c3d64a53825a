"""Agreed quotas with some GPUs more or less for some tenants: what a negotiation is about. Pure values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from controller.api.errors import InputError, Mistake
from controller.api.fields import with_nearest
from controller.api.yaml_text import told
from controller.simulate.shares import Share

_SHIFT: Final = re.compile(r"(.+)=([+-][0-9]{1,7})")
_PLACE: Final = "TENANT=GPUS"


def shifts_of(words: Iterable[str]) -> Mapping[str, int]:
    """ "vision=-32" as tenant → GPUs. Raises InputError for every word that is no such thing, or says it twice."""
    shifts: dict[str, int] = {}
    mistakes = []
    for word in words:
        found = _SHIFT.fullmatch(word)
        if found is None or not int(found[2]):
            mistakes.append(Mistake(_PLACE, told(word), "a tenant and GPUs more or less, such as vision=-32"))
        elif found[1] in shifts:
            mistakes.append(Mistake(_PLACE, told(word), "each tenant once"))
        else:
            shifts[found[1]] = int(found[2])
    if mistakes:
        raise InputError(tuple(mistakes))
    return shifts


def shifted(shares: Sequence[Share], shifts: Mapping[str, int]) -> tuple[Share, ...]:
    """The same tenants with so many GPUs more or less. Raises InputError for tenants and quotas that are none.

    What moves is the float while there is any; below that the guarantee. Bounds of a tenant move with its quota.
    """
    known = {share.tenant: share for share in shares}
    mistakes = []
    for tenant, gpus in shifts.items():
        if tenant not in known:
            near = with_nearest(told(tenant), sorted(known))
            mistakes.append(Mistake(_PLACE, told(tenant), f"a tenant with a quota: {near}"))
        elif known[tenant].quota + gpus < 0:
            words = f"at most the {known[tenant].quota} GPUs that it has"
            mistakes.append(Mistake(_PLACE, f"{tenant}={gpus:+}", words))
    if mistakes:
        raise InputError(tuple(mistakes))
    return tuple(_shifted(share, shifts.get(share.tenant, 0)) for share in shares)


def _shifted(share: Share, gpus: int) -> Share:
    quota = share.quota + gpus
    guarantee = min(share.guarantee, quota)
    return replace(
        share,
        guarantee=guarantee,
        floating=quota - guarantee,
        burst=None if share.burst is None else max(quota, share.burst + gpus),
        ceiling=None if share.ceiling is None else max(quota, share.ceiling + gpus),
    )

"""How the tests hold a measure against its goal on a machine that others use as well: by its best of some tries.

Whatever else the machine does makes a measure worse, never better; a fault of ours makes every try miss the goal. Not a
test of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from tests.testbed.parts import PartMissing

TRIES: Final = 3


def missed(measure: Callable[[], Mapping[str, float]], goals: Mapping[str, Callable[[float], bool]]) -> str:
    """Empty as soon as one try reaches every goal; else what each try gave. Skips where a part is missing."""
    told: list[str] = []
    for _ in range(TRIES):
        try:
            found = measure()
        except PartMissing as missing:
            pytest.skip(f"testbed part missing: {missing}")
        wrong = [f"{name} {found[name]:.4g}" for name, reached in goals.items() if not reached(found[name])]
        if not wrong:
            return ""
        told.append(", ".join(wrong))
    return "; ".join(told)

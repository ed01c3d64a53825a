"""Random small scenarios through the simulator and the real Kueue: after each step the same work is admitted, and the
same has been evicted. Twenty scenarios; `make parity` plays 200.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.parity.real import RealKueue
from tests.parity.scenarios import Scenario, scenario
from tests.parity.simulated import Difference, first_difference
from tests.testbed.bed import Testbed

SCENARIOS = int(os.environ.get("TRIMTAB_PARITY_SCENARIOS", "20"))
_AT_ONCE = 50


@pytest.mark.timeout(600 + 20 * SCENARIOS)
def test_the_simulator_admits_and_evicts_as_the_real_kueue_does(control_plane: Testbed) -> None:
    real, everything = RealKueue(control_plane.kubernetes.api), [scenario(seed) for seed in range(SCENARIOS)]
    differs = [
        one
        for begin in range(0, SCENARIOS, _AT_ONCE)
        for one, difference in differences(real, everything[begin : begin + _AT_ONCE])
        if difference is not None
    ]
    # On a machine that stalls, what belongs to one moment falls into two: only what differs again is a difference.
    assert [difference for _, difference in (differences(real, differs) if differs else ()) if difference] == []


def differences(real: RealKueue, scenarios: Sequence[Scenario]) -> list[tuple[Scenario, Difference | None]]:
    """Each scenario with the first step after which the two sides do not agree."""
    real.build(scenarios)
    try:
        seen = real.play(scenarios)
    finally:
        real.remove(scenarios)
    return [(one, first_difference(one, steps)) for one, steps in zip(scenarios, seen, strict=True)]

"""Random small scenarios through the simulator and the real Kueue: after each step the same work is admitted, and the
same has been evicted. Twenty scenarios; `make parity` plays 200.
"""

from __future__ import annotations

import os

import pytest

from tests.parity.real import RealKueue
from tests.parity.scenarios import scenario
from tests.parity.simulated import first_difference
from tests.testbed.bed import Testbed

SCENARIOS = int(os.environ.get("TRIMTAB_PARITY_SCENARIOS", "20"))
_AT_ONCE = 50


@pytest.mark.timeout(600 + 20 * SCENARIOS)
def test_the_simulator_admits_and_evicts_as_the_real_kueue_does(control_plane: Testbed) -> None:
    real, differences = RealKueue(control_plane.kubernetes.api), []
    for begin in range(0, SCENARIOS, _AT_ONCE):
        scenarios = [scenario(seed) for seed in range(begin, min(begin + _AT_ONCE, SCENARIOS))]
        real.build(scenarios)
        try:
            seen = real.play(scenarios)
        finally:
            real.remove(scenarios)
        differences += [first_difference(one, steps) for one, steps in zip(scenarios, seen, strict=True)]
    assert [one for one in differences if one is not None] == []

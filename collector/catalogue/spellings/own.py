"""Our own series of accelerators, read back: the node role exports them where no exporter of GPUs runs. Data only."""

from __future__ import annotations

from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.spelling import Devices, Holders, Scope, Spelling, Vocabulary

_WHOLE: Final = Scope.WHOLE

OWN: Final = Vocabulary(
    source="trimtab-node",
    title="Trimtab's node role",
    vendor="nvidia",
    prefixes=("trimtab_accelerator_",),
    devices=Devices(
        uuid=("device",),
        index=(),
        node=("node",),
        model=("model",),
        slice_id=("slice",),
        holders=Holders(labels=(("namespace", "pod", "container"),)),
    ),
    spellings=(
        *(
            Spelling(name, name)
            for name in (
                names.UTILIZATION,
                names.ACTIVE,
                names.MULTIPROCESSOR,
                names.TENSOR,
                names.MEMORY_ACTIVE,
                names.MEMORY_USED,
                names.MEMORY_TOTAL,
            )
        ),
        *(
            Spelling(name, name, scope=_WHOLE)
            for name in (names.POWER, names.POWER_LIMIT, names.CLOCK, names.TEMPERATURE, names.HEALTH, names.THROTTLE)
        ),
        Spelling(names.THROTTLED, names.THROTTLED, scope=_WHOLE, keeps=(("throttle", "throttle"),)),
        Spelling(names.ERRORS, names.ERRORS, scope=_WHOLE, keeps=(("code", "code"),)),
    ),
)

"""Error codes of accelerators: which say that the device is broken, and which that the program on it was. Data only."""

from __future__ import annotations

from typing import Final

HARDWARE_XIDS: Final = frozenset((48, 62, 64, 74, 79, 95, 119, 120, 140))
"""NVIDIA: the device, not the program on it, needs attention."""
APPLICATION_XIDS: Final = frozenset((13, 31, 43, 45, 68, 94))
"""NVIDIA: usually the program (94: a memory error that ended it alone; 45 follows other codes)."""


def xid_kind(code: int) -> str:
    """`none`, `hardware`, `application` or `other`."""
    if code == 0:
        return "none"
    if code in HARDWARE_XIDS:
        return "hardware"
    return "application" if code in APPLICATION_XIDS else "other"

"""What common boards may draw, by their names: for exporters that tell the power and not its limit. Data only."""

from __future__ import annotations

from typing import Final

_WATTS: Final = (  # the more particular name first
    ("GB200", 1200.0),
    ("B200", 1000.0),
    ("H200 NVL", 600.0),
    ("H200", 700.0),
    ("H100 PCIE", 350.0),
    ("H100 NVL", 400.0),
    ("H100", 700.0),
    ("H800 PCIE", 350.0),
    ("H800", 700.0),
    ("H20", 400.0),
    ("A100 80GB PCIE", 300.0),
    ("A100 PCIE", 250.0),
    ("A100", 400.0),
    ("A800 80GB PCIE", 300.0),
    ("A800", 400.0),
    ("L40S", 350.0),
    ("L40", 300.0),
    ("L4", 72.0),
    ("A40", 300.0),
    ("A30", 165.0),
    ("A10G", 150.0),
    ("A10", 150.0),
    ("V100 PCIE", 250.0),
    ("V100", 300.0),
    ("T4", 70.0),
)


def board_watts(model: str) -> float | None:
    """The power limit of the board as it is sold; None for one that is not in the table."""
    words = " ".join(model.upper().replace("-", " ").split())
    return next((watts for name, watts in _WATTS if f" {name} " in f" {words} "), None)

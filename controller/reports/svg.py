"""One horizontal bar of parts as inline SVG, drawn by ourselves: no script, no library, readable in grey print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

WIDTH: Final = 1000
HEIGHT: Final = 40
HATCH: Final = "url(#hatch)"
"""Fill of what was not seen; the page defines the pattern once."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar. `fill` is a colour or HATCH."""

    label: str
    value: float
    fill: str
    words: str
    """How the value is said."""


def bar(title: str, parts: Sequence[Part], whole: float | None = None) -> Markup:
    """The bar, or nothing when all parts are zero. Names and words are escaped.

    `whole` is the value of its full width; None: that of all parts together.
    """
    total = sum(max(0.0, part.value) for part in parts)
    if total <= 0:
        return Markup("")
    said = ", ".join(f"{part.label} {part.words}" for part in parts if part.value > 0)
    head = Markup(
        '<svg class="bar" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        "<title>{}</title><desc>{}</desc>"
    ).format(WIDTH, HEIGHT, title, title, said)
    return head + Markup("").join(_rectangles(parts, whole or total)) + Markup("</svg>")


def _rectangles(parts: Sequence[Part], total: float) -> Iterator[Markup]:
    left = 0.0
    for part in parts:
        width = WIDTH * max(0.0, part.value) / total
        if width > 0:
            yield Markup(
                '<rect x="{:.2f}" y="0" width="{:.2f}" height="{}" fill="{}"><title>{}: {}</title></rect>'
            ).format(left, width, HEIGHT, part.fill, part.label, part.words)
        left += width

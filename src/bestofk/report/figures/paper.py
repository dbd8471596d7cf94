"""The paper that a figure is laid out for: its width, its font, and whether a note stands below."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from bestofk.checks import refuse

SIZE = 9.0
"""Of words, in points, as all figures are laid out."""
SMALL = 8.0
POINTS_PER_INCH = 72.0
NARROWEST = 200.0
"""In points: there is room for words of `SIZE` in every figure."""
_FAMILIES = {
    "sans": "sans-serif", "sans-serif": "sans-serif", "serif": "serif", "mono": "monospace",
    "monospace": "monospace",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """What a layout must fit.

    Attributes
    ----------
    width : float or None
        In points; None: as wide as the figure likes.
    family : str
        ``"sans-serif"``, ``"serif"``, ``"monospace"`` or the name of a font.
    note : bool
        Whether what the figure shows is written below it.
    """

    width: float | None = None
    family: str = "sans-serif"
    note: bool = True

    def share(self, part: float, most: float) -> float:
        """A part of the width, at most so many points; all of them where the width is free."""
        return most if self.width is None else min(most, part * self.width)

    def rest(self, used: float, natural: float) -> float:
        """What is left of the width beside `used` points; `natural` where the width is free."""
        return natural if self.width is None else self.width - used


ANY_PAPER = Paper()
"""For a screen: every figure at its own width."""


def paper_of(
    *, width: Any = None, font: Any = None, fontsize: Any = None, note: bool = True
) -> tuple[Paper, float]:
    """The paper for a width in inches and a font, and how much a layout on it is scaled.

    Layouts know one size of words. Smaller words are a layout on wider paper, drawn smaller.

    Examples
    --------
    >>> paper, scale = paper_of(width=3.4, font="serif", fontsize=8)
    >>> round(paper.width, 1), paper.family, round(scale, 3)
    (275.4, 'serif', 0.889)
    """
    size = SIZE if fontsize is None else _number("fontsize", fontsize)
    if not 4.0 <= size <= 40.0:
        raise refuse("fontsize", "from 4 to 40 points", fontsize)
    scale = size / SIZE
    if font is not None and not (isinstance(font, str) and font.strip()):
        raise refuse("font", "'sans-serif', 'serif', 'monospace' or the name of a font", font)
    family = "sans-serif" if font is None else _FAMILIES.get(font.strip().lower(), font.strip())
    points = None
    if width is not None:
        points = _number("width", width) * POINTS_PER_INCH / scale
        if points < NARROWEST - 1e-6:
            least = NARROWEST * scale / POINTS_PER_INCH
            raise refuse(
                "width", f"at least {least:.2g} inches for words of {size:g} points", width
            )
        if points > 20 * NARROWEST:
            raise refuse("width", "in inches, such as 3.4 for a column or 7 for a page", width)
    return Paper(width=points, family=family, note=bool(note)), scale


def _number(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not isfinite(found) or isinstance(value, bool):
        raise refuse(name, "a number", value)
    return found

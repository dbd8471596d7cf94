"""Colours by role, and the paper that a figure must fit.

The hues are those of Okabe and Ito (2008), Color universal design, which colour-blind readers can
distinguish. Shapes name a role and the renderer looks up the colour, so one picture serves light
and dark pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

from bestofk._base.checks import refuse

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "muted": "#59636e",
    "faint": "#c4cbd2",
    "wash": "#eef1f4",
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "green": "#009e73",
    "purple": "#b8578c",
    "orange": "#b87a00",
    "sky": "#3a93c9",
}
"""On white. Orange, sky and purple are darker than published, so that thin lines are readable."""

DARK = {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9aa4af",
    "faint": "#4a535d",
    "wash": "#1b222b",
    "blue": "#4fa8e0",
    "vermillion": "#ff8a3d",
    "green": "#2fc79a",
    "purple": "#e08fbd",
    "orange": "#e69f00",
    "sky": "#79c4f2",
}
"""The same roles on black, lighter."""

CYCLE = ("blue", "vermillion", "green", "purple", "orange", "sky", "ink")
"""Colours of lines in turn; `DASHES` distinguishes further lines."""

DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2))


def cycled(index: int) -> tuple[str, tuple[float, ...]]:
    """Return colour and dashes of the line with this index; 28 differ.

    Examples
    --------
    >>> cycled(0), cycled(7)
    (('blue', ()), ('blue', (5, 2)))
    """
    return CYCLE[index % len(CYCLE)], DASHES[index // len(CYCLE) % len(DASHES)]


SIZE = 9.0
"""Font size of names and titles in every layout, in points."""
SMALL = 8.0
"""Font size of numbers, legends and notes."""
POINTS_PER_INCH = 72.0
MIN_WIDTH = 200.0
"""In points; every figure fits its words into this width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """The paper that a layout must fit.

    Attributes
    ----------
    width : float or None
        In points; None for the natural width of the figure.
    note : bool
        Whether to write how to read the figure below it.
    """

    width: float | None = None
    note: bool = True

    def share(self, part: float, most: float) -> float:
        """Return a part of the width, at most `most` points; `most` if there is no width."""
        return most if self.width is None else min(most, part * self.width)

    def rest(self, used: float, natural: float) -> float:
        """Return the width beyond `used` points; `natural` if the paper has no width."""
        return natural if self.width is None else self.width - used


def name_size(count: int, most: int = 30) -> float:
    """Return the font size of `count` names in rows: smaller if there are more than `most`."""
    return SIZE if count <= most else SMALL


ANY_PAPER = Paper()
"""For a screen: every figure has its natural width."""


def paper_of(*, width: Any = None, note: bool = True) -> Paper:
    """Return the paper for a width in inches.

    Examples
    --------
    >>> paper_of(width=3.5).width
    252.0
    """
    if width is None:
        return Paper(note=note)
    try:
        points = float(width) * POINTS_PER_INCH
    except (TypeError, ValueError):
        points = nan
    if not MIN_WIDTH <= points <= 20 * MIN_WIDTH:
        least, most = MIN_WIDTH / POINTS_PER_INCH, 20 * MIN_WIDTH / POINTS_PER_INCH
        raise refuse(
            "width", f"in inches, from {least:.2g} to {most:.2g}, such as 3.3 for a column", width
        )
    return Paper(width=points, note=note)

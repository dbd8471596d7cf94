"""Colours by their role: told apart by colour-blind readers, on white and on black.

The hues are those of Okabe and Ito (2008), Color universal design. Marks name a role; what draws
them looks up the colour, so that one picture serves a light and a dark page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from math import isfinite
from typing import Any

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import joined
from bestofk.report.figures.comparisons import comparisons_of

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
"""On white. Orange, sky and purple are a shade darker than published, to be read as thin lines."""

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
"""On black: the same roles, lighter."""

CYCLE = ("blue", "vermillion", "green", "purple", "orange", "sky", "ink")
"""For learners that must be told apart; beyond these, dashes."""

DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2))


def cycled(place: int) -> tuple[str, tuple[float, ...]]:
    """Colour and dashes of the line at this place: 28 that differ.

    Examples
    --------
    >>> cycled(0), cycled(7)
    (('blue', ()), ('blue', (5, 2)))
    """
    return CYCLE[place % len(CYCLE)], DASHES[place // len(CYCLE) % len(DASHES)]


# Options of figures: one that a figure does not have is refused by name.


PAPER = ("width", "font", "fontsize", "note")
"""What every figure takes."""


def known_options(layout: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the options of a layout, with those that it hands on to `comparisons_of`."""
    found = signature(layout).parameters.values()
    names = [one.name for one in found if one.kind is Parameter.KEYWORD_ONLY]
    if any(one.kind is Parameter.VAR_KEYWORD for one in found):
        names += [*signature(comparisons_of).parameters][1:]
    return tuple(name for name in names if name != "paper")


def check_options(layout: Callable[..., Any], kind: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the layout does not have."""
    known = known_options(layout)
    unknown = [name for name in options if name not in known and name != "paper"]
    if unknown:
        offered = joined([*PAPER, *known])
        raise ArgumentError(
            f"figure {kind!r} has no option {unknown[0]!r}; its options are {offered}."
        )


# The paper that a figure is laid out for: its width, its font, and whether a note stands below.


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

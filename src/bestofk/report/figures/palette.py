"""Colours by their role: told apart by colour-blind readers, on white and on black.

The hues are those of Okabe and Ito (2008), Color universal design. Marks name a role; what draws
them looks up the colour, so that one picture serves a light and a dark page.
"""

from __future__ import annotations

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

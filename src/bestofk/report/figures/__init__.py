"""Figures: `layout_x(value)` finds the places, `draw_x(layout, ax)` draws them.

`figure(value, kind)` does both; `FIGURES` lists the kinds. `save_figure` writes SVG, PNG and PDF
with matplotlib, `svg` writes SVG without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.report.figures.painting import paint, save_figure
    from bestofk.report.figures.picture import Picture
    from bestofk.report.figures.rate_curves import Rates
    from bestofk.report.figures.registry import FIGURES, figure, figure_kinds, picture_of
    from bestofk.report.figures.terminal_graph import text_graph
    from bestofk.report.figures.vector import svg

_HOMES = {
    "FIGURES": "registry",
    "Picture": "picture",
    "Rates": "rate_curves",
    "figure": "registry",
    "figure_kinds": "registry",
    "paint": "painting",
    "picture_of": "registry",
    "save_figure": "painting",
    "svg": "vector",
    "text_graph": "terminal_graph",
}

__all__ = [
    "FIGURES",
    "Picture",
    "Rates",
    "figure",
    "figure_kinds",
    "paint",
    "picture_of",
    "save_figure",
    "svg",
    "text_graph",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

"""Figures: `layout_x(value)` finds the places on a picture, `paint(picture, ax)` draws it.

`figure(value, kind)` does both; `FIGURES` lists the kinds. `save_figure` writes SVG, PNG and PDF
with matplotlib, `svg` writes SVG without it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Figures of results.

`plot(value, kind)` draws a result, and `FIGURES` lists the kinds. Each kind has a function
``layout_<kind>(value)``, and `draw` returns its `Picture`. `paint` draws a picture with matplotlib,
`save` writes SVG, PNG and PDF, and `svg` writes SVG without matplotlib.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

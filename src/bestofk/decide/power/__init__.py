"""Planning: the differences that a design can show, and how large it must be to show more."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

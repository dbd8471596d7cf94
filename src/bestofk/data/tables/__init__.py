"""Read tables from files; cells stay as written until a reader asks for numbers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Stopping early: the verdict of the full plan from a part of it, and going on where it is open."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Stopping early: the verdict of the full plan from a part of it, and going on where it is open."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

"""Procedures: from evidence and a prior preference to an order or a choice."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

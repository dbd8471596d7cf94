"""Choosing a language model: the cheapest that is not significantly worse, and how sure that is."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

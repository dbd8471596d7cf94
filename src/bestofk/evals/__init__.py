"""Logs of evaluations of language models: one value from any harness, with an account of it."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

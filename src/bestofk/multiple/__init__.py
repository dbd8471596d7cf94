"""Tests of K learners at once: a table of losses in, one frozen result out."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

"""Data sets: named columns of kind numeric or nominal, missing values kept, and their readers."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

"""The table of losses with its design; readers and writers of such tables."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

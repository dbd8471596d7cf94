"""Planning: the differences that a design can show, and how large it must be to show more."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

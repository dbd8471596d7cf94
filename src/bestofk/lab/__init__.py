"""The lab: how often a test errs, what it finds, whether it would say the same again."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

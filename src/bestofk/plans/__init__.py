"""Plans: which rows train and which test, and the Design that is left when rows are forgotten."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

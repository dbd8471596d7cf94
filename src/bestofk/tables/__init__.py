"""Any table from a file: columns of cells that stay as written until a reader asks for numbers."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

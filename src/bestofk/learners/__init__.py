"""The papers' learners as scikit-learn estimators, and their evaluation over whole plans."""

from bestofk.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

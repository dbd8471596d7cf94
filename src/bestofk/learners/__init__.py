"""The papers' learners as scikit-learn estimators, and their evaluation over whole plans."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

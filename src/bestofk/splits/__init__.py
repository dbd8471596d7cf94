"""Resampling plans, the splits that they make, and the design of an experiment."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

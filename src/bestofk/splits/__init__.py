"""Plans: which rows train and which test, and the Design that is left when rows are forgotten."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Data sets: named columns of kind numeric or nominal, missing values kept, and their readers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

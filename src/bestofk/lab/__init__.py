"""The lab: how often a test errs, what it finds, whether it would say the same again."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Choosing a language model: the cheapest that is not significantly worse, and how sure that is."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

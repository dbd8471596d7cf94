"""The papers: their tables recomputed, the methods that only they use, and the lab."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

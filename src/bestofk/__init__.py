"""Choose between K learners: which one to use, how the others rank, and how sure you can be."""

import lazy_loader

from bestofk.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Choose between K learners: which one to use, how the others rank, and how sure you can be."""

import lazy_loader

from bestofk.version import __version__ as __version__

_lazy, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in ("figure", "plot", "save_figure"):
        raise AttributeError(
            f"bestofk has no function {name!r}: write result.plot(), or "
            "result.plot(path='figure.pdf') for a file."
        )
    return _lazy(name)

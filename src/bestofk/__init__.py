"""bestofk: of these K learning algorithms, which should I use, and how sure can I be?"""

from bestofk.lazily import lazy_names
from bestofk.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_names(__name__)

"""Identity of learners, losses and other code, by which a store recognises a fit.

Code is the same if its qualified name, the version of its package and its settings are the same.
Code that is not an installed package is the same as long as its source file is: editing the file
changes the identity of everything in it. What the code calls in other files does not count.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
import sysconfig
import types
import uuid
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

OWN = "bestofk"
PYTHON = f"python {sys.version_info.major}.{sys.version_info.minor}"
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_SEEDS = ("random_state", "random_seed")
"""Settings that the runner sets in every cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The identity of code and its settings.

    - `digest`: 16 hexadecimal digits. If the identity is unknown, a new digest every time.
    - `unknown`: The reason why it is unknown; else empty.
    """

    digest: str
    unknown: str = ""


def identify(*values: Any) -> Identity:
    """Return the identity of functions, classes, instances and data.

    Examples
    --------
    >>> def scaled(factor):
    ...     return lambda x: factor * x
    >>> identify(scaled(2)) == identify(scaled(2)), identify(scaled(2)) == identify(scaled(3))
    (True, False)
    >>> from sklearn.naive_bayes import GaussianNB
    >>> identify(GaussianNB()) == identify(GaussianNB(var_smoothing=1e-9))
    True
    """
    try:
        return Identity(digest=text_digest(repr([_described(value) for value in values])))
    except RecursionError:
        reason = "it is nested too deeply"
    except _UnknownError as error:
        reason = str(error)
    return Identity(digest=uuid.uuid4().hex[:16], unknown=reason)


def text_digest(text: str, content: bytes = b"") -> str:
    """Return 16 hexadecimal digits of a text and bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") + content).hexdigest()[:16]


class _UnknownError(Exception):
    """The content of a value cannot be read."""


def _described(value: Any) -> Any:
    """Return a value whose repr is the same in every process and on every machine."""
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind in (list, tuple):
        return (kind.__name__, *map(_described, value))
    if isinstance(value, dict | types.MappingProxyType):
        items = [(repr(_described(name)), _described(item)) for name, item in value.items()]
        return ("dict", *sorted(items, key=lambda item: item[0]))
    if kind in (set, frozenset):
        return (kind.__name__, *sorted(repr(_described(item)) for item in value))
    if kind is np.ndarray and not value.dtype.hasobject:
        return ("array", value.shape, value.dtype.str, text_digest("", value.tobytes()))
    if isinstance(value, np.generic | np.dtype):
        return (kind.__name__, repr(value))
    if isinstance(value, type):
        return _named(value)
    if isinstance(value, types.FunctionType):
        return _function(value)
    if isinstance(value, types.MethodType):
        return ("method", _described(value.__func__), _described(value.__self__))
    if isinstance(value, functools.partial):
        return ("partial", *map(_described, (value.func, value.args, value.keywords)))
    if hasattr(value, "get_params"):
        return _estimator(value)
    if callable(value) and hasattr(value, "__qualname__"):
        # a compiled function
        owner = getattr(value, "__self__", None)
        bound = None if owner is None or isinstance(owner, types.ModuleType) else _described(owner)
        return (*_named(value), bound)
    return _instance(value)


def _estimator(value: Any) -> Any:
    """Describe a learner by its class and settings; its fitted state does not count."""
    try:
        settings = dict(value.get_params(deep=False))
    except Exception:
        # user classes may raise anything; then the whole state counts
        return _instance(value)
    for name in _SEEDS:
        settings.pop(name, None)
    requests = getattr(value, "__dict__", {}).get("_metadata_request")
    described = (_named(type(value)), _described(settings), _described(requests))
    clone = getattr(type(value), "__sklearn_clone__", None)
    if clone is not None and not str(clone.__module__).startswith("sklearn.base"):
        # such as a frozen estimator, whose fitted state counts
        return (*described, _pickled(value))
    return described


def _instance(value: Any) -> Any:
    content = _described(vars(value)) if hasattr(value, "__dict__") else _pickled(value)
    return (_named(type(value)), content)


def _pickled(value: Any) -> str:
    try:
        return text_digest("", pickle.dumps(value, protocol=5))
    except Exception:
        # foreign objects may raise anything
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        raise _UnknownError(f"it holds an object of {name}, whose content cannot be read") from None


def _function(function: types.FunctionType) -> Any:
    """Describe a function by its name, its defaults and the values that it encloses."""
    # several functions of one file may have the same name
    code = _code(function.__code__) if package_of(function.__module__) is None else None
    try:
        enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        # an enclosed name has no value yet
        enclosed = []
    own = [value for value in enclosed if value is not function]
    parts = (function.__defaults__, function.__kwdefaults__, own)
    return (*_named(function), code, *map(_described, parts))


def _code(code: types.CodeType) -> Any:
    """Describe the instructions of a function, without names of files and numbers of lines."""
    constants = [
        _code(value) if isinstance(value, types.CodeType) else repr(value)
        for value in code.co_consts
    ]
    return (PYTHON, code.co_code, code.co_names, code.co_varnames, constants)


def _named(value: Any) -> tuple[Any, ...]:
    """Describe a class or function by its name and the version or file of its module."""
    module = str(getattr(value, "__module__", None) or "")
    package = package_of(module)
    if package is not None:
        return (package, module, value.__qualname__)
    source = _source(module)
    if source is None and isinstance(value, type):
        # typed into a notebook or a prompt
        functions = {
            name: _code(member.__code__)
            for name, member in vars(value).items()
            if isinstance(member, types.FunctionType)
        }
        return ("", value.__qualname__, sorted(functions.items()))
    return (source, value.__qualname__)


_DIGESTS: dict[str, tuple[types.ModuleType, int, str]] = {}
"""By file: the module, the time of the file, and its digest, when it was first identified."""


def _source(name: str) -> str | None:
    """Return a digest of the file of a module; None if it has none."""
    from bestofk.version import __version__

    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or not Path(file).is_file():
        return None
    time = Path(file).stat().st_mtime_ns
    known = _DIGESTS.get(file)
    if known is not None and known[0] is module:
        if known[1] != time:
            raise _UnknownError(f"{Path(file).name} changed after it was imported")
        return known[2]
    # a release may change compiled code that no file of Python shows
    release = __version__ if name.partition(".")[0] == OWN else ""
    digest = text_digest(release, Path(file).read_bytes())
    _DIGESTS[file] = (module, time, digest)
    return digest


@functools.cache
def package_of(module: str) -> str | None:
    """Return the name and version of the package of a module; None if its source file counts.

    Examples
    --------
    >>> package_of("json").startswith("python 3."), package_of("numpy.linalg").startswith("numpy ")
    (True, True)
    >>> package_of("bestofk.learners") is None
    True
    """
    top = module.partition(".")[0]
    if top in ("", OWN, "__main__", "__mp_main__"):
        return None
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if file is None:
        origin = getattr(getattr(loaded, "__spec__", None), "origin", None)
        return PYTHON if origin in ("built-in", "frozen") else None
    parts = Path(file).parts
    if "site-packages" in parts or "dist-packages" in parts:
        try:
            return f"{top} {getattr(sys.modules[top], '__version__', None) or version(top)}"
        except (KeyError, PackageNotFoundError):
            return None
    standard = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return PYTHON if any(file.startswith(folder) for folder in standard) else None

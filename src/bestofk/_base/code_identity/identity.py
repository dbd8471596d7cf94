"""A walk from a value through all that it is made of and refers to, as one digest."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
import logging
import os
import sys
import threading
import types
import uuid
import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.code_identity.bytecode import OWN, PYTHON, bare_code
from bestofk._base.code_identity.parsed_source import ParsedFunction, parsed_file
from bestofk._base.code_identity.references import References, is_own

_CLONED = (list, tuple, set, frozenset)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_STATELESS = (
    logging.Logger, logging.LoggerAdapter, type(threading.Lock()), type(threading.RLock()),
    threading.local, threading.Condition, threading.Event, weakref.ReferenceType,
    weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet,
)  # fmt: skip
"""What has a state that no number depends on."""
_DESCRIPTORS = (
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType,
)  # fmt: skip
_OF_CLASSES = frozenset(
    {
        "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__",
        "__annotations_cache__", "__dict__", "__doc__", "__firstlineno__", "__module__",
        "__orig_bases__", "__parameters__", "__slotnames__", "__static_attributes__", "__weakref__",
        "_abc_impl",
    }
)  # fmt: skip
"""Names of a class that do not say what it does."""


class Walk(References):
    """Feeds all that is met to one hash, in an order that depends on names alone."""

    def digest(self, values: tuple[Any, ...]) -> str:
        """16 hexadecimal digits."""
        try:
            for value in values:
                self.value(value)
        except RecursionError:
            self.unknown.append("it is nested too deeply")
        return self._hash.hexdigest()[:16]

    def value(self, value: Any) -> None:
        """Anything.

        A learner is cloned before it is fitted, and so are learners among its settings, alone or
        in lists: of those the settings count. Of an estimator anywhere else, all that it learnt.
        """
        before = self._cloned
        self._cloned = before and (type(value) in _CLONED or hasattr(value, "get_params"))
        try:
            self._anything(value)
        finally:
            self._cloned = before

    def _anything(self, value: Any) -> None:
        kind = type(value)
        if kind in _PLAIN:
            self.put(kind.__name__, self._placed(value) if kind is str else repr(value))
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self._module(value)
        elif isinstance(value, types.CodeType):
            self.put("code", PYTHON, repr(bare_code(value)))
        elif id(value) in self._above:
            self.put("above", len(self._above) - self._above[id(value)])
        else:
            self._above[id(value)] = len(self._above)
            self._kept.append(value)
            try:
                self._compound(value, kind)
            finally:
                del self._above[id(value)]

    def _placed(self, text: str) -> str:
        """A path inside the folder of the module that holds it, without that folder."""
        folder = self._folder
        if folder and (text == folder or text.startswith(folder + os.sep)):
            return f"here{text[len(folder) :]}"
        return text

    def _compound(self, value: Any, kind: type) -> None:
        if kind in (list, tuple):
            self.put(kind.__name__, len(value))
            for one in value:
                self.value(one)
        elif kind in (dict, types.MappingProxyType):
            self.put("dict", len(value))
            for name, one in value.items():
                self.value(name)
                self.value(one)
        elif kind in (set, frozenset):
            self.put(kind.__name__, *sorted(self._apart(one) for one in value))
        elif kind is np.ndarray:
            self._array(value)
        elif isinstance(value, np.generic):
            self.put("scalar", value.dtype.str, value.tobytes())
        elif isinstance(value, np.dtype):
            self.put("dtype", repr(value.descr) if value.names else value.str)
        elif isinstance(value, types.MethodType):
            self.put("method")
            self.value(value.__func__)
            self.value(value.__self__)
        elif isinstance(value, types.BuiltinFunctionType):
            self._builtin(value)
        elif isinstance(value, _DESCRIPTORS):
            self.put("descriptor", value.__qualname__)
        elif isinstance(value, functools.partial):
            self.put("partial")
            self.value(value.func)
            self.value(value.args)
            self._names(value.keywords)
        elif isinstance(value, staticmethod | classmethod):
            self.put(kind.__name__)
            self.value(value.__func__)
        elif isinstance(value, property):
            self.put("property")
            self.value((value.fget, value.fset, value.fdel))
        elif isinstance(value, functools.cached_property):
            self.put("cached_property")
            self.value(value.func)
        elif isinstance(value, _STATELESS):
            self.put("stateless", kind.__name__)
        elif isinstance(value, os.PathLike) and isinstance(os.fspath(value), str):
            self.put("path", self._placed(os.fspath(value)))
        elif kind.__module__ == "typing" or kind in (types.GenericAlias, types.UnionType):
            self.put("type", repr(value))
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):
            # compiled when it is first called, as numba does
            self.put("compiled", kind.__qualname__)
            self.value(value.py_func)
        elif isinstance(value, ctypes.CDLL):
            self._library(value)
        elif kind.__name__ == "_lru_cache_wrapper":
            self.put("cached")
            self.value(value.__wrapped__)
        else:
            self._instance(value, kind)

    def _library(self, value: Any) -> None:
        """A shared library is the bytes of its file; the system's own are known by name."""
        path = Path(str(value._name))
        self.put("library", path.name)
        if path.is_file():
            self.put(hashlib.sha256(path.read_bytes()).hexdigest())

    def _apart(self, value: Any) -> str:
        """A digest of its own, for what has no order."""
        other = Walk(own=self.own, writes=self.static, writes_attributes=self.static_attributes)
        other._folder, other._cloned = self._folder, self._cloned
        found = other.digest((value,))
        self.unknown += other.unknown
        return found

    def _array(self, value: Any) -> None:
        self.put("array", value.shape, repr(value.dtype.descr))
        if value.dtype.hasobject:
            self.value(value.tolist())
        else:
            self.put(np.ascontiguousarray(value).tobytes())

    def _class(self, kind: type) -> None:
        module = str(getattr(kind, "__module__", ""))
        if module == "builtins":
            self.put("builtin", kind.__qualname__)
            return
        if _is_at_its_name(kind, module):
            if self._of_others(module, kind.__qualname__):
                return
            if is_own(module) and self.own is not None:
                self.put(OWN, self.own(kind))
                return
        if self._met(kind, "class", kind.__qualname__):
            return
        self.put(len(kind.__bases__))
        for base in kind.__bases__:
            self.value(base)
        self.value(type(kind))
        held = {name: one for name, one in vars(kind).items() if name not in _OF_CLASSES}
        if not kind.__flags__ & (1 << 9):
            # made in C: not by a class statement, so that all its code is in its module
            self._compiled(kind, kind.__qualname__)
        self._fields(kind, held)
        for name in sorted(held):
            self.put(name)
            if not callable(held[name]):
                self._class_data.add(name)
            if name in self.static_attributes and not callable(held[name]):
                assigned = _assigned_in(kind, name)
                if assigned:
                    self.put("assigned", *(one.text for one in assigned))
                    continue
            self.value(held[name])

    def _fields(self, kind: type, held: dict[str, Any]) -> None:
        """The fields of a dataclass, which say what was generated from them."""
        fields = held.pop("__dataclass_fields__", None)
        if not isinstance(fields, dict):
            return
        self.put("fields", repr(held.pop("__dataclass_params__", None)))
        for name, one in fields.items():
            marks = (one.init, one.repr, one.hash, one.compare, one.kw_only, one._field_type)
            self.put(name, repr(marks))
            for given in (one.default, one.default_factory):
                if given is dataclasses.MISSING:
                    self.put("none")
                else:
                    self.value(given)
        for name, one in list(held.items()):
            code = getattr(one, "__code__", None)
            if code is not None and code.co_filename == "<string>" and name[:2] == "__":
                del held[name]
        del kind

    def _instance(self, value: Any, kind: type) -> None:
        if self._cloned and hasattr(value, "get_params"):
            try:
                settings = dict(value.get_params(deep=False))
            except Exception:
                # any class may raise anything; then all that it holds counts
                settings = None
            if settings is not None:
                self._estimator(value, kind, settings)
                return
        self.put("instance")
        state = _reduced(value)
        if state is None:
            self.put(kind.__qualname__)
            self.unknown.append(f"it holds {_article(kind)}, whose content cannot be read")
        elif isinstance(state, str):
            self._compiled(value, state)
        else:
            self._class(kind)
            self._state(kind, state)

    def _state(self, kind: type, state: tuple[Any, ...]) -> None:
        made_by, arguments, *rest = (*state, None, None, None)[:5]
        held, items, entries = (*rest, None, None, None)[:3]
        self.value(made_by)
        self.value(tuple(one for one in arguments if one is not kind))
        for part in held if isinstance(held, tuple) and len(held) == 2 else (held,):
            if isinstance(part, dict) and all(isinstance(name, str) for name in part):
                self._names(part)
            else:
                self.value(part)
        self.value(None if items is None else list(items))
        self.value(None if entries is None else list(entries))

    def _estimator(self, value: Any, kind: type, settings: dict[str, Any]) -> None:
        """A learner: its class and its settings; `random_state` is set in every cell."""
        self.put("estimator")
        settings.pop("random_state", None)
        self._names(settings)
        self._cloned = False
        self._class(kind)
        held = getattr(value, "__dict__", {})
        if "_metadata_request" in held:
            self.value(held["_metadata_request"])
        if _copies_itself(kind):
            # a frozen estimator, say, is what it learnt
            self._names(held)


def _is_at_its_name(kind: type, module: str) -> bool:
    """The class is what its module holds under its name, not one that was made while it ran."""
    held: Any = sys.modules.get(module)
    for name in kind.__qualname__.split("."):
        held = getattr(held, "__dict__", {}).get(name)
    return held is kind


def _assigned_in(kind: type, name: str) -> list[ParsedFunction]:
    for held in vars(kind).values():
        function = getattr(held, "__func__", held)
        if isinstance(function, types.FunctionType):
            trusted = is_own(function.__module__ or "")
            file = parsed_file(function.__code__.co_filename, function.__globals__, trusted=trusted)
            found: list[ParsedFunction] = (
                [] if file is None else file.assigned_in(kind.__qualname__, name)
            )
            if found:
                return found
    return []


def _copies_itself(kind: type) -> bool:
    own = getattr(kind, "__sklearn_clone__", None)
    base = sys.modules.get("sklearn.base")
    inherited = getattr(getattr(base, "BaseEstimator", None), "__sklearn_clone__", None)
    return own is not None and own is not inherited


def _reduced(value: Any) -> Any:
    """What pickle would make of a value; None if it can make nothing of it."""
    import copyreg

    reduce = copyreg.dispatch_table.get(type(value))
    try:
        return value.__reduce_ex__(4) if reduce is None else reduce(value)
    except Exception:
        # any class may raise anything, and what is outside Python cannot be read
        return None


def _article(kind: type) -> str:
    name = f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else ""
    return f"an object of {name or kind.__qualname__}"


# The identity of anything that runs: source, settings and all that both refer to.


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What stands for a piece of code and its settings.

    Attributes
    ----------
    digest : str
        16 hexadecimal digits: the same in every process and on every machine as long as what runs
        is the same. Where that cannot be known, a new one every time.
    unknown : str
        Why it cannot be known, such as "it holds an open file (TextIOWrapper)"; else empty.
    """

    digest: str
    unknown: str = ""


def identify(*values: Any) -> Identity:
    """The identity of functions, classes, instances and data.

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
    walk = Walk(own=_own)
    found = walk.digest(values)
    if walk.depends_on_what_it_changes:
        # what code changes while it runs is no part of what it is: then its first value counts
        again = Walk(own=_own, writes=walk.writes, writes_attributes=walk.writes_attributes)
        found, walk = again.digest(values), again
    if walk.unknown:
        return Identity(digest=uuid.uuid4().hex[:16], unknown=walk.unknown[0])
    return Identity(digest=found)


@cache
def _own(value: Any) -> str:
    """The digest of a function or class of ours, which nobody changes while it runs."""
    walk = Walk(own=None)
    found = walk.digest((value,))
    if walk.depends_on_what_it_changes:
        found = Walk(own=None, writes=walk.writes, writes_attributes=walk.writes_attributes).digest(
            (value,)
        )
    return found


def text_digest(text: str, content: bytes = b"") -> str:
    """16 hexadecimal digits of a text and bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") + content).hexdigest()[:16]

"""Identity of code and data: one digest of a value and everything that it refers to."""

from __future__ import annotations

import builtins
import ctypes
import dataclasses
import functools
import hashlib
import importlib
import logging
import os
import pickle
import sys
import threading
import types
import uuid
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.code_identity.bytecode import (
    OWN,
    PYTHON,
    bare_code,
    global_names,
    package_of,
    package_of_import,
)
from bestofk._base.code_identity.parsed_source import ParsedFile, ParsedFunction, parsed_file


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
    walk = IdentityHasher(own=_own)
    found = walk.digest(values)
    if walk.depends_on_what_it_changes:
        # what code changes while it runs is no part of what it is: then its first value counts
        again = IdentityHasher(
            own=_own, writes=walk.writes, writes_attributes=walk.writes_attributes
        )
        found, walk = again.digest(values), again
    if walk.unknown:
        return Identity(digest=uuid.uuid4().hex[:16], unknown=walk.unknown[0])
    return Identity(digest=found)


@cache
def _own(value: Any) -> str:
    """The digest of a function or class of ours, which nobody changes while it runs."""
    walk = IdentityHasher(own=None)
    found = walk.digest((value,))
    if walk.depends_on_what_it_changes:
        found = IdentityHasher(
            own=None, writes=walk.writes, writes_attributes=walk.writes_attributes
        ).digest((value,))
    return found


def text_digest(text: str, content: bytes = b"") -> str:
    """16 hexadecimal digits of a text and bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") + content).hexdigest()[:16]


_OF_MODULES = frozenset(
    {
        "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__",
        "__package__", "__path__", "__spec__",
    }
)  # fmt: skip
"""Names of a module that say where it is, not what it does."""
_NO_NUMBERS = (
    "cli", "report", "_base", "version", "data.tables", "data.dataset", "data.conversion", "losses",
    "run.store", "run.engines", "run.progress", "run.task", "run.run_task",
)  # fmt: skip
"""Rooms of ours in which no loss is made: our own learners are not new when these change."""
HOOK = "__code_identity__"
"""A module with a function of this name says itself, as a text, what its code is."""
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


class IdentityHasher:
    """Feed a value and everything that it refers to to one hash, in an order of names.

    Functions, classes and modules are numbered at their first occurrence, so that cycles end.
    """

    def __init__(
        self,
        *,
        own: Callable[[Any], str] | None,
        writes: frozenset[tuple[str, str]] = frozenset(),
        writes_attributes: frozenset[str] = frozenset(),
    ) -> None:
        self.own = own
        self.static, self.static_attributes = writes, writes_attributes
        self.writes: frozenset[tuple[str, str]] = frozenset()
        self.writes_attributes: frozenset[str] = frozenset()
        self.unknown: list[str] = []
        self._hash = hashlib.sha256()
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._above: dict[int, int] = {}
        self._data: set[tuple[str, str]] = set()
        self._class_data: set[str] = set()
        self._folder = ""
        self._cloned = True

    @property
    def depends_on_what_it_changes(self) -> bool:
        """Data that the code refers to are changed by that code when it runs."""
        return bool(self._data & self.writes or self._class_data & self.writes_attributes)

    def put(self, *parts: Any) -> None:
        """Texts and bytes, each with its length."""
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:" % len(data))
            self._hash.update(data)

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
        other = IdentityHasher(
            own=self.own, writes=self.static, writes_attributes=self.static_attributes
        )
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

    # functions, modules and what they refer to

    def _names(self, held: Mapping[str, Any]) -> None:
        """A mapping from names, whose order says nothing."""
        self.put(len(held))
        for name in sorted(held, key=str):
            self.put(name)
            self.value(held[name])

    def _met(self, value: Any, *parts: Any) -> bool:
        """Whether it was met before; if not it gets a number."""
        number = self._numbers.get(id(value))
        if number is not None:
            self.put("again", number)
            return True
        self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        self.put(*parts)
        return False

    def _function(self, function: types.FunctionType) -> None:
        names = function.__globals__
        module = str(names.get("__name__", ""))
        code = function.__code__
        if self._of_others(module, code.co_qualname, names):
            if function.__closure__ or "<" in code.co_qualname:
                if self._met(function, "inner"):
                    return
                self.put(PYTHON, repr(bare_code(code)))
                self._surroundings(function)
            return
        if is_own(module) and self.own is not None and "<" not in code.co_qualname:
            self.put(OWN, self.own(function))
            return
        if self._met(function, "function"):
            return
        file = parsed_file(code.co_filename, names, trusted=is_own(module))
        parsed = None if file is None else file.function(code)
        if parsed is None:
            self.put(PYTHON, repr(bare_code(code)))
        else:
            self.put(parsed.text)
            self.writes |= {(code.co_filename, name) for name in parsed.writes}
            self.writes_attributes |= parsed.writes_attributes
        self._surroundings(function)
        self._referred(names, code, parsed, file)

    def _surroundings(self, function: types.FunctionType) -> None:
        self.value(function.__defaults__)
        self._names(function.__kwdefaults__ or {})
        self._names({name: one for name, one in vars(function).items() if name != "__wrapped__"})
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self.put("closure", name)
            try:
                held = cell.cell_contents
            except ValueError:
                self.put("empty")
                continue
            self.value(held)

    def _referred(
        self,
        names: dict[str, Any],
        code: types.CodeType,
        parsed: ParsedFunction | None,
        file: ParsedFile | None,
    ) -> None:
        """The names of its module that a function reads, and what it imports."""
        roots = global_names(code)
        chains: set[tuple[str, ...]] = {(name,) for name in roots}
        if parsed is not None:
            found = {chain for chain in parsed.chains if chain[0] in roots}
            chains = found | (chains - {chain[:1] for chain in found})
        for chain in sorted(chains):
            name, *attributes = chain
            if name in names:
                self._named(names[name], name, attributes, names, code.co_filename, file)
            elif not hasattr(builtins, name):
                self.put("missing", name)
        if parsed is not None:
            self._imports(parsed, names)

    def _named(
        self,
        held: Any,
        name: str,
        attributes: list[str],
        names: dict[str, Any],
        file_name: str,
        file: ParsedFile | None,
    ) -> None:
        """A name of a module, or what the attributes behind it lead to in other modules."""
        self.put("name", name)
        if name in _OF_MODULES:
            return
        module = str(names.get("__name__", ""))
        if isinstance(held, types.ModuleType):
            self._attributes(held, attributes)
            return
        if file is not None and not isinstance(held, type | types.FunctionType):
            # what nobody but ourselves changes, or what the code changes when it runs
            static = (file_name, name) in self.static or (self.own is None and is_own(module))
            if static and self._assigned(file.assigned(name), names, file_name, file):
                return
        self._data.add((file_name, name))
        before, self._folder = self._folder, _folder(names)
        try:
            self.value(held)
        finally:
            self._folder = before

    def _assigned(
        self,
        statements: list[ParsedFunction],
        names: dict[str, Any],
        file_name: str,
        file: ParsedFile,
    ) -> bool:
        """What a module's own statements say, and the names in them; False if there are none."""
        for one in statements:
            if self._met(one, "assigned", one.text):
                continue
            for name, *attributes in sorted(one.chains):
                if name in names:
                    self._named(names[name], name, attributes, names, file_name, file)
            self._imports(one, names, statements=True)
        return bool(statements)

    def _imports(
        self, parsed: ParsedFunction, names: dict[str, Any], *, statements: bool = False
    ) -> None:
        for module, level, name, bound in parsed.imports:
            uses = [list(chain[1:]) for chain in parsed.chains if chain[0] == bound]
            self._imported(names, module, level, name, sorted(uses) or [[]], statements)

    def _attributes(self, module: types.ModuleType, attributes: list[str]) -> None:
        """What is read of a module: of another's, and of a part of it, only that."""
        names = vars(module)
        if package_of(module.__name__, names) is not None or not attributes:
            self._module(module)
            return
        name, *rest = attributes
        try:
            held = getattr(module, name)
        except Exception:
            # a module may raise anything when it is asked for a name
            self.put("missing", name)
            return
        file_name = str(names.get("__file__") or "")
        trusted = is_own(module.__name__)
        file = parsed_file(file_name, names, trusted=trusted) if file_name[-3:] == ".py" else None
        self._named(held, name, rest, names, file_name, file)

    def _imported(
        self,
        names: dict[str, Any],
        module: str,
        level: int,
        name: str,
        uses: list[list[str]],
        data: bool = False,
    ) -> None:
        """What a function imports when it runs, or the statement that gave a module its data."""
        if level:
            package = str(names.get("__package__") or names.get("__name__", "").rpartition(".")[0])
            stem = package.rsplit(".", level - 1)[0] if level > 1 else package
            module = f"{stem}.{module}" if module else stem
        self.put("import", module, name)
        package_name = package_of_import(module)
        if package_name is not None:
            self.put(package_name)
            return
        if _makes_no_numbers(module):
            return
        try:
            held: Any = sys.modules.get(module) or importlib.import_module(module)
            if name and name != "*" and name not in vars(held):
                # a module inside a package is there only after its first import
                with suppress(ImportError):
                    importlib.import_module(f"{module}.{name}")
            if name and data:
                self._attributes(held, [name])
                return
            if name and name != "*":
                held = getattr(held, name)
        except Exception:
            # it fails when the function runs, if it gets there
            self.put("missing")
            return
        for attributes in uses:
            if isinstance(held, types.ModuleType):
                self._attributes(held, attributes)
            else:
                self.value(held)

    def _builtin(self, function: Any) -> None:
        owner = function.__self__
        if owner is not None and not isinstance(owner, types.ModuleType):
            self.put("bound", function.__name__)
            self.value(owner)
            return
        self._compiled(function, function.__name__)

    def _compiled(self, value: Any, name: str) -> None:
        """A thing of a compiled module: that of a package, or the bytes of its file."""
        module = str(getattr(value, "__module__", None) or "")
        if module not in sys.modules:
            module = pickle.whichmodule(value, name)  # type: ignore[attr-defined]
        if not self._of_others(module, name):
            self.put("compiled", name)
            self._module(sys.modules[module])

    def _module(self, module: types.ModuleType) -> None:
        names = vars(module)
        name = module.__name__
        if self._of_others(name, "", names):
            return
        if is_own(name):
            if _makes_no_numbers(name):
                self.put(OWN, name)
                return
            if HOOK in names:
                self.put(OWN, name, names[HOOK]())
                return
        if self._met(module, "module"):
            return
        file_name = str(names.get("__file__") or "")
        if HOOK in names:
            self.put(names[HOOK]())
        elif file_name.endswith((".so", ".pyd", ".dylib")):
            self.put(hashlib.sha256(Path(file_name).read_bytes()).hexdigest())
        elif is_own(name) and hasattr(module, "__path__"):
            from bestofk.version import __version__

            self.put(OWN, name, __version__)
        else:
            self._all_of(module, file_name, names)

    def _all_of(self, module: types.ModuleType, file_name: str, names: dict[str, Any]) -> None:
        trusted = is_own(module.__name__)
        file = parsed_file(file_name, names, trusted=trusted) if file_name[-3:] == ".py" else None
        for name in sorted(set(names) - _OF_MODULES):
            if isinstance(names[name], types.ModuleType):
                self.put("name", name)
                self._attributes(names[name], [])
            else:
                self._named(names[name], name, [], names, file_name, file)

    def _of_others(self, module: str, name: str, names: dict[str, Any] | None = None) -> bool:
        """Whether it is known by a package's name and version, or makes no number."""
        if _makes_no_numbers(module):
            self.put(OWN, module, name)
            return True
        held = vars(sys.modules[module]) if names is None and module in sys.modules else names
        package = package_of(module, held)
        if package is not None:
            self.put("package", package, module, name)
            return True
        if held is not None and HOOK in held:
            self.put("module", held[HOOK](), name)
            return True
        return False


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


def _folder(names: dict[str, Any]) -> str:
    file = names.get("__file__")
    return str(Path(file).parent) if isinstance(file, str) else ""


@functools.cache
def is_own(module: str) -> bool:
    return module == OWN or module.startswith(f"{OWN}.")


@functools.cache
def _makes_no_numbers(module: str) -> bool:
    inside = module.removeprefix(f"{OWN}.")
    return is_own(module) and any(
        inside == room or inside.startswith(f"{room}.") for room in _NO_NUMBERS
    )

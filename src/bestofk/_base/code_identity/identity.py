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
    """The identity of code and its settings.

    - `digest`: 16 hexadecimal digits, the same in every process and on every machine as long as the
      code does the same. If that is unknown, a new digest every time.
    - `unknown`: The reason why it is unknown, such as "it holds an object of ..."; else empty.
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
    hasher = IdentityHasher(own_digest=_own_digest)
    digest = hasher.digest(values)
    if hasher.depends_on_changed_data:
        # data that the code changes while it runs count with their initial value
        hasher = IdentityHasher(
            own_digest=_own_digest,
            writes=hasher.writes,
            writes_attributes=hasher.writes_attributes,
        )
        digest = hasher.digest(values)
    if hasher.unknown:
        return Identity(digest=uuid.uuid4().hex[:16], unknown=hasher.unknown[0])
    return Identity(digest=digest)


@cache
def _own_digest(value: Any) -> str:
    """Return the digest of a function or class of bestofk, which does not change while it runs."""
    hasher = IdentityHasher(own_digest=None)
    digest = hasher.digest((value,))
    if hasher.depends_on_changed_data:
        hasher = IdentityHasher(
            own_digest=None, writes=hasher.writes, writes_attributes=hasher.writes_attributes
        )
        digest = hasher.digest((value,))
    return digest


def text_digest(text: str, content: bytes = b"") -> str:
    """Return 16 hexadecimal digits of a text and bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") + content).hexdigest()[:16]


_MODULE_METADATA = frozenset(
    {
        "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__",
        "__package__", "__path__", "__spec__",
    }
)  # fmt: skip
"""Names of a module that describe its location, not its behaviour."""
_WITHOUT_EFFECT = (
    "cli", "report", "_base", "version", "data.tables", "data.dataset", "data.conversion", "losses",
    "run.store", "run.engines", "run.progress", "run.task", "run.run_task", "run.process_state",
)  # fmt: skip
"""Packages of bestofk that do not affect losses: editing them does not change a learner."""
HOOK = "__code_identity__"
"""Name of a function with which a module returns the identity of its code as text."""
_CLONED = (list, tuple, set, frozenset)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_STATELESS = (
    logging.Logger, logging.LoggerAdapter, type(threading.Lock()), type(threading.RLock()),
    threading.local, threading.Condition, threading.Event, weakref.ReferenceType,
    weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet,
)  # fmt: skip
"""Types whose state does not affect results."""
_DESCRIPTORS = (
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType,
)  # fmt: skip
_CLASS_METADATA = frozenset(
    {
        "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__",
        "__annotations_cache__", "__dict__", "__doc__", "__firstlineno__", "__module__",
        "__orig_bases__", "__parameters__", "__slotnames__", "__static_attributes__", "__weakref__",
        "_abc_impl",
    }
)  # fmt: skip
"""Names of a class that do not affect its behaviour."""


class IdentityHasher:
    """Feed a value and everything that it refers to to one hash, in an order of names.

    Functions, classes and modules are numbered at their first occurrence, so that cycles end.
    """

    def __init__(
        self,
        *,
        own_digest: Callable[[Any], str] | None,
        writes: frozenset[tuple[str, str]] = frozenset(),
        writes_attributes: frozenset[str] = frozenset(),
    ) -> None:
        self.own_digest = own_digest
        self.static, self.static_attributes = writes, writes_attributes
        self.writes: frozenset[tuple[str, str]] = frozenset()
        self.writes_attributes: frozenset[str] = frozenset()
        self.unknown: list[str] = []
        self._hash = hashlib.sha256()
        self._numbers: dict[int, int] = {}
        self._references: list[Any] = []
        self._above: dict[int, int] = {}
        self._data: set[tuple[str, str]] = set()
        self._class_data: set[str] = set()
        self._folder = ""
        self._cloned = True

    @property
    def depends_on_changed_data(self) -> bool:
        """True if the code changes data that it refers to."""
        return bool(self._data & self.writes or self._class_data & self.writes_attributes)

    def put(self, *parts: Any) -> None:
        """Hash texts and bytes, each with its length."""
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
        """Hash any value.

        A learner and the learners among its settings, alone or in lists, are cloned before the fit,
        so only their settings count. Of other estimators the fitted state counts too.
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
            self.put(kind.__name__, self._relative(value) if kind is str else repr(value))
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
            self._references.append(value)
            try:
                self._compound(value, kind)
            finally:
                del self._above[id(value)]

    def _relative(self, text: str) -> str:
        """Return a path inside the folder of its module without that folder."""
        folder = self._folder
        if folder and (text == folder or text.startswith(folder + os.sep)):
            return f"here{text[len(folder) :]}"
        return text

    def _compound(self, value: Any, kind: type) -> None:
        if kind in (list, tuple):
            self.put(kind.__name__, len(value))
            for item in value:
                self.value(item)
        elif kind in (dict, types.MappingProxyType):
            self.put("dict", len(value))
            for name, item in value.items():
                self.value(name)
                self.value(item)
        elif kind in (set, frozenset):
            self.put(kind.__name__, *sorted(self._apart(item) for item in value))
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
            self.put("path", self._relative(os.fspath(value)))
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
        """Hash the bytes of a shared library, or the name of a system library."""
        path = Path(str(value._name))
        self.put("library", path.name)
        if path.is_file():
            self.put(hashlib.sha256(path.read_bytes()).hexdigest())

    def _apart(self, value: Any) -> str:
        """Return a separate digest of a value, for collections without order."""
        other = IdentityHasher(
            own_digest=self.own_digest, writes=self.static, writes_attributes=self.static_attributes
        )
        other._folder, other._cloned = self._folder, self._cloned
        digest = other.digest((value,))
        self.unknown += other.unknown
        return digest

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
            if is_own(module) and self.own_digest is not None:
                self.put(OWN, self.own_digest(kind))
                return
        if self._seen_before(kind, "class", kind.__qualname__):
            return
        self.put(len(kind.__bases__))
        for base in kind.__bases__:
            self.value(base)
        self.value(type(kind))
        members = {name: value for name, value in vars(kind).items() if name not in _CLASS_METADATA}
        if not kind.__flags__ & (1 << 9):
            # a class written in C: its code is in its module
            self._compiled(kind, kind.__qualname__)
        self._fields(members)
        for name in sorted(members):
            self.put(name)
            if not callable(members[name]):
                self._class_data.add(name)
            if name in self.static_attributes and not callable(members[name]):
                assigned = _assigned_in(kind, name)
                if assigned:
                    self.put("assigned", *(value.text for value in assigned))
                    continue
            self.value(members[name])

    def _fields(self, members: dict[str, Any]) -> None:
        """Hash the fields of a dataclass instead of the methods generated from them."""
        fields = members.pop("__dataclass_fields__", None)
        if not isinstance(fields, dict):
            return
        self.put("fields", repr(members.pop("__dataclass_params__", None)))
        for name, field in fields.items():
            marks = (
                field.init,
                field.repr,
                field.hash,
                field.compare,
                field.kw_only,
                field._field_type,
            )
            self.put(name, repr(marks))
            for default in (field.default, field.default_factory):
                if default is dataclasses.MISSING:
                    self.put("none")
                else:
                    self.value(default)
        for name, member in list(members.items()):
            code = getattr(member, "__code__", None)
            if code is not None and code.co_filename == "<string>" and name[:2] == "__":
                del members[name]

    def _instance(self, value: Any, kind: type) -> None:
        if self._cloned and hasattr(value, "get_params"):
            try:
                settings = dict(value.get_params(deep=False))
            except Exception:
                # user classes may raise anything; then the whole state counts
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
        content, items, entries = (*rest, None, None, None)[:3]
        self.value(made_by)
        self.value(tuple(argument for argument in arguments if argument is not kind))
        for part in content if isinstance(content, tuple) and len(content) == 2 else (content,):
            if isinstance(part, dict) and all(isinstance(name, str) for name in part):
                self._names(part)
            else:
                self.value(part)
        self.value(None if items is None else list(items))
        self.value(None if entries is None else list(entries))

    def _estimator(self, value: Any, kind: type, settings: dict[str, Any]) -> None:
        """Hash the class and settings of a learner, without `random_state`."""
        self.put("estimator")
        settings.pop("random_state", None)
        self._names(settings)
        self._cloned = False
        self._class(kind)
        attributes = getattr(value, "__dict__", {})
        if "_metadata_request" in attributes:
            self.value(attributes["_metadata_request"])
        if _copies_itself(kind):
            # such as a frozen estimator, whose fitted state counts
            self._names(attributes)

    # functions, modules and what they refer to

    def _names(self, mapping: Mapping[str, Any]) -> None:
        """Hash a mapping from names, in sorted order."""
        self.put(len(mapping))
        for name in sorted(mapping, key=str):
            self.put(name)
            self.value(mapping[name])

    def _seen_before(self, value: Any, *parts: Any) -> bool:
        """Return whether a value occurred before, and number it if not."""
        number = self._numbers.get(id(value))
        if number is not None:
            self.put("again", number)
            return True
        self._numbers[id(value)] = len(self._numbers)
        self._references.append(value)
        self.put(*parts)
        return False

    def _function(self, function: types.FunctionType) -> None:
        names = function.__globals__
        module = str(names.get("__name__", ""))
        code = function.__code__
        if self._of_others(module, code.co_qualname, names):
            if function.__closure__ or "<" in code.co_qualname:
                if self._seen_before(function, "inner"):
                    return
                self.put(PYTHON, repr(bare_code(code)))
                self._surroundings(function)
            return
        if is_own(module) and self.own_digest is not None and "<" not in code.co_qualname:
            self.put(OWN, self.own_digest(function))
            return
        if self._seen_before(function, "function"):
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
        self._names(
            {name: value for name, value in vars(function).items() if name != "__wrapped__"}
        )
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self.put("closure", name)
            try:
                content = cell.cell_contents
            except ValueError:
                self.put("empty")
                continue
            self.value(content)

    def _referred(
        self,
        names: dict[str, Any],
        code: types.CodeType,
        parsed: ParsedFunction | None,
        file: ParsedFile | None,
    ) -> None:
        """Hash the names of its module that a function reads, and what it imports."""
        roots = global_names(code)
        chains: set[tuple[str, ...]] = {(name,) for name in roots}
        if parsed is not None:
            used = {chain for chain in parsed.chains if chain[0] in roots}
            chains = used | (chains - {chain[:1] for chain in used})
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
        value: Any,
        name: str,
        attributes: list[str],
        names: dict[str, Any],
        file_name: str,
        file: ParsedFile | None,
    ) -> None:
        """Hash a name of a module, or the attributes of another module behind it."""
        self.put("name", name)
        if name in _MODULE_METADATA:
            return
        module = str(names.get("__name__", ""))
        if isinstance(value, types.ModuleType):
            self._attributes(value, attributes)
            return
        if file is not None and not isinstance(value, type | types.FunctionType):
            # data of bestofk, and data that the code changes, count by their statements
            static = (file_name, name) in self.static or (
                self.own_digest is None and is_own(module)
            )
            if static and self._assigned(file.assigned(name), names, file_name, file):
                return
        self._data.add((file_name, name))
        before, self._folder = self._folder, _folder(names)
        try:
            self.value(value)
        finally:
            self._folder = before

    def _assigned(
        self,
        statements: list[ParsedFunction],
        names: dict[str, Any],
        file_name: str,
        file: ParsedFile,
    ) -> bool:
        """Hash the statements that assign a name; return False if there are none."""
        for statement in statements:
            if self._seen_before(statement, "assigned", statement.text):
                continue
            for name, *attributes in sorted(statement.chains):
                if name in names:
                    self._named(names[name], name, attributes, names, file_name, file)
            self._imports(statement, names, statements=True)
        return bool(statements)

    def _imports(
        self, parsed: ParsedFunction, names: dict[str, Any], *, statements: bool = False
    ) -> None:
        for module, level, name, bound in parsed.imports:
            uses = [list(chain[1:]) for chain in parsed.chains if chain[0] == bound]
            self._imported(names, module, level, name, sorted(uses) or [[]], statements)

    def _attributes(self, module: types.ModuleType, attributes: list[str]) -> None:
        """Hash the attributes of a module that are read, or all of it."""
        names = vars(module)
        if package_of(module.__name__, names) is not None or not attributes:
            self._module(module)
            return
        name, *rest = attributes
        try:
            value = getattr(module, name)
        except Exception:
            # a module may raise anything in its `__getattr__`
            self.put("missing", name)
            return
        file_name = str(names.get("__file__") or "")
        trusted = is_own(module.__name__)
        file = parsed_file(file_name, names, trusted=trusted) if file_name[-3:] == ".py" else None
        self._named(value, name, rest, names, file_name, file)

    def _imported(
        self,
        names: dict[str, Any],
        module: str,
        level: int,
        name: str,
        uses: list[list[str]],
        data: bool = False,
    ) -> None:
        """Hash what a function or a statement imports."""
        if level:
            package = str(names.get("__package__") or names.get("__name__", "").rpartition(".")[0])
            stem = package.rsplit(".", level - 1)[0] if level > 1 else package
            module = f"{stem}.{module}" if module else stem
        self.put("import", module, name)
        package_name = package_of_import(module)
        if package_name is not None:
            self.put(package_name)
            return
        if _has_no_effect(module):
            return
        try:
            value: Any = sys.modules.get(module) or importlib.import_module(module)
            if name and name != "*" and name not in vars(value):
                # a submodule is an attribute only after its import
                with suppress(ImportError):
                    importlib.import_module(f"{module}.{name}")
            if name and data:
                self._attributes(value, [name])
                return
            if name and name != "*":
                value = getattr(value, name)
        except Exception:
            # the import fails when the function runs
            self.put("missing")
            return
        for attributes in uses:
            if isinstance(value, types.ModuleType):
                self._attributes(value, attributes)
            else:
                self.value(value)

    def _builtin(self, function: Any) -> None:
        owner = function.__self__
        if owner is not None and not isinstance(owner, types.ModuleType):
            self.put("bound", function.__name__)
            self.value(owner)
            return
        self._compiled(function, function.__name__)

    def _compiled(self, value: Any, name: str) -> None:
        """Hash a value of a compiled module by its package, or by the bytes of its file."""
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
            if _has_no_effect(name):
                self.put(OWN, name)
                return
            if HOOK in names:
                self.put(OWN, name, names[HOOK]())
                return
        if self._seen_before(module, "module"):
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
        for name in sorted(set(names) - _MODULE_METADATA):
            if isinstance(names[name], types.ModuleType):
                self.put("name", name)
                self._attributes(names[name], [])
            else:
                self._named(names[name], name, [], names, file_name, file)

    def _of_others(self, module: str, name: str, names: dict[str, Any] | None = None) -> bool:
        """Hash a name that its package and version identify; return False if its source counts."""
        if _has_no_effect(module):
            self.put(OWN, module, name)
            return True
        namespace = vars(sys.modules[module]) if names is None and module in sys.modules else names
        package = package_of(module, namespace)
        if package is not None:
            self.put("package", package, module, name)
            return True
        if namespace is not None and HOOK in namespace:
            self.put("module", namespace[HOOK](), name)
            return True
        return False


def _is_at_its_name(kind: type, module: str) -> bool:
    """Return whether a class is the one at its name in its module, not one created at run time."""
    value: Any = sys.modules.get(module)
    for name in kind.__qualname__.split("."):
        value = getattr(value, "__dict__", {}).get(name)
    return value is kind


def _assigned_in(kind: type, name: str) -> list[ParsedFunction]:
    for member in vars(kind).values():
        function = getattr(member, "__func__", member)
        if isinstance(function, types.FunctionType):
            trusted = is_own(function.__module__ or "")
            file = parsed_file(function.__code__.co_filename, function.__globals__, trusted=trusted)
            statements: list[ParsedFunction] = (
                [] if file is None else file.assigned_in(kind.__qualname__, name)
            )
            if statements:
                return statements
    return []


def _copies_itself(kind: type) -> bool:
    method = getattr(kind, "__sklearn_clone__", None)
    base = sys.modules.get("sklearn.base")
    inherited = getattr(getattr(base, "BaseEstimator", None), "__sklearn_clone__", None)
    return method is not None and method is not inherited


def _reduced(value: Any) -> Any:
    """Return the reduced form of a value for pickle; None if it has none."""
    import copyreg

    reduce = copyreg.dispatch_table.get(type(value))
    try:
        return value.__reduce_ex__(4) if reduce is None else reduce(value)
    except Exception:
        # user classes may raise anything, and foreign state cannot be read
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
def _has_no_effect(module: str) -> bool:
    inside = module.removeprefix(f"{OWN}.")
    return is_own(module) and any(
        inside == room or inside.startswith(f"{room}.") for room in _WITHOUT_EFFECT
    )

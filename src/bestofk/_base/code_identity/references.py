"""What a function refers to: its module, other modules, and what it imports when it runs."""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib
import pickle
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bestofk._base.code_identity.bytecode import (
    OWN,
    PYTHON,
    bare_code,
    global_names,
    package_of,
    package_of_import,
)
from bestofk._base.code_identity.parsed_source import ParsedFile, ParsedFunction, parsed_file

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


class References(ABC):
    """Feeds functions and modules to one hash, in an order that depends on names alone.

    Functions, classes and modules are numbered as they are met, so that cycles end.
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

    @abstractmethod
    def value(self, value: Any) -> None:
        """Anything."""

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

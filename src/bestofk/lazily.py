"""Names of a package that are imported when they are first asked for (PEP 562).

The names stand in one place, the stub ``__init__.pyi`` next to the package's ``__init__.py``: type
checkers and editors read it, and so does `lazy_names`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_LINE = re.compile(r"^from ([\w.]+) import (.+)$", re.MULTILINE)


class _Package(ModuleType):
    """A package in which a function may share the name of the file that holds it.

    Importing ``package.name`` sets the attribute ``name`` of the package to that module; here the
    function of that name keeps its place.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and self.__dict__["_homes"].get(name) == f".{name}":
            value = getattr(value, name)
        super().__setattr__(name, value)


def names_in(stub: str) -> dict[str, str]:
    r"""Public name: the module that holds it, relative to the package, from the text of a stub.

    Every line is ``from .module import name as name, ...``; ``from . import module as module`` for
    a module that is public itself.

    Examples
    --------
    >>> names_in("from .units.sign import sign as sign\nfrom . import lab as lab")
    {'sign': '.units.sign', 'lab': '.'}
    """
    homes = {}
    for module, names in _LINE.findall(stub.replace("(\n", "").replace(",\n", ", ")):
        for item in names.strip(" ,()").split(","):
            homes[item.split(" as ")[0].strip()] = module
    return homes


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package, from its ``__init__.pyi``."""
    here = sys.modules[package]
    stub = Path(str(here.__file__)).with_name("__init__.pyi")
    homes = names_in(stub.read_text(encoding="utf-8"))
    here.__dict__["_homes"] = homes
    here.__class__ = _Package

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == ".":
            return import_module(f".{name}", package)
        value = getattr(import_module(homes[name], package), name)
        setattr(here, name, value)
        return value

    def dir_() -> list[str]:
        return sorted({*vars(here), *homes} - {"_homes"})

    return getattr_, dir_, sorted(homes)

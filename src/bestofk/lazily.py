"""Names of a package that are imported when they are first asked for (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A package in which a function may share the name of the file that holds it.

    Importing ``package.name`` sets the attribute ``name`` of the package to that module; here the
    function of that name keeps its place.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and self.__dict__["_homes"].get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


def lazy_names(
    package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its `__name__`.
    homes : mapping
        Public name: the module of the package that holds it.
    modules : tuple of str
        Modules of the package that are public themselves.
    """
    sys.modules[package].__dict__["_homes"] = homes
    sys.modules[package].__class__ = _Package

    def getattr_(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def dir_() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *modules} - {"_homes"})

    return getattr_, dir_

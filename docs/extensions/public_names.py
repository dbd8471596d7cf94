"""The pages of the API reference: one per public module, made from its names.

The names of a package are in its ``__init__.pyi``, those of a module in ``__all__`` or
are the functions and classes that it defines. Every name of `bestofk` and the functions of some
modules have pages of their own; a name that `bestofk` itself has too is described there.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = (
    "bestofk", "bestofk.stats.pairwise", "bestofk.stats.multiple", "bestofk.stats.adjust",
    "bestofk.stats.intervals", "bestofk.plugins", "bestofk.testing", "bestofk.papers",
    "bestofk.papers.stats", "bestofk.papers.stats.estimates", "bestofk.papers.decide",
    "bestofk.papers.lab",
)  # fmt: skip
PAGE_PER_FUNCTION = (
    "bestofk.stats.pairwise", "bestofk.stats.multiple", "bestofk.stats.adjust",
    "bestofk.stats.intervals", "bestofk.papers.stats", "bestofk.papers.decide",
    "bestofk.papers.lab",
)  # fmt: skip
CLASSES_APART = ("bestofk.plugins", "bestofk.stats.pairwise")
"""Modules whose classes have a page of their own, next to that of the functions."""
GROUPS = ("Functions", "Classes", "Errors", "Data")
FOLDER = Path("api")


def public_modules() -> tuple[str, ...]:
    """Names of all public modules, `bestofk` first."""
    return MODULES


def page_of(name: str) -> str:
    """The page below the reference that describes a public name."""
    module, _, short = name.rpartition(".")
    group = group_of(getattr(import_module(module), short))
    if has_pages(module, group):
        return f"generated/{name}"
    return f"{module}.classes" if group == "Classes" and module in CLASSES_APART else module


def has_pages(module: str, group: str) -> bool:
    """Whether each name of a group of a module has a page of its own."""
    return module == "bestofk" or (module in PAGE_PER_FUNCTION and group == "Functions")


@cache
def public_names(module: str) -> tuple[str, ...]:
    """The public names of a module, without modules and ``__version__``."""
    home = import_module(module)
    listed = getattr(home, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(home).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module
        ]
    return tuple(
        sorted(
            name
            for name in listed
            if not name.startswith("__") and not isinstance(getattr(home, name), ModuleType)
        )
    )


def group_of(value: Any) -> str:
    """Under which heading a value stands."""
    if inspect.isclass(value):
        return "Errors" if issubclass(value, Exception) else "Classes"
    return "Functions" if callable(value) else "Data"


def home_of(module: str, name: str) -> str:
    """The module on whose page a name is described: the first public one that has it."""
    value = getattr(import_module(module), name)
    for other in public_modules():
        if name in public_names(other) and getattr(import_module(other), name) is value:
            return other
    return module


def type_links() -> dict[str, str]:
    """Return the full name of each class that a docstring can name as a type."""
    return {
        name: f"{home_of(module, name)}.{name}"
        for module in reversed(public_modules())
        for name in public_names(module)
        if inspect.isclass(getattr(import_module(module), name))
    }


def module_page(module: str) -> str:
    """The page of a module, as reStructuredText."""
    home = import_module(module)
    lines = [module, "=" * len(module), "", f".. module:: {module}", ""]
    lines += [*inspect.cleandoc(home.__doc__ or "").splitlines(), ""]
    lines += [f".. currentmodule:: {module}", ""]
    by_group: dict[str, list[str]] = {group: [] for group in GROUPS}
    elsewhere = []
    for name in public_names(module):
        if home_of(module, name) != module:
            elsewhere.append(name)
        else:
            by_group[group_of(getattr(home, name))].append(name)
    for group, names in by_group.items():
        if not names:
            continue
        if group == "Classes" and module in CLASSES_APART:
            lines += [":doc:`Classes <" + module + ".classes>`", ""]
            continue
        lines += [group, "-" * len(group), ""]
        if group == "Data":
            for name in names:
                lines += _registry(getattr(home, name), name)
            continue
        if not has_pages(module, group):
            directive = "autofunction" if group == "Functions" else "autoclass"
            for name in names:
                lines += [f".. {directive}:: {name}", ""]
            continue
        lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    if elsewhere:
        lines += ["Described elsewhere", "-" * 19, ""]
        for name in elsewhere:
            value = getattr(home, name)
            kind = "class" if inspect.isclass(value) else "function"
            kind = kind if callable(value) else "data"
            there = f"{home_of(module, name)}.{name}"
            lines += [f".. py:{kind}:: {name}", "   :no-index-entry:", ""]
            lines += [f"   The same as :py:obj:`{there}`.", ""]
    return "\n".join(lines)


def classes_page(module: str) -> str:
    """The page of the classes of a module, as reStructuredText."""
    title = f"{module}: classes"
    lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    for name in public_names(module):
        value = getattr(import_module(module), name)
        if group_of(value) == "Classes" and home_of(module, name) == module:
            lines += [f".. autoclass:: {name}", ""]
    return "\n".join(lines)


def _registry(registry: Any, name: str) -> list[str]:
    """A registry and the names in it, or another constant."""
    if not isinstance(registry, Mapping):
        return [f".. py:data:: {name}", f"   :value: {registry!r}", ""]
    entries = ", ".join(f"``{entry}``" for entry in registry)
    return [f".. py:data:: {name}", "", f"   A registry of {len(registry)}: {entries}.", ""]


def all_pages() -> dict[Path, str]:
    """Path below the documentation: text, of every page made here."""
    pages = {FOLDER / f"{module}.rst": module_page(module) for module in public_modules()}
    apart = {FOLDER / f"{module}.classes.rst": classes_page(module) for module in CLASSES_APART}
    return pages | apart

"""Any table from a file: columns of cells that stay as written until a reader asks for numbers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofk.tables.reading import read_table
    from bestofk.tables.table import Table

_HOMES = {"Table": "table", "read_table": "reading"}

__all__ = ["Table", "read_table"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"bestofk.tables.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bestofk.tables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Any table from a file: columns of cells that stay as written until a reader asks for numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.tables.reading import read_table
    from bestofk.tables.table import Table

_HOMES = {"Table": "table", "read_table": "reading"}

__all__ = ["Table", "read_table"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

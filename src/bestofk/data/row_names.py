"""Columns that name the rows: another value in every row tells rows apart and teaches nothing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

INDEX_NAMES = ("id", "index", "row", "rowid", "row_id", "unnamed: 0")
FEWEST = 10
"""Of fewer rows nothing can be told."""


def names_rows(cells: pd.Series[Any], column: Hashable) -> bool:
    """Whether a column holds words, or whole numbers under such a name, that are all different."""
    import pandas as pd

    if len(cells) < FEWEST:
        return False
    nominal = isinstance(cells.dtype, pd.CategoricalDtype)
    called = str(column).strip().lower() in INDEX_NAMES
    if not nominal and not (cells.dtype.kind == "i" and called):
        return False
    return bool(cells.nunique() == len(cells))


def is_constant(cells: pd.Series[Any]) -> bool:
    """Whether all known cells are the same."""
    import pandas as pd

    if len(cells) < 2:
        return False
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return bool(cells.nunique() == 1)
    return bool(cells.min() == cells.max())


def said_of_left_out(names: Sequence[Hashable], keep: str) -> str:
    """The sentence that tells of them, and how to keep them."""
    return f"Left out, since every row has another value: {listed(names)} ({keep} to keep it)."


def said_of_constants(names: Sequence[Hashable]) -> str:
    """The sentence about columns that hold one value."""
    return f"The same value in every row, kept: {listed(names)}."


def listed(names: Sequence[Hashable]) -> str:
    """The first names."""
    shown = [repr(name) for name in names[:8]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")

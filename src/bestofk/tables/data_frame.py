"""Columns by name as a data frame of pandas, imported when one is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def data_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Columns of one length as a data frame; None stays None.

    Examples
    --------
    >>> data_frame({"learner": ["a", "b"], "better": [None, "a"]})
      learner better
    0       a   None
    1       b      a
    """
    import pandas as pd

    return pd.DataFrame(
        {
            name: pd.Series(list(cells), dtype=object if _holds_words(cells) else None)
            for name, cells in columns.items()
        }
    )


def _holds_words(cells: Any) -> bool:
    """Names, words or nothing at all: a column of objects, so that None stays None."""
    listed = list(cells)
    return bool(listed) and (
        any(isinstance(cell, str) for cell in listed) or all(cell is None for cell in listed)
    )

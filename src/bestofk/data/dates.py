"""Convert dates in files and data frames to days since 1970-01-01."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, use

if TYPE_CHECKING:
    import pandas as pd

_ISO = re.compile(
    r"\s*\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?\s*"
)
_AMBIGUOUS = re.compile(r"\s*\d{1,2}([./-])\d{1,2}\1\d{4}\s*")
_DAY = np.timedelta64(1, "D")


def days_of_column(column: pd.Series[Any], name: Hashable) -> pd.Series[Any] | None:
    """Return a column of dates, times or durations in days (NaN if missing); None for others."""
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.PeriodDtype):
        return _days(column.dt.to_timestamp())
    if pd.api.types.is_datetime64_any_dtype(kind):
        return _days(column)
    if pd.api.types.is_timedelta64_dtype(kind):
        return pd.Series(column.to_numpy() / _DAY)
    if isinstance(kind, pd.CategoricalDtype) or not (
        pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)
    ):
        return None
    known = column.dropna()
    if not len(known):
        return None
    first = known.iloc[0]
    if looks_like_date(first):
        texts = pd.unique(known)
        days = days_of_texts(texts.tolist(), name)
        if days is None:
            return None
        return column.map(dict(zip(texts, days, strict=True))).astype(np.float64)
    if pd.api.types.infer_dtype(known) in ("date", "datetime"):
        return _days(pd.to_datetime(column, errors="coerce"))
    return None


def looks_like_date(text: object) -> bool:
    """Return whether a cell may be a date; a cheap check before parsing all cells."""
    return isinstance(text, str) and bool(_ISO.fullmatch(text) or _AMBIGUOUS.fullmatch(text))


def days_of_texts(texts: Sequence[str], name: Hashable) -> Floats | None:
    """Return the days of texts such as 2024-03-31 or 2024-03-31 12:30; None if one is no date.

    Raise if all texts are dates in which day and month cannot be distinguished.
    """
    import pandas as pd

    if not len(texts) or not looks_like_date(texts[0]):
        return None
    if _AMBIGUOUS.fullmatch(texts[0]) and all(
        isinstance(text, str) and _AMBIGUOUS.fullmatch(text) for text in texts
    ):
        either = (text for text in texts if all(int(n) <= 12 for n in re.findall(r"\d+", text)[:2]))
        date = next(either, texts[0]).strip()
        raise ArgumentError(
            f"Column {name!r} holds dates such as {date!r}, which can be read in two ways: write "
            "them as 2024-12-31 (pandas.to_datetime has the argument dayfirst), leave the column "
            "out with ",
            use(ignore=[name]),
            ", or read it as labels with ",
            use(nominal=[name]),
            ".",
        )
    if not all(isinstance(text, str) and _ISO.fullmatch(text) for text in texts):
        return None
    try:
        moments = pd.to_datetime(
            pd.Series([text.strip() for text in texts]), format="ISO8601", utc=True
        )
    except (ValueError, OverflowError):  # such as the 30th of February
        return None
    return _days(moments).to_numpy()


def _days(moments: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    if getattr(moments.dtype, "tz", None) is not None:
        moments = moments.dt.tz_convert("UTC").dt.tz_localize(None)
    since = moments.to_numpy() - np.datetime64("1970-01-01")
    return pd.Series(since / _DAY)


def describe_dates(names: Sequence[Hashable]) -> str:
    """Say which columns hold dates."""
    shown = ", ".join(repr(name) for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"Dates, converted to days since 1970-01-01: {shown}{more}."

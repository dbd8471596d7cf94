"""Decide whether a column holds numbers, dates or categories, in files and data frames alike."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import counted
from bestofk.data.cells import MISSING_TEXTS, read_numbers
from bestofk.data.schema import categorical, numbers_of, values_of

if TYPE_CHECKING:
    import pandas as pd

STATED_KINDS = ("category", "number", "ignore")
"""Kinds that the user can state."""
MIN_ROWS_TO_JUDGE = 10
"""Minimum number of rows to recognise an identifier."""

_IDENTIFIER = re.compile(
    r"(?:^|.*[\s_.-])(?:id|ids|uid|uuid|guid|idx|index|key|pk|row|rowid|rownum|unnamed: ?\d*)$"
)
_CAMEL_IDENTIFIER = re.compile(r".*[a-z0-9](?:Id|ID|Uid|UID|Uuid|UUID|Guid|GUID|Idx|Key)$")
_DAY = np.timedelta64(1, "D")
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_DATE = re.compile(r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}")
_YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])\d{{2}}\1\d{{2}}{_TIME}")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}})({_TIME})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnReader:
    """Convert the cells of a column, as learned from the cells of a data set.

    - `kind`: Numbers, dates (days since 1970-01-01) or categories.
    - `categories`: The declared values of a category, in order. Other values are missing.
    - `words`: Texts in a column of numbers that are missing values.
    - `day_first`: Whether 01/02/2024 is in February.
    - `notes`: Sentences about cells that were not read as they are written.
    """

    name: str
    kind: Literal["number", "date", "category"]
    categories: tuple[Any, ...] = ()
    words: tuple[str, ...] = ()
    day_first: bool | None = None
    notes: tuple[str, ...] = ()

    def read(self, cells: pd.Series[Any], *, delimiter: str | None = None) -> pd.Series[Any]:
        """Return the cells as numbers (NaN if missing) or as a categorical."""
        import pandas as pd

        if self.kind == "category":
            return categorical(cells, self.categories)
        if self.kind == "date":
            parsed = _parse_dates(cells, self.name, self.day_first)
            if parsed is not None:
                return pd.Series(parsed[0], index=cells.index)
        if self.words:
            cells = cells.where(~cells.isin(self.words), None)
        return numbers_of(cells, self.name, delimiter)


def learn_column(
    cells: pd.Series[Any],
    name: Hashable,
    stated: str | None = None,
    *,
    delimiter: str | None = None,
) -> ColumnReader:
    """Decide what a column is.

    Missing are null values, what pandas reads as missing (``MISSING_TEXTS``) and ``?``. A column
    is numeric if every other cell is a number (see `bestofk.data.cells.read_numbers`), with
    a few words read as missing. It holds dates if all cells are dates of one form. Otherwise it is
    a category, with its values in declared order (categorical columns) or sorted.

    - `stated`: ``"category"`` or ``"number"`` if the user knows the kind.
    - `delimiter`: The delimiter of the file, if any.

    Examples
    --------
    >>> import pandas as pd
    >>> reader = learn_column(pd.Series(["1.5", "2"] * 9 + ["unknown"]), "income")
    >>> reader.kind, *reader.notes
    ('number', "1 cell 'unknown' of 'income' is read as missing (columns={'income': 'category'} \
keeps it).")
    >>> learn_column(pd.Series(["red", "?", "blue"]), "colour").categories
    ('blue', 'red')
    """
    import pandas as pd

    text, kind = str(name), cells.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iuf" and stated != "category":
        return ColumnReader(name=text, kind="number")
    declared = isinstance(kind, pd.CategoricalDtype)
    if stated is None and not declared:
        dates = _parse_dates(cells, text)
        if dates is not None:
            since = "" if kind.kind == "m" else " since 1970-01-01"
            note = f"The {'dates' if since else 'durations'} of {text!r} are read as days{since}."
            return ColumnReader(name=text, kind="date", day_first=dates[1], notes=(note,))
    if stated != "category" and not declared:
        parsed = read_numbers(cells, delimiter=delimiter)
        if parsed is not None:
            notes = [_words_note(text, word, count) for word, count in parsed.words.items()]
            notes += [f"{text!r}: {parsed.form}."] if parsed.form else []
            return ColumnReader(
                name=text, kind="number", words=tuple(parsed.words), notes=tuple(notes)
            )
    if stated == "number":
        numbers_of(cells, text, delimiter)  # raises an error that names a cell
        return ColumnReader(name=text, kind="number")
    return ColumnReader(name=text, kind="category", categories=values_of(cells, text))


def _words_note(name: str, word: str, count: int) -> str:
    are, them = ("is", "it") if count == 1 else ("are", "them")
    return (
        f"{counted(count, 'cell')} {word!r} of {name!r} {are} read as missing "
        f"({use(columns={name: 'category'})} keeps {them})."
    )


# Dates


def _parse_dates(
    cells: pd.Series[Any], name: str, day_first: bool | None = None
) -> tuple[Floats, bool | None] | None:
    """Return days since 1970-01-01, and whether texts have days before months; None for others.

    Durations are returned in days. Raise if the texts do not show which part is the day.
    """
    import pandas as pd

    kind = cells.dtype
    if kind.kind == "m":
        return cells.to_numpy() / _DAY, None
    if isinstance(kind, pd.PeriodDtype):
        return _days(cells.dt.to_timestamp()), None
    if pd.api.types.is_datetime64_any_dtype(kind):
        return _days(cells), None
    if not (kind.kind == "O" or pd.api.types.is_string_dtype(kind)):
        return None
    known = cells.dropna()
    texts_or_none = (cell if isinstance(cell, str) else None for cell in known)
    first = next((cell for cell in texts_or_none if cell not in MISSING_TEXTS), None)
    if not isinstance(first, str):
        is_date = pd.api.types.infer_dtype(known) in ("date", "datetime")
        return (_days(pd.to_datetime(cells, errors="coerce")), None) if is_date else None
    if not _DATE.match(first):
        return None
    known = known[~known.isin(MISSING_TEXTS)]
    texts = {text: str(text).strip() for text in pd.unique(known)}
    year_last = [match for match in map(_YEAR_LAST.fullmatch, texts.values()) if match]
    if len(year_last) == len(texts):
        if day_first is None:
            day_first = _days_come_first(year_last, name)
        order = r"\4-\3-\1\5" if day_first else r"\4-\1-\3\5"
        iso = [re.sub(r"-(\d)(?!\d)", r"-0\1", match.expand(order)) for match in year_last]
    elif all(map(_YEAR_FIRST.fullmatch, texts.values())):
        iso = [text[:10].replace("/", "-").replace(".", "-") + text[10:] for text in texts.values()]
    else:
        return None
    try:
        moments = pd.to_datetime(pd.Series(iso, dtype=object), format="ISO8601", utc=True)
    except (ValueError, OverflowError):  # such as the 30th of February
        return None
    days = cells.map(dict(zip(texts, _days(moments), strict=True)))
    return days.to_numpy(dtype=np.float64), day_first


def _days_come_first(dates: list[re.Match[str]], name: str) -> bool:
    """Return whether 01/02/2024 is in February; a point means that it is."""
    days = [int(match[1]) > 12 or match[2] == "." for match in dates]
    if any(days) or any(int(match[3]) > 12 for match in dates):
        return any(days)
    raise ArgumentError(
        f"Column {name!r} holds dates such as {dates[0][0]!r}, whose day and month cannot be told "
        "apart: write them as 2024-12-31, or leave the column out with ",
        use(columns={name: "ignore"}),
        ".",
    )


def _days(moments: pd.Series[Any]) -> Floats:
    if getattr(moments.dtype, "tz", None) is not None:
        moments = moments.dt.tz_convert("UTC").dt.tz_localize(None)
    days: Floats = (moments.to_numpy() - np.datetime64("1970-01-01")) / _DAY
    return days


# Identifiers


def named_like_identifier(column: Hashable) -> bool:
    """Return whether the name of a column is that of an identifier.

    Examples
    --------
    >>> names = ["customer_id", "PassengerId", "uuid", "Unnamed: 0", "width", "valid"]
    >>> [name for name in names if named_like_identifier(name)]
    ['customer_id', 'PassengerId', 'uuid', 'Unnamed: 0']
    """
    name = str(column).strip()
    return bool(_IDENTIFIER.fullmatch(name.lower()) or _CAMEL_IDENTIFIER.fullmatch(name))


def names_rows(cells: pd.Series[Any], column: Hashable) -> bool:
    """Return whether a converted column identifies the rows.

    It must hold texts or whole numbers that differ in every row, and be named like an identifier
    or rise in steps of one (7, 8, 9 or p07, p08, p09).
    """
    import pandas as pd

    if len(cells) < MIN_ROWS_TO_JUDGE or cells.isna().any():
        return False
    if isinstance(cells.dtype, pd.CategoricalDtype):
        if cells.nunique() < len(cells):
            return False
        if named_like_identifier(column):
            return True
        texts = cells.astype(str)
        prefixes = texts.str.replace(r"\d{1,15}$", "", regex=True)
        if prefixes.nunique() > 1 or (texts == prefixes).any():
            return False
        cells = texts.str.slice(len(prefixes.iloc[0])).astype(np.int64)
    numbers = cells.to_numpy()
    if numbers.dtype.kind in "iu" and (np.diff(numbers) == 1).all():
        return True
    if not named_like_identifier(column) or cells.nunique() < len(cells):
        return False
    return bool((numbers == np.floor(numbers)).all())

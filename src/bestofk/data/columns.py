"""What a column is: numbers, dates or categories. The same rule holds for files and data frames."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import counted
from bestofk.data.schema import in_order
from bestofk.data.tables.cells import MISSING_TEXTS, coded_texts, read_numbers

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
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
"""Types that are kept; other floats become float64."""
_DAY = np.timedelta64(1, "D")
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
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
        if self.kind == "category":
            return _categorical(cells, self.categories)
        days = None if self.kind == "number" else _days(cells, self.name, self.day_first)
        if days is not None:
            return days
        if self.words:
            cells = cells.where(~cells.isin(self.words), None)
        return _numbers(cells, self.name, delimiter)


def learn_column(
    cells: pd.Series[Any],
    name: Hashable,
    stated: str | None = None,
    *,
    delimiter: str | None = None,
) -> ColumnReader:
    """Decide what a column is.

    Missing are null values, what pandas reads as missing (``MISSING_TEXTS``) and ``?``. A column
    is numeric if every other cell is a number (see `bestofk.data.tables.cells.read_numbers`), with
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
    declared = isinstance(kind, pd.CategoricalDtype)
    if stated is None and not declared:
        day_first = _day_first(cells, text)
        if day_first is not _NO_DATES:
            note = f"The dates of {text!r} are read as days since 1970-01-01."
            return ColumnReader(name=text, kind="date", day_first=day_first, notes=(note,))
    if stated != "category" and not declared:
        parsed = read_numbers(cells, delimiter=delimiter)
        if parsed is not None:
            notes = [_words_note(text, word, count) for word, count in parsed.words.items()]
            notes += [f"{text!r}: {parsed.form}."] if parsed.form else []
            return ColumnReader(
                name=text, kind="number", words=tuple(parsed.words), notes=tuple(notes)
            )
    if stated == "number":
        _numbers(cells, text, delimiter)  # raises an error that names a cell
        return ColumnReader(name=text, kind="number")
    return ColumnReader(name=text, kind="category", categories=_categories_of(cells, text))


def _words_note(name: str, word: str, count: int) -> str:
    are, them = ("is", "it") if count == 1 else ("are", "them")
    return (
        f"{counted(count, 'cell')} {word!r} of {name!r} {are} read as missing "
        f"({use(columns={name: 'category'})} keeps {them})."
    )


# Numbers and categories


def _numbers(cells: pd.Series[Any], name: str, delimiter: str | None) -> pd.Series[Any]:
    import pandas as pd

    kind = cells.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        if kind not in _FLOATS:
            cells = cells.astype(np.float64 if kind.kind == "f" else np.int64)
        numbers = cells.copy()
    else:
        if isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(kind):
            cells = cells.astype(object)
        parsed = read_numbers(cells, delimiter=delimiter, allow_words=False)
        if parsed is None:
            raise ArgumentError(f"Column {name!r} must hold numbers; got {_no_number(cells)!r}.")
        numbers = pd.Series(parsed.values, index=cells.index)
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        row = int(np.flatnonzero(infinite)[0]) + 1
        raise ArgumentError(f"Column {name!r} must hold finite numbers; got infinity in row {row}.")
    return numbers


def _no_number(cells: pd.Series[Any]) -> Any:
    """Return the first cell that is not a number by itself, else the first cell."""
    texts = coded_texts(cells).texts
    return next((text for text in texts if read_numbers([text]) is None), texts[0])


def _categories_of(cells: pd.Series[Any], name: str) -> tuple[Any, ...]:
    import pandas as pd

    kind = cells.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return tuple(kind.categories.tolist())
    if pd.api.types.is_complex_dtype(kind):
        raise ArgumentError(
            f"Complex data not supported: column {name!r} must hold real numbers or text."
        )
    known = cells.dropna()
    if pd.api.types.is_numeric_dtype(kind) or _all_truth_values(known):
        return in_order(pd.unique(known).tolist())
    nested = next(
        (cell for cell in known if hasattr(cell, "__len__") and not isinstance(cell, str)), None
    )
    if nested is not None:
        raise TypeError(
            f"Column {name!r}: each cell's argument must be a string or a number; "
            f"got {type(nested).__name__!r}."
        )
    return in_order(coded_texts(cells).texts)


def _all_truth_values(known: pd.Series[Any]) -> bool:
    import pandas as pd

    return pd.api.types.is_bool_dtype(known) or (
        known.dtype == object and pd.api.types.infer_dtype(known) == "boolean"
    )


def _categorical(cells: pd.Series[Any], categories: tuple[Any, ...]) -> pd.Series[Any]:
    """Return declared values; find a value by its text if its type differs (True, "True")."""
    import pandas as pd

    if isinstance(cells.dtype, pd.CategoricalDtype):
        if tuple(cells.cat.categories.tolist()) == categories:
            return cells.copy()
        cells = cells.astype(object)
    codes, texts = coded_texts(cells)
    position = {text: code for code, text in enumerate(coded_texts(list(categories)).texts)}
    new_codes = np.array([position.get(text, -1) for text in texts] + [-1], dtype=np.intp)
    values = pd.Categorical.from_codes(new_codes[codes], categories=pd.Index(list(categories)))
    return pd.Series(values, index=cells.index)


# Dates

_NO_DATES: Any = object()


def _day_first(cells: pd.Series[Any], name: str) -> Any:
    """Return whether days come before months, None if years come first; `_NO_DATES` for others.

    Raise if the cells do not show it.
    """
    import pandas as pd

    kind = cells.dtype
    if kind.kind in "mM" or isinstance(kind, pd.PeriodDtype | pd.DatetimeTZDtype):
        return None
    if not (kind.kind == "O" or pd.api.types.is_string_dtype(kind)):
        return _NO_DATES
    known = cells[cells.notna() & ~cells.isin(MISSING_TEXTS)]
    if not len(known):
        return _NO_DATES
    if not isinstance(known.iloc[0], str):
        return None if pd.api.types.infer_dtype(known) in ("date", "datetime") else _NO_DATES
    texts = [str(text).strip() for text in pd.unique(known)]
    if all(map(_YEAR_FIRST.fullmatch, texts)):
        return None if _moments(texts, None) is not None else _NO_DATES
    parts = []
    for text in texts:
        match = _YEAR_LAST.fullmatch(text)
        if match is None:
            return _NO_DATES
        parts.append((int(match[1]), int(match[3]), match[2]))
    ways = [
        way
        for way in (True, False)
        if all((second if way else first) <= 12 for first, second, _ in parts)
    ]
    if len(ways) == 2:
        if {mark for _, _, mark in parts} != {"."}:
            raise ArgumentError(
                f"Column {name!r} holds dates such as {texts[0]!r}, whose day and month cannot be "
                f"told apart: write them as 2024-12-31, or leave the column out with ",
                use(columns={name: "ignore"}),
                ".",
            )
        ways = [True]
    return ways[0] if ways and _moments(texts, ways[0]) is not None else _NO_DATES


def _moments(texts: list[str], day_first: bool | None) -> Any:
    """Return the times of texts; None if one is no date, such as the 30th of February."""
    import pandas as pd

    order = (2, 1, 0) if day_first else (2, 0, 1)
    written = []
    for text in texts:
        match = _YEAR_LAST.fullmatch(text)
        if match is None:
            written.append(re.sub(r"^(\d{4}).(\d{2}).(\d{2})", r"\1-\2-\3", text))
            continue
        if day_first is None:
            return None
        date = [(match[1], match[3], match[4])[place].zfill(2) for place in order]
        written.append("-".join(date) + match[5])
    try:
        return pd.to_datetime(pd.Series(written, dtype=object), format="ISO8601", utc=True)
    except (ValueError, OverflowError):
        return None


def _days(cells: pd.Series[Any], name: str, day_first: bool | None) -> pd.Series[Any] | None:
    """Return dates, times or durations in days (NaN if missing); None for plain numbers."""
    import pandas as pd

    kind = cells.dtype
    if isinstance(kind, pd.PeriodDtype):
        cells = cells.dt.to_timestamp()
    elif kind.kind == "m":
        return pd.Series(cells.to_numpy() / _DAY, index=cells.index)
    elif not pd.api.types.is_datetime64_any_dtype(kind):
        known = cells[cells.notna() & ~cells.isin(MISSING_TEXTS)]
        if not len(known):
            return pd.Series(np.nan, index=cells.index)
        if pd.api.types.is_numeric_dtype(kind):
            return None
        if isinstance(known.iloc[0], str):
            texts = pd.unique(known)
            moments = _moments([str(text).strip() for text in texts], day_first)
            if moments is None and day_first is None:
                day_first = _day_first(cells, name)
                if day_first is not _NO_DATES:
                    moments = _moments([str(text).strip() for text in texts], day_first)
            if moments is None:
                return None
            by_text = dict(zip(texts, _since_1970(moments), strict=True))
            return cells.map(by_text).astype(np.float64)
        cells = pd.to_datetime(cells, errors="coerce")
    return pd.Series(_since_1970(cells), index=cells.index)


def _since_1970(moments: pd.Series[Any]) -> Floats:
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

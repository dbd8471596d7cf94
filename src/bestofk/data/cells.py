"""The rule for the cells of a column: which are missing, and whether the others are numbers.

The same rule holds for files and data frames, and for data sets and tables of scores.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, MissingExtraError

MISSING_TEXTS = frozenset({
    "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
})  # fmt: skip
"""Texts of missing cells: what pandas reads as missing, and the question mark."""
MIN_SHARE_OF_NUMBERS = 0.9
"""Read words as missing if at least this share of the known cells are numbers."""
MAX_WORDS = 5
"""Read at most this many different words of a column as missing."""

_NONE: frozenset[str] = frozenset()
_SAMPLE = 64
_CURRENCY = "$€£¥₹"
_DECORATED = re.compile(rf"([+-]?)\s*([{_CURRENCY}]?)\s*([^{_CURRENCY}%]*?)\s*([{_CURRENCY}%]?)")
_DIGIT = re.compile(r"\d")
_NUMERAL = re.compile(rf"[-+\d.,'’\s{_CURRENCY}%eE]+|[+-]?inf(?:inity)?", re.IGNORECASE)
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_SPACES = {ord(space): " " for space in "\u00a0\u2007\u2009\u202f"} | {ord("’"): "'"}
_POINT_MARKS = (("", "."), (",", "."), (" ", "."), ("'", "."))
_COMMA_MARKS = (("", ","), (".", ","), (" ", ","))


Codes = npt.NDArray[np.integer[Any]]


class Levels(NamedTuple):
    """A column as codes into its distinct texts; -1 is the code of a missing cell."""

    codes: Codes
    names: tuple[str, ...]


class Numbers(NamedTuple):
    """A column of numbers.

    - `values`: The numbers; NaN for missing cells.
    - `form`: How the numbers are written, for a note; empty if they are plain.
    - `words`: The words that are read as missing, and the number of cells with each.
    """

    values: Floats
    form: str = ""
    words: Mapping[str, int] = {}


def coded_texts(cells: Any) -> Levels:
    """Return the texts of a column without the spaces around them, each once.

    Texts are in order of appearance; those of a categorical are in its order, some may not occur,
    and none is missing. Whole floats are written without decimals.

    - `cells`: A pandas Series or anything that makes one.

    Examples
    --------
    >>> coded_texts(["b", " a ", "NA", "b"])
    Levels(codes=array([ 0,  1, -1,  0], dtype=int32), names=('b', 'a'))
    """
    import pandas as pd

    cells = _series(cells)
    missing = MISSING_TEXTS
    if isinstance(cells.dtype, pd.CategoricalDtype):
        codes, distinct, missing = cells.cat.codes.to_numpy(), cells.cat.categories.tolist(), _NONE
    else:
        if cells.dtype == object and pd.api.types.infer_dtype(cells, skipna=True) != "string":
            # 1, 1.0 and True are equal, and lists have no hash
            absent = _absent(cells)
            texts = [None if no else text_of(cell) for cell, no in zip(cells, absent, strict=True)]
            cells = pd.Series(texts, dtype=object)
        if cells.dtype.kind in "mM":
            cells = cells.astype(str).where(cells.notna())
        codes, unique = pd.factorize(cells)
        distinct = unique.tolist()
    return recode(codes, distinct, missing)


def recode(
    codes: Codes,
    distinct: Sequence[Any],
    missing: frozenset[str] = MISSING_TEXTS,
) -> Levels:
    """Return the texts of distinct cells, and the codes of a column into these texts."""
    if all(type(cell) is str for cell in distinct):
        texts = tuple(map(str.strip, distinct))
        if len(set(texts)) == len(texts) and missing.isdisjoint(texts):
            return Levels(codes, texts)
    position: dict[str, int] = {}
    new_codes = np.full(len(distinct) + 1, -1, dtype=np.int32)
    for code, cell in enumerate(distinct):
        text = cell.strip() if type(cell) is str else text_of(cell)
        if text not in missing:
            new_codes[code] = position.setdefault(text, len(position))
    if len(position) < len(distinct):
        codes = new_codes[codes]
    return Levels(codes, tuple(position))


def text_of(cell: Any) -> str:
    """Return the text of a cell that is not missing."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        cell = int(cell)
    return str(cell).strip()


DECIMAL_COMMAS = "commas were read as decimal marks"


def read_numbers(
    cells: Any, *, delimiter: str | None = None, allow_words: bool = True
) -> Numbers | None:
    """Return the numbers of a column, or None if it is not a column of numbers.

    All known cells must be numbers, written in one way: with one thousands separator (comma,
    point, space or apostrophe), one decimal mark, one currency sign, or a percent sign. If all
    commas could separate thousands (``52,345``), they do, unless the delimiter of the file is a
    semicolon. Percentages are read as fractions. Booleans and dates are not numbers.

    Words are read as missing if at least nine of ten known cells are numbers and there are at most
    five different words, none of which contains a digit.

    - `cells`: A pandas Series or anything that makes one; text, numbers or Python objects.
    - `delimiter`: The delimiter of the file if it is delimited text.
    - `allow_words`: Whether some words may be read as missing.

    Examples
    --------
    >>> read_numbers(["52,345", "1,204,000", "NA"])
    Numbers(values=array([  52345., 1204000.,      nan]), form='thousands separators were removed',
            words={})
    >>> read_numbers(["1.5", "2"] * 9 + ["unknown"]).words
    {'unknown': 1}
    >>> read_numbers(["low", "high"])
    """
    import pandas as pd

    cells = _series(cells)
    if pd.api.types.is_bool_dtype(cells.dtype) or cells.dtype.kind in "mM":
        return None
    if pd.api.types.is_numeric_dtype(cells.dtype):
        if cells.dtype.kind == "c":
            return None
        return Numbers(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    kind = ""
    if cells.dtype == object:
        kind = pd.api.types.infer_dtype(cells, skipna=True)
        if kind in ("boolean", "date", "datetime", "time", "timedelta"):
            return None
        if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
            # integers above 1e308 are infinite, as in text
            with suppress(OverflowError):
                return Numbers(cells.where(~_absent(cells), np.nan).to_numpy(dtype=np.float64))
    elif cells.dtype.kind == "O" and cells.dtype.name in ("str", "string"):
        kind = "string"
    if kind == "string":
        if not _may_be_numbers(cells):
            return None
        values = _plain_numbers(cells)
        if values is not None:
            return Numbers(values)
    codes, texts = coded_texts(cells)
    words = _words(texts)
    if words is None or (words and not allow_words):
        return None
    parsed = _parse([text for text in texts if text not in words], semicolon=delimiter == ";")
    if parsed is None:
        return None
    values = np.full(len(texts) + 1, np.nan)
    is_number = np.array([text not in words for text in texts] + [False], dtype=np.bool_)
    values[is_number] = parsed.values
    counted: dict[str, int] = {}
    if words:
        counts = np.bincount(codes[codes >= 0], minlength=len(texts))
        if counts[is_number[:-1]].sum() < MIN_SHARE_OF_NUMBERS * counts.sum():
            return None
        by_text = zip(texts, counts.tolist(), strict=True)
        counted = {text: count for text, count in by_text if text in words and count}
    return Numbers(values[codes], parsed.form, counted)


def _series(cells: Any) -> Any:
    import pandas as pd

    if isinstance(cells, pd.Series):
        # reset_index raises for huge integers in older versions of pandas
        return cells.set_axis(range(len(cells)))
    if isinstance(cells, list | tuple):
        return pd.Series(cells, dtype=object)
    return pd.Series(cells)


def _absent(cells: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(cells.isna().to_numpy(), dtype=np.bool_)


def _may_be_numbers(cells: Any) -> bool:
    """Return whether the first texts are numbers and few words; the others cost more time."""
    texts = coded_texts(cells.iloc[:_SAMPLE]).names
    words = _words(texts)
    return words is not None and all(text in words or _NUMERAL.fullmatch(text) for text in texts)


def _plain_numbers(cells: Any) -> Floats | None:
    """Parse texts that are all plain numbers or missing."""
    values = _floats(cells.tolist())
    if values is not None:
        return values  # no cell is missing
    missing = _absent(cells) | cells.isin(MISSING_TEXTS).to_numpy(dtype=np.bool_)
    known = _floats(cells[~missing].tolist())
    if known is None:
        return None
    values = np.full(len(cells), np.nan)
    values[~missing] = known
    return values


def _words(texts: Sequence[str]) -> set[str] | None:
    """Return the texts without a digit that are not infinite; None if they are too many."""
    words: set[str] = set()
    for text in texts:
        if not _DIGIT.search(text) and text.lstrip("+-").lower() not in ("inf", "infinity"):
            words.add(text)
            if len(words) > MAX_WORDS:
                return None
    return words


def _parse(texts: list[str], *, semicolon: bool) -> Numbers | None:
    """Parse distinct texts that must all be numbers of one form."""
    plain = _floats(texts)
    if plain is not None:
        return Numbers(plain)
    bare: list[str] = []
    signs: set[str] = set()
    for text in texts:
        match = _DECORATED.fullmatch(text)
        if match is None or (match[2] and match[4]):
            return None
        signs.add(match[2] or match[4])
        bare.append(match[1] + match[3].translate(_SPACES))
        if len(signs) > 1:
            return None
    sign = signs.pop()
    scale = "e-2" if sign == "%" else ""
    form = {"": "", "%": "percentages were read as fractions (12.3 % is 0.123)"}.get(
        sign, "currency signs were removed"
    )
    marks = _COMMA_MARKS + _POINT_MARKS if semicolon else _POINT_MARKS + _COMMA_MARKS
    for thousands, decimal in marks:
        pattern = _pattern(thousands, decimal)
        if not all(map(pattern.fullmatch, bare)):
            continue
        if thousands:
            bare = [text.replace(thousands, "") for text in bare]
            form = f"{form}; thousands separators were removed".removeprefix("; ")
        elif decimal == "," and not semicolon and all(map(_AMBIGUOUS.fullmatch, bare)):
            continue
        if decimal == ",":
            bare = [text.replace(",", ".") for text in bare]
            form = f"{form}; {DECIMAL_COMMAS}".removeprefix("; ")
        values = _floats([text + scale for text in bare])
        return None if values is None else Numbers(values, form)
    return None


_AMBIGUOUS = re.compile(r"[+-]?(?:\d+|[1-9]\d{0,2},\d{3})")
"""Whole numbers, and numbers whose comma may separate thousands."""


def _pattern(thousands: str, decimal: str) -> re.Pattern[str]:
    """Return the pattern of numbers with the marks; numbers above 999 must be separated."""
    mark = re.escape(decimal)
    fraction = rf"(?:{mark}\d*)?{_EXPONENT}"
    if not thousands:
        return re.compile(rf"[+-]?(?:\d+{fraction}|{mark}\d+{_EXPONENT})")
    separator = re.escape(thousands)
    return re.compile(
        rf"[+-]?(?:(?:\d{{1,3}}|[1-9]\d{{0,2}}(?:{separator}\d{{3}})+){fraction}"
        rf"|{mark}\d+{_EXPONENT})"
    )


def _floats(texts: list[str]) -> Floats | None:
    """Return the texts as floats, correctly rounded; None if one is no number."""
    try:
        if "_" in "\n".join(texts):
            return None
        values: Floats = np.array(list(map(float, texts)), dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return None if np.isnan(values).any() else values


# Data frames of other packages

_UNCHANGED = ("builtins", "numpy", "pandas", "scipy", "bestofk")
_LAZY = ("collect", "compute", "toPandas")
"""Methods that compute a lazy or distributed frame."""


def as_pandas(value: Any, name: str = "data") -> Any:
    """Return frames and columns of polars, Arrow and others as pandas objects.

    - `value`: Anything with the Arrow PyCapsule interface (polars, pyarrow, DuckDB, narwhals) or
      with ``to_pandas``. Other values are returned unchanged.
    - `name`: The argument, for messages.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_pandas(pa.table({"size": [1, 2]}))["size"].tolist()
    [1, 2]
    """
    kind: Any = type(value)
    if value is None or kind.__module__.partition(".")[0] in _UNCHANGED:
        return value
    if hasattr(value, "__arrow_c_stream__"):
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtraError(
                f"{name} of {kind.__module__.partition('.')[0]}", "pyarrow"
            ) from None
        if hasattr(value, "columns") or hasattr(value, "column_names"):
            return pa.table(value).to_pandas(date_as_object=False)
        column = pa.chunked_array(value).to_pandas(date_as_object=False)
        return column.rename(getattr(value, "name", None))
    if callable(getattr(value, "to_pandas", None)):
        return value.to_pandas()
    for method in _LAZY:
        if hasattr(kind, "columns") and callable(getattr(kind, method, None)):
            raise ArgumentError(
                f"{name} is a {kind.__name__}, which is not computed yet: pass {name}.{method}()."
            )
    return value


def refuse_other_order(X: Any, values: Any, name: str, of: str = "X") -> None:
    """Refuse values that have the index labels of `X` (called `of`) in another order.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = pd.DataFrame({"size": [1, 2]}, index=["a", "b"]), pd.Series([5, 6], ["b", "a"])
    >>> refuse_other_order(X, y, "y")
    Traceback (most recent call last):
    bestofk._base.errors.ArgumentError: y has the index labels of X in another order: pass \
y.loc[X.index], or y.to_numpy() if the rows correspond as they are.
    """
    first: Any = getattr(X, "index", None)
    second: Any = getattr(values, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals")) or first.equals(second):
        return
    if len(first) == len(second) and first.is_unique and len(first.difference(second)) == 0:
        raise ArgumentError(
            f"{name} has the index labels of {of} in another order: pass {name}.loc[{of}.index], "
            f"or {name}.to_numpy() if the rows correspond as they are."
        )

"""Convert cells: text to numbers, Python, numpy and pandas values to arrow arrays, and to text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import TableError

DecimalMark = Literal[".", ","]

_COMMA_NUMBER = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
_MAYBE_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_NUMERAL = r"[+-]?(?:\d[\d,.]*|[.,]\d+)(?:[eE][+-]?\d+)?"
_PERCENT = rf"^({_NUMERAL})\s*(?:%|percent|pct)$"
_INTERVAL = rf"\s*{_NUMERAL}\s*(?:,|;|to|-|–)\s*{_NUMERAL}\s*"
_SPREAD = (
    rf"^({_NUMERAL})\s*%?\s*(?:(?:±|\+/-|\+-|\\pm)\s*{_NUMERAL}|\(\s*{_NUMERAL}\s*\)|"
    rf"\[{_INTERVAL}\]|\({_INTERVAL}\))\s*(%?)$"
)
_THOUSANDS = r"^[+-]?\d{1,3}(?:,\d{3})*(?:\.\d+)?$"
_SURE_THOUSANDS = r"^[+-]?\d{1,3}(?:,\d{3})+\.\d+$|^[+-]?\d{1,3}(?:,\d{3}){2,}$"
Form = Literal["", "percent", "spread", "thousands"]


class Numbers(NamedTuple):
    """The floats of a column, or the first cell that is no number and why."""

    values: Floats
    mark: DecimalMark
    bad_row: int | None
    reason: str
    form: Form = ""
    """True if the cells are percentages, have a spread, or have thousands separators."""


def parse_numbers(column: Any, missing: npt.NDArray[np.bool_], *, delimiter: str | None) -> Numbers:
    """Parse correctly rounded floats; NaN for `missing` cells.

    A comma counts as the decimal mark only if it is not the delimiter and the whole column uses
    it. The ambiguous ``1,234`` is read as a number with decimals if the delimiter is a semicolon,
    which is customary with decimal commas, and is an error otherwise.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_null(kind):
        return Numbers(np.full(len(column), np.nan), ".", None, "")
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        # integers beyond 2^53 are rounded
        floats = column.cast(pa.float64(), safe=False)
        floats = floats.fill_null(np.nan) if floats.null_count else floats
        values = plain_numbers(floats)
        if missing.any():
            values = np.where(missing, np.nan, values)
        return Numbers(values, ".", None, "")
    if kinds.is_boolean(kind):
        values = column.cast(pa.int8()).cast(pa.float64()).fill_null(np.nan)
        return Numbers(np.array(values.to_numpy(zero_copy_only=False)), ".", None, "")

    text = pc.utf8_trim_whitespace(as_text(column))
    text = pc.if_else(pa.array(missing), pa.scalar(None, text.type), text)
    floats = _cast(text)
    if floats is not None:
        return Numbers(floats, ".", None, "")
    decorated = _decorated(text, delimiter=delimiter)
    if decorated is not None:
        return decorated
    if delimiter is not None and delimiter != ",":
        commas = pc.match_substring_regex(text, _COMMA_NUMBER).fill_null(False)
        doubtful = pc.match_substring_regex(text, _MAYBE_THOUSANDS).fill_null(False)
        certain = delimiter == ";" or pc.any(pc.and_not(commas, doubtful)).as_py()
        points = pc.and_not(pc.match_substring(text, ".").fill_null(False), commas)
        if certain and not pc.any(points).as_py():
            swapped = _cast(pc.replace_substring(text, ",", "."))
            if swapped is not None and pc.any(commas).as_py():
                return Numbers(swapped, ",", None, "")
        if certain and pc.any(commas).as_py() and pc.any(points).as_py():
            row = _first_bad(pc.replace_substring(text, ",", "."))
            if row is None:
                row = pc.index(points, True).as_py()
                return Numbers(
                    np.empty(0), ",", row, " with a decimal comma, as in the rest of the column"
                )
            return Numbers(np.empty(0), ".", row, "")
        if certain and pc.any(commas).as_py():
            return Numbers(np.empty(0), ",", _first_bad(pc.replace_substring(text, ",", ".")), "")
    return Numbers(np.empty(0), ".", _first_bad(text), "")


def _decorated(text: Any, *, delimiter: str | None) -> Numbers | None:
    """Parse percentages, means with a spread and numbers with thousands separators, else None.

    All cells of a column must have the same form, because ``12.3 %`` among ``0.4`` is ambiguous.
    """
    import pyarrow.compute as pc

    present = pc.is_valid(text)
    first_present = pc.index(present, True).as_py()
    first = "" if first_present < 0 else text[first_present].as_py()
    for form, pattern in (("percent", _PERCENT), ("spread", _SPREAD)):
        if not re.match(pattern, first):
            continue
        fits = pc.match_substring_regex(text, pattern).fill_null(True)
        if not pc.all(fits).as_py():
            row = pc.index(fits, False).as_py()
            return Numbers(np.empty(0), ".", row, f" of the form {first!r}, like the cells before")
        parts = pc.replace_substring_regex(text, pattern, r"\1")
        none = np.zeros(len(text), dtype=np.bool_)
        inner = parse_numbers(
            parts, none | ~np.array(present.to_numpy(zero_copy_only=False)), delimiter=delimiter
        )
        hundredths = form == "percent" or first.rstrip().endswith("%")
        values = inner.values / 100.0 if hundredths and inner.bad_row is None else inner.values
        named: Form = "percent" if form == "percent" else "spread"
        return inner._replace(values=values, form=named)
    if not re.match(r"[+-]?\d{1,3}(?:[.,]|$)", first):
        return None
    floats = _parted_thousands(text)
    if floats is not None:
        return Numbers(floats, ".", None, "", "thousands")
    floats = _parted_thousands(_swapped(text))
    if floats is not None and delimiter != ",":
        return Numbers(floats, ",", None, "", "thousands")
    doubtful = pc.match_substring_regex(text, _MAYBE_THOUSANDS).fill_null(True)
    if delimiter != ";" and pc.all(doubtful).as_py():
        row = pc.index(present, True).as_py()
        reason = " (the comma may separate thousands or decimals)"
        return Numbers(np.empty(0), ".", row, reason)
    return None


def _swapped(text: Any) -> Any:
    """Swap points and commas."""
    import pyarrow.compute as pc

    parted = pc.replace_substring(text, ".", "\0")
    return pc.replace_substring(pc.replace_substring(parted, ",", "."), "\0", ",")


def _parted_thousands(text: Any) -> Floats | None:
    """Return the floats if commas can separate thousands in all cells, and must in one."""
    import pyarrow.compute as pc

    fits = pc.match_substring_regex(text, _THOUSANDS).fill_null(True)
    sure = pc.match_substring_regex(text, _SURE_THOUSANDS).fill_null(False)
    if not (pc.all(fits).as_py() and pc.any(sure).as_py()):
        return None
    return _cast(pc.replace_substring(text, ",", ""))


def describe_form(form: Form) -> str:
    """Describe how cells of a form were read."""
    return {
        "": "",
        "percent": "percentages were read as fractions (12.3 % is 0.123)",
        "spread": "only the number before the spread was read",
        "thousands": "thousands separators were removed",
    }[form]


def is_number(text: str) -> bool:
    """Return whether Python reads the text as a float."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def count_numbers(text: Any) -> int:
    """Count the cells that look like a number, with a point or a comma."""
    import pyarrow.compute as pc

    looks = pc.match_substring_regex(
        pc.utf8_trim_whitespace(text),
        r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?(\s*%)?(\s*(±|\+/-|\(|\[).*)?$|^[+-]?inf",
    )
    return int(pc.sum(looks).as_py() or 0)


def _cast(text: Any) -> Floats | None:
    import pyarrow as pa

    try:
        floats = text.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values: Floats = np.array(
        floats.fill_null(np.nan).to_numpy(zero_copy_only=False), dtype=np.float64
    )
    return values


def _first_bad(text: Any) -> int | None:
    """Find the first row that does not cast, by bisection."""
    if _cast(text) is not None:
        return None
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if _cast(text.slice(low, middle - low)) is None:
            high = middle
        else:
            low = middle
    return low


# Arrow arrays


NESTED_COLUMNS = frozenset({
    "params",  # scikit-learn's cv_results_
    "judge", "conversation_a", "conversation_b", "full_conversation", "openai_moderation",
    "toxic_chat_tag", "conv_metadata", "dedup_tag", "category_tag",  # arena files
})  # fmt: skip
"""Columns of well-known files whose nested cells become text."""
_NESTED = (dict, list, tuple, set, np.ndarray)


class RowLocator(Protocol):
    """Describe the location of a row (counted from 0) in errors."""

    def __call__(self, row: int, /) -> str: ...


def arrow_column(values: Any, *, where: RowLocator, name: str = "") -> Any:
    """Return a column as an arrow array of typed cells, or of text if the types are mixed."""
    if name in NESTED_COLUMNS:
        cells = values.to_pylist() if hasattr(values, "to_pylist") else values
        values = [
            json.dumps(cell, default=str) if isinstance(cell, _NESTED) else cell for cell in cells
        ]
    try:
        return _arrow_column(values, where=where)
    except UnicodeEncodeError:
        row = next(i for i, cell in enumerate(values) if not _is_storable(cell))
        raise TableError(
            f"{where(row)} is not valid text: it contains half of a surrogate pair."
        ) from None


def _is_storable(cell: Any) -> bool:
    try:
        str(cell).encode()
    except UnicodeEncodeError:
        return False
    return True


def _arrow_column(values: Any, *, where: RowLocator) -> Any:
    import pyarrow as pa
    import pyarrow.types as kinds

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        array = values
    else:
        if isinstance(values, np.ma.MaskedArray):
            array = _from_objects(values.tolist(), where=where)
        elif not isinstance(values, list | tuple) and hasattr(values, "to_numpy"):
            array = _from_pandas(values)
        elif isinstance(values, np.ndarray) and values.dtype != np.object_:
            array = pa.array(values)
        else:
            array = _from_objects(list(values), where=where)
        if array is None:
            array = _from_objects(list(values), where=where)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if kinds.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if kinds.is_nested(kind):
        first = next(i for i, cell in enumerate(array) if cell.is_valid)
        raise TableError(f"{where(first)} must be a single value; got a nested one.")
    if kinds.is_large_string(kind) or (
        hasattr(kinds, "is_string_view") and kinds.is_string_view(kind)
    ):
        array = array.cast(pa.string())
    if kinds.is_binary(kind) or kinds.is_large_binary(kind):
        array = array.cast(pa.string())
    return array


def _from_pandas(values: Any) -> Any:
    """Return a typed pandas array; None if its cells are Python objects of several types."""
    import pyarrow as pa

    if getattr(values, "dtype", None) == np.object_:
        return None
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        return None


def _from_objects(values: Sequence[Any], *, where: RowLocator) -> Any:
    """Convert Python objects: numbers if all are numbers, anything else becomes text."""
    import pyarrow as pa

    seen = set(map(type, values)) - {type(None)}
    if any(issubclass(kind, _NESTED) for kind in seen):
        row = next(row for row, cell in enumerate(values) if isinstance(cell, _NESTED))
        raise TableError(f"{where(row)} must be a single value; got a nested one.")
    if seen == {str}:
        return pa.array(values, type=pa.string())
    if seen == {float}:
        return pa.array(values, type=pa.float64())
    plain = (int, float, np.integer, np.floating)
    if not seen:
        return pa.nulls(len(values))
    if all(issubclass(kind, plain) and kind is not bool for kind in seen):
        if all(issubclass(kind, int | np.integer) for kind in seen):
            try:
                return pa.array(values, type=pa.int64())
            except (pa.ArrowInvalid, OverflowError):
                pass
        try:
            floats = [None if cell is None else float(cell) for cell in values]
        except OverflowError:
            row = next(i for i, cell in enumerate(values) if _overflows(cell))
            raise TableError(
                f"{where(row)} must be a number below 1.8e308; got a larger one."
            ) from None
        return pa.array(floats, type=pa.float64())
    if seen <= {bool, np.bool_}:
        return pa.array(values, type=pa.bool_())
    return pa.array([_word(cell) for cell in values], type=pa.string())


def _overflows(cell: Any) -> bool:
    try:
        float(0 if cell is None else cell)
    except OverflowError:
        return True
    return False


def _word(cell: Any) -> str | None:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float | np.floating):
        return repr(float(cell))
    return str(cell)


def plain_numbers(column: Any) -> npt.NDArray[Any]:
    """Return integers or floats without nulls as numpy; pyarrow's own way imports pandas."""
    import pyarrow.types as kinds

    kind = column.type
    letter = "f" if kinds.is_floating(kind) else "i" if kinds.is_signed_integer(kind) else "u"
    dtype = np.dtype(f"{letter}{kind.bit_width // 8}")
    if not len(column):
        return np.empty(0, dtype)
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)


def as_text(column: Any) -> Any:
    """Return the column as an arrow array of strings; whole floats without decimals."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_string(kind):
        return column
    if kinds.is_null(kind):
        return pa.nulls(len(column), type=pa.string())
    if kinds.is_floating(kind):
        column = column.cast(pa.float64())
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        finite = pc.is_finite(column).fill_null(True)
        whole = pc.and_(finite, pc.less(pc.abs(column), 2.0**53)).fill_null(True)
        if pc.all(pc.and_(whole, pc.equal(pc.floor(column), column).fill_null(True))).as_py():
            return column.cast(pa.int64()).cast(pa.string())
        return pa.array(
            [None if cell is None else repr(cell) for cell in column.to_pylist()],
            type=pa.string(),
        )
    return column.cast(pa.string())


def is_missing(column: Any, markers: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return which cells are null, NaN, or text among `markers` in any case."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_null(kind):
        return np.ones(len(column), dtype=np.bool_)
    if not column.null_count:
        if kinds.is_integer(kind) or kinds.is_boolean(kind):
            return np.zeros(len(column), dtype=np.bool_)
        if kinds.is_floating(kind):
            return np.asarray(np.isnan(plain_numbers(column)))
    if kinds.is_floating(kind):
        mask = pc.is_null(column, nan_is_null=True)
    elif kinds.is_string(kind):
        short = pc.less_equal(pc.binary_length(column), 64).fill_null(True)
        word = pc.utf8_lower(
            pc.utf8_trim_whitespace(pc.if_else(short, column, pa.scalar("x", pa.string())))
        )
        mask = pc.or_(pc.is_null(column), pc.is_in(word, value_set=pa.array(markers)))
        mask = mask.fill_null(True)
    else:
        mask = pc.is_null(column)
    return np.array(mask.to_numpy(zero_copy_only=False), dtype=np.bool_)

"""Cells to floats, with a point or a comma before the decimals."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats

DecimalMark = Literal[".", ","]

_COMMA_NUMBER = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
_MAYBE_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"


class Numbers(NamedTuple):
    """The floats of a column, or the first cell that is none and why."""

    values: Floats
    mark: DecimalMark
    bad_row: int | None
    reason: str


def parse_numbers(column: Any, missing: npt.NDArray[np.bool_], *, delimiter: str | None) -> Numbers:
    """Floats to the nearest bit; NaN where `missing`.

    A comma counts as the decimal mark only where it is not the delimiter, and only when the
    whole column is written so. Where ``1,234`` could be a thousand it is taken as a number with
    decimals in a table of semicolons (where that is the custom), and refused in any other.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_null(kind):
        return Numbers(np.full(len(column), np.nan), ".", None, "")
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        values = np.array(
            column.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False),
            dtype=np.float64,
        )
        values[missing] = np.nan
        return Numbers(values, ".", None, "")
    if kinds.is_boolean(kind):
        values = column.cast(pa.int8()).cast(pa.float64()).fill_null(np.nan)
        return Numbers(np.array(values.to_numpy(zero_copy_only=False)), ".", None, "")

    from bestofk.tables.values import as_text

    text = pc.utf8_trim_whitespace(as_text(column))
    text = pc.if_else(pa.array(missing), pa.scalar(None, text.type), text)
    floats = _cast(text)
    if floats is not None:
        return Numbers(floats, ".", None, "")
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


def count_numbers(text: Any) -> int:
    """How many cells look like a number, with a point or a comma."""
    import pyarrow.compute as pc

    looks = pc.match_substring_regex(
        pc.utf8_trim_whitespace(text), r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$|^[+-]?inf"
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
    """The first row that does not cast, by halving."""
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

"""Python values, numpy and pandas columns as arrow arrays, and arrow arrays as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestofk.errors import TableError

_NESTED = (dict, list, tuple, set, np.ndarray)


class RowLocator(Protocol):
    """Where the row counted from 0 stands, for errors."""

    def __call__(self, row: int, /) -> str: ...


def arrow_column(values: Any, *, where: RowLocator) -> Any:
    """One column of typed cells, or of text where the types are mixed."""
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
        raise TableError(f"{where(first)} must be one value; got a nested one.")
    if kinds.is_large_string(kind) or (
        hasattr(kinds, "is_string_view") and kinds.is_string_view(kind)
    ):
        array = array.cast(pa.string())
    if kinds.is_binary(kind) or kinds.is_large_binary(kind):
        array = array.cast(pa.string())
    return array


def _from_pandas(values: Any) -> Any:
    """A typed pandas array, or None where its cells are Python objects of several types."""
    import pyarrow as pa

    if getattr(values, "dtype", None) == np.object_:
        return None
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        return None


def _from_objects(values: Sequence[Any], *, where: RowLocator) -> Any:
    """Python objects: numbers stay numbers where all are, anything else becomes text."""
    import pyarrow as pa

    seen = set(map(type, values)) - {type(None)}
    if any(issubclass(kind, _NESTED) for kind in seen):
        row = next(row for row, cell in enumerate(values) if isinstance(cell, _NESTED))
        raise TableError(f"{where(row)} must be one value; got a nested one.")
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
                f"{where(row)} must be a number below 1.8e308; got one of more digits."
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


def as_text(column: Any) -> Any:
    """The column as an arrow array of strings; whole floats are written without decimals."""
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
    """Which cells are null, NaN, or text among `markers` in any case."""
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
            return np.asarray(np.isnan(column.to_numpy(zero_copy_only=False)))
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

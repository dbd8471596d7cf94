"""Data frames of other packages as those of pandas."""

from __future__ import annotations

from typing import Any

from bestofk._base.errors import ArgumentError, MissingExtraError

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
                f"{name} of {kind.__module__.partition('.')[0]}", "parquet"
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

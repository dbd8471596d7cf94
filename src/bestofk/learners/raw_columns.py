"""The first step of a deployed pipeline: convert raw rows to the columns of the comparison."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, shortened
from bestofk.data.dates import days_of_column
from bestofk.data.schema import is_categorical, is_whole

if TYPE_CHECKING:
    import pandas as pd

MAX_NAMED_COLUMNS = 5
"""Most columns that an error names."""


class RawColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert raw rows to the columns of a data set, as its reader did.

    Numbers stay numbers, dates become days since 1970-01-01, and nominal columns become
    categorical with the values that were declared. A value that was not declared counts as
    missing. Other columns, such as identifiers that the comparison left out, are dropped.

    - `columns`: The columns in order. `values` are the declared values of a nominal column, None
      for numbers.
    - `form` {"frame", "array", "given"}: The form of the result: a data frame, an array of numbers,
      or the rows as they come.
    - `named`: Whether columns are found by name only. If False, rows without these names are taken
      by position.
    - `dtype`: The type of the numbers of an array.

    Examples
    --------
    >>> import pandas as pd
    >>> step = RawColumns((("age", None), ("eyes", ("blue", "brown"))))
    >>> rows = pd.DataFrame({"eyes": ["brown", "red"], "id": [7, 8], "age": ["41", None]})
    >>> step.fit_transform(rows)
        age   eyes
    0  41.0  brown
    1   NaN    NaN
    """

    def __init__(
        self,
        columns: Sequence[tuple[Hashable, Sequence[Any] | None]],
        *,
        form: str = "frame",
        named: bool = True,
        dtype: str = "float64",
    ) -> None:
        self.columns = columns
        self.form = form
        self.named = named
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Check the columns of `X`; nothing is learned from its cells."""
        self.n_features_in_ = len(self.columns)
        self._chosen(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows of `X` in the form of the comparison."""
        import pandas as pd

        frame = self._chosen(X)
        if self.form == "given":
            return frame
        converted = {
            name: converted_column(frame[name], name, values) for name, values in self.columns
        }
        table = pd.DataFrame(converted, index=frame.index)
        table.columns = pd.Index([name for name, _ in self.columns], dtype=object)
        if self.form == "array":
            return np.ascontiguousarray(table.to_numpy(dtype=self.dtype))
        return table

    def _chosen(self, X: Any) -> Any:
        """Return the columns by name, or by position if the rows have no such names."""
        import pandas as pd

        if not self.columns or is_whole(X):
            return X  # sparse rows or texts
        names = [name for name, _ in self.columns]
        if hasattr(X, "to_pandas"):
            X = X.to_pandas()
        if isinstance(X, pd.DataFrame):
            frame = X.copy(deep=False)
            frame.columns = pd.Index([str(name) for name in X.columns], dtype=object)
            texts = [str(name) for name in names]
            absent = [name for name in texts if name not in frame.columns]
            if not absent:
                frame = frame[texts]
                frame.columns = pd.Index(names, dtype=object)
                return frame
            if self.named or frame.shape[1] != len(names):
                raise ArgumentError(
                    f"X lacks {counted(len(absent), 'column')} that the model was fitted with: "
                    f"{shortened(list(map(repr, absent)), MAX_NAMED_COLUMNS)}."
                )
        else:
            array = np.asarray(X)
            if array.ndim != 2 or array.shape[1] != len(names):
                raise ArgumentError(
                    f"X must have the {counted(len(names), 'column')} that the model was fitted "
                    f"with; got shape {array.shape}."
                )
            frame = pd.DataFrame(array)
        frame.columns = pd.Index(names, dtype=object)
        return frame

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def converted_column(
    column: pd.Series[Any], name: Hashable, values: Sequence[Any] | None
) -> pd.Series[Any]:
    """Return a raw column as numbers, or as a categorical with the declared values."""
    return _numbers(column, name) if values is None else _nominal(column, values)


def _numbers(column: pd.Series[Any], name: Hashable) -> pd.Series[Any]:
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        numbers = column
    else:
        days = days_of_column(column, name)
        if days is not None:
            return pd.Series(days.to_numpy(), index=column.index)
        if is_categorical(column):
            column = column.astype(object)
        try:
            numbers = pd.to_numeric(column, errors="raise")
        except (TypeError, ValueError):
            wrong = pd.to_numeric(column, errors="coerce").isna() & column.notna()
            raise ArgumentError(
                f"Column {name!r} must hold numbers, as it did when the model was fitted; got "
                f"{column[wrong].iloc[0]!r}."
            ) from None
        numbers = pd.Series(numbers.to_numpy(dtype=np.float64, na_value=np.nan), column.index)
    if np.isinf(numbers.to_numpy()).any():
        raise ArgumentError(f"Column {name!r} must hold finite numbers; got infinity.")
    return numbers


def _nominal(column: pd.Series[Any], values: Sequence[Any]) -> pd.Series[Any]:
    """Return declared values; find a value by its text if its type differs (True, "True")."""
    import pandas as pd

    declared = list(values)
    if is_categorical(column) and column.cat.categories.tolist() == declared:
        return column
    position: dict[Any, int] = {}
    for code, value in enumerate(declared):
        position[_text(value)] = code
    codes = [-1 if missing else position.get(_text(value), -1)
             for value, missing in zip(column.tolist(), column.isna(), strict=True)]  # fmt: skip
    return pd.Series(
        pd.Categorical.from_codes(codes, categories=pd.Index(declared)), index=column.index
    )


def _text(value: Any) -> str:
    """Return a value as text; whole numbers without a fraction."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)

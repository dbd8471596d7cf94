"""The first step of a deployed pipeline: convert raw rows to the columns of the comparison."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, shortened
from bestofk.data.cells import as_pandas
from bestofk.data.columns import ColumnReader, learn_column
from bestofk.data.schema import is_whole

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
        """Learn how the cells of `X` are written: words for missing cells and the form of dates."""
        self.n_features_in_ = len(self.columns)
        frame = self._chosen(X)
        self.readers_ = []
        if self.form != "given":
            self.readers_ = [_reader(frame[name], name, values) for name, values in self.columns]
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows of `X` in the form of the comparison."""
        import pandas as pd

        frame = self._chosen(X)
        if self.form == "given":
            return frame
        names = [name for name, _ in self.columns]
        converted = {
            name: reader.read(frame[name])
            for name, reader in zip(names, self.readers_, strict=True)
        }
        table = pd.DataFrame(converted, index=frame.index)
        table.columns = pd.Index(names, dtype=object)
        if self.form == "array":
            return np.ascontiguousarray(table.to_numpy(dtype=self.dtype))
        return table

    def _chosen(self, X: Any) -> Any:
        """Return the columns by name, or by position if the rows have no such names."""
        import pandas as pd

        if not self.columns or is_whole(X):
            return X  # sparse rows or texts
        names = [name for name, _ in self.columns]
        X = as_pandas(X, "X")
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


def _reader(cells: pd.Series[Any], name: Hashable, values: Sequence[Any] | None) -> ColumnReader:
    """Return the reader of a column of numbers or dates, or of declared values."""
    if values is not None:
        return ColumnReader(name=str(name), kind="category", categories=tuple(values))
    reader = learn_column(cells, name)
    return ColumnReader(name=str(name), kind="number") if reader.kind == "category" else reader

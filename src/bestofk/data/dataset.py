"""A data set: named columns of kind numeric or nominal, a label or number for every row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import one_of, refuse
from bestofk.data.dates import days_of_column, said_of_dates
from bestofk.data.encoded import Codes, Encoded
from bestofk.data.row_names import (
    is_constant,
    names_rows,
    said_of_constants,
    said_of_left_out,
)
from bestofk.data.schema import Schema, declared_values, encode_labels, is_categorical
from bestofk.data.whole_rows import is_sparse, is_whole, settled_rows
from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.presenting import without_effect

if TYPE_CHECKING:
    import pandas as pd

TASKS = ("classification", "regression")
_ROWS_AT_ONCE = 4096
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
"""What stays as it is; other floats become the first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DataSet:
    """Rows to learn from.

    Made by `as_dataset`, `read_dataset` and `load`.

    Parameters
    ----------
    name : str
        What reports call it.
    X : DataFrame, shape (n, d)
        Numeric columns hold numbers (NaN where missing); nominal columns are categorical, with
        their declared values in order. Rows that are no table of columns stay as they came: a
        sparse matrix, or one text per row.
    y : Series, shape (n,)
        The labels, categorical with the classes in declared order; numbers for a regression.
    task : str
        ``"classification"`` or ``"regression"``.
    account : tuple of str
        What was understood of the source, in sentences.
    given : DataFrame or None
        The columns as they came, also those that were left out, for learners that choose their
        columns themselves; None where they would be those of `X`.
    named : bool
        The columns have names that the user gave in a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> data = as_dataset(pd.DataFrame({"height": [1.5, 1.8], "eyes": ["blue", None]}),
    ...                   ["child", "adult"], name="people")
    >>> data
    DataSet('people', 2 rows, 1 numeric and 1 nominal column, 2 classes)
    >>> data.kinds, list(data.classes)
    ({'height': 'numeric', 'eyes': 'nominal'}, ['adult', 'child'])
    """

    name: str
    X: Any
    y: pd.Series[Any]
    task: str = "classification"
    account: tuple[str, ...] = ()
    given: pd.DataFrame | None = None
    named: bool = False
    _cache: dict[str, Any] = field(default_factory=dict, init=False)

    @property
    def whole(self) -> bool:
        """The rows are no table of columns, but a sparse matrix or texts."""
        return not hasattr(self.X, "columns")

    @property
    def schema(self) -> Schema:
        """The columns and their declared values."""
        if self.whole:
            raise ArgumentError(
                f"takes tables of columns; the rows of {self.name!r} are {self._rows_words()}."
            )
        if "schema" not in self._cache:
            self._cache["schema"] = Schema.of(self.X)
        found: Schema = self._cache["schema"]
        return found

    @property
    def kinds(self) -> dict[Hashable, str]:
        """``"numeric"`` or ``"nominal"`` by column; none where the rows are no table."""
        return {} if self.whole else self.schema.kinds

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def d(self) -> int:
        """The number of columns; 1 for texts."""
        return int(self.X.shape[1]) if getattr(self.X, "ndim", 1) == 2 else 1

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The labels in declared order; none for a regression."""
        return self.labels()[1] if self.task == "classification" else np.array([])

    @property
    def n_missing(self) -> int:
        """The number of missing cells."""
        if "n_missing" not in self._cache:
            self._cache["n_missing"] = 0 if self.whole else int(self.X.isna().to_numpy().sum())
        return int(self._cache["n_missing"])

    def labels(self) -> tuple[Codes, npt.NDArray[Any]]:
        """The class codes of all rows, and the classes: found once."""
        if "labels" not in self._cache:
            self._cache["labels"] = encode_labels(self.y)
        found: tuple[Codes, npt.NDArray[Any]] = self._cache["labels"]
        return found

    def encoded(self) -> Encoded:
        """The rows as numbers and codes, as the kernels want them."""
        if self.task != "classification":
            raise ArgumentError(
                f"Only rows with class labels can be encoded; the target of {self.name!r} is a "
                "number."
            )
        if "encoded" not in self._cache:
            codes, classes = self.labels()
            self._cache["encoded"] = Encoded(
                values=self.schema.encode(self.X),
                cardinality=self.schema.cardinality,
                y=codes,
                classes=classes,
            )
        found: Encoded = self._cache["encoded"]
        return found

    @property
    def fingerprint(self) -> str:
        """SHA-256 over columns, kinds, declared values, cells and target, whatever the name."""
        if "fingerprint" not in self._cache:
            from bestofk.data.fingerprint import fingerprint_of

            self._cache["fingerprint"] = fingerprint_of(self)
        found: str = self._cache["fingerprint"]
        return found

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """What the data set holds and how it was read; `names` and `alpha` have no effect."""
        without_effect(names, alpha)
        return " ".join((f"{self._size()}.", *self.account))

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"DataSet({self._size()})"

    def _rows_words(self) -> str:
        return "a sparse matrix" if is_sparse(self.X) else "texts"

    def _size(self) -> str:
        numeric = sum(kind == "numeric" for kind in self.kinds.values())
        nominal = self.d - numeric
        parts = [f"{count} {kind}" for count, kind in ((numeric, "numeric"), (nominal, "nominal"))
                 if count]  # fmt: skip
        last = nominal or numeric
        columns = f"{' and '.join(parts)} column{'s' * (last != 1)}"
        if self.whole:
            columns = f"{self.d} sparse columns" if is_sparse(self.X) else "a text each"
        target = (
            f"{len(self.classes)} classes"
            if self.task == "classification"
            else "a number to predict"
        )
        return f"{self.name!r}, {self.n} rows, {columns}, {target}"


def as_dataset(
    X: Any,
    y: Any,
    *,
    name: str = "data",
    nominal: Iterable[Hashable] = (),
    numeric: Iterable[Hashable] = (),
    ignore: Iterable[Hashable] = (),
    task: str = "classification",
    account: tuple[str, ...] = (),
    copy: bool = True,
) -> DataSet:
    """A data set from arrays or data frames.

    Parameters
    ----------
    X : array or DataFrame, shape (n, d)
        Categorical, text and truth-value columns are nominal, numbers numeric; dates become days
        since 1970-01-01, and a column of words that are all different is left out unless its kind
        is stated: the account says so. The columns of an array are called x1, x2, ... A sparse
        matrix and a sequence of texts stay what they are, for learners that take them.
    y : array or Series, shape (n,)
        The labels; their order is that of the categories if y is categorical, else sorted.
    name : str, optional
        What reports call it.
    nominal, numeric, ignore : names of columns, optional
        Columns whose kind is stated, and columns to leave out.
    task : str, optional
        ``"classification"``, or ``"regression"`` for a target that is a number.
    copy : bool, optional
        False: an array of floats is used where it lies, and must stay as it is for as long as
        the data set is in use.

    Returns
    -------
    DataSet
        The arguments are never changed.

    Examples
    --------
    >>> as_dataset([[1, 0], [2, 1], [3, 0]], ["a", "b", "a"], nominal=["x2"]).kinds
    {'x1': 'numeric', 'x2': 'nominal'}
    """
    one_of(task, "task", TASKS)
    if is_whole(X):
        for role, names in (("nominal", nominal), ("numeric", numeric), ("ignore", ignore)):
            if tuple(names):
                raise ArgumentError(f"{role} does not apply: X is no table of columns.")
        rows = settled_rows(X)
        n = rows.shape[0] if is_sparse(rows) else len(rows)
        target = settle_target(y, n=n, task=task)
        return DataSet(name=name, X=rows, y=target, task=task, account=account)
    frame = _frame(X)
    named = frame is not X and hasattr(X, "columns")
    _check_names(frame, nominal=nominal, numeric=numeric, ignore=ignore)
    frame = frame.drop(columns=list(ignore))
    if min(frame.shape) < 1:
        raise ArgumentError(
            f"A data set must have at least one row and one column to learn from; got "
            f"{frame.shape[0]} rows and {frame.shape[1]} columns."
        )
    table, given = None if set(nominal) else _floats_together(frame, copy=copy), None
    if table is None:
        table, said = _settled(frame, nominal=set(nominal), numeric=set(numeric))
        account = (*account, *said)
        if named and any(dtype.kind not in "if" for dtype in frame.dtypes):
            given = frame.reset_index(drop=True)
    target = settle_target(y, n=len(table), task=task)
    return DataSet(
        name=name, X=table, y=target, task=task, account=account, given=given, named=named
    )


def _settled(
    frame: pd.DataFrame, *, nominal: set[Hashable], numeric: set[Hashable]
) -> tuple[pd.DataFrame, list[str]]:
    """The columns as numbers and categories, and what was done to them in sentences."""
    import pandas as pd

    columns: dict[Hashable, pd.Series[Any]] = {}
    dates, constant = [], []
    left_out: dict[Hashable, pd.Series[Any]] = {}
    for column in frame.columns:
        stated = "nominal" if column in nominal else "numeric" if column in numeric else None
        cells = frame[column]
        days = None if stated == "nominal" else days_of_column(cells, column)
        if days is not None:
            dates.append(column)
            columns[column] = days.reset_index(drop=True)
            continue
        settled = settle_column(cells, column, kind=stated)
        # a categorical column was stated to be one
        if stated is None and not is_categorical(cells) and names_rows(settled, column):
            left_out[column] = settled
            continue
        if is_constant(settled):
            constant.append(column)
        columns[column] = settled
    if not columns:  # texts, perhaps, for learners that take them apart
        columns, left_out = left_out, {}
    said = [said_of_dates(dates)] if dates else []
    said += [said_of_left_out(list(left_out), "make such a column categorical")] if left_out else []
    said += [said_of_constants(constant)] if constant else []
    table = pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))
    together = _floats_together(table, copy=False)
    return table if together is None else together, said


def _floats_together(frame: pd.DataFrame, *, copy: bool) -> pd.DataFrame | None:
    """Finite floats alone, row by row, so that an array of them is free; None if others are there.

    They are not taken column by column: that would need them a second time meanwhile.
    """
    import pandas as pd

    kinds = set(frame.dtypes)
    if len(kinds) != 1 or kinds.pop() not in _FLOATS:
        return None
    values = frame.to_numpy()
    values = np.array(values, order="C") if copy else np.ascontiguousarray(values)
    for start in range(0, len(values), _ROWS_AT_ONCE):
        if np.isinf(values[start : start + _ROWS_AT_ONCE]).any():
            return None
    names = pd.Index(list(frame.columns), dtype=object)
    return pd.DataFrame(values, columns=names, index=pd.RangeIndex(len(values)), copy=False)


def settle_column(column: pd.Series[Any], name: Hashable, *, kind: str | None) -> pd.Series[Any]:
    """The column as numbers or as a categorical, of the kind stated or of its own."""
    import pandas as pd

    column = column.reset_index(drop=True)
    declared = declared_values(column, name)
    if kind == "numeric" and declared is not None:
        try:
            numbers = pd.to_numeric(
                column.astype(object).where(column.notna(), None), errors="raise"
            )
        except (TypeError, ValueError):
            raise refuse(
                f"Column {name!r}, stated as numeric,", "made of numbers", declared[:5]
            ) from None
        return numbers.astype(np.float64)
    if kind == "nominal" and declared is None:
        values = np.unique(column.dropna().to_numpy())
        return pd.Series(pd.Categorical(column, categories=values))
    if declared is None:
        if column.dtype.kind in "iuf" and isinstance(column.dtype, np.dtype):
            if column.dtype not in _FLOATS:
                column = column.astype(np.float64 if column.dtype.kind == "f" else np.int64)
        else:
            column = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
        infinite = np.isinf(column.to_numpy())
        if infinite.any():
            row = int(np.flatnonzero(infinite)[0]) + 1
            raise ArgumentError(
                f"Column {name!r} must hold finite numbers; got infinity in row {row}."
            )
        return column.copy()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.copy()
    return pd.Series(pd.Categorical(column, categories=list(declared)))


def settle_target(y: Any, *, n: int, task: str) -> pd.Series[Any]:
    """The target as a categorical of at least two classes, or as numbers."""
    import pandas as pd

    if isinstance(y, pd.DataFrame):
        y = y.iloc[:, 0] if y.shape[1] == 1 else y.to_numpy()
    column = y if is_categorical(y) else np.asarray(y)
    if np.ndim(column) != 1 or len(column) != n:
        raise ArgumentError(
            f"y must hold one target for each of the {n} rows of X; got shape {np.shape(column)}."
        )
    if task == "regression":
        try:
            kind = np.float32 if getattr(column, "dtype", None) == np.float32 else np.float64
            numbers = np.asarray(column, dtype=kind)
        except (TypeError, ValueError):
            raise refuse("y of a regression", "numbers", column) from None
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise ArgumentError(
                f"y must hold a finite number in every row; got {numbers[row]} in row {row + 1}."
            )
        return pd.Series(numbers, name="target")
    if not is_categorical(column) and column.dtype.kind == "f":
        known = column[~np.isnan(column)]
        if (known != np.floor(known)).any():
            raise ArgumentError(
                "y must hold class labels; got numbers with fractions "
                f"({known[known != np.floor(known)][0]} ...): for a number to predict say "
                "task='regression' (on the command line --regression)."
            )
    codes, classes = encode_labels(column)
    present = np.bincount(codes, minlength=len(classes)) > 0
    if present.sum() < 2:
        raise ArgumentError(
            f"y must hold at least two classes; every one of the {n} rows is "
            f"{classes.tolist()[codes[0]] if n else None!r}."
        )
    return pd.Series(pd.Categorical.from_codes(codes, categories=classes.tolist()), name="class")


def _frame(X: Any) -> pd.DataFrame:
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        frame = X.copy(deep=False)
        frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            raise ArgumentError(
                f"X must have two axes, rows and columns; got an array of shape {array.shape}."
            )
        names = pd.Index([f"x{j + 1}" for j in range(array.shape[1])], dtype=object)
        frame = pd.DataFrame(array, columns=names, copy=False)  # columns are copied later
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ArgumentError(
            f"The columns of X must have names of their own; got {twice[0]!r} twice."
        )
    return frame


def _check_names(frame: pd.DataFrame, **stated: Iterable[Hashable]) -> None:
    for role, names in stated.items():
        if isinstance(names, str):
            raise refuse(role, "a list of names of columns", names)
        for column in names:
            if column not in frame.columns:
                raise UnknownNameError(f"column to take as {role}", column, frame.columns)
    both = set(stated["nominal"]) & set(stated["numeric"])
    if both:
        raise ArgumentError(f"Column {both.pop()!r} is stated as nominal and as numeric.")

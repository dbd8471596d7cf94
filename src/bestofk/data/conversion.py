"""Make a data set from arrays, data frames, sparse matrices or texts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk.data.dataset import DataSet
from bestofk.data.frames import as_pandas
from bestofk.data.row_columns import (
    check_row_columns,
    describe_constants,
    describe_left_out,
    describe_row_columns,
    is_constant,
    named_like_identifier,
    names_rows,
    split_off_columns,
)
from bestofk.data.schema import (
    declared_values,
    encode_labels,
    infer_target,
    is_categorical,
    is_sparse,
    is_whole,
    settled_rows,
)

if TYPE_CHECKING:
    import pandas as pd

_ROWS_AT_ONCE = 4096
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
"""Types that are kept; other floats become float64."""


def as_dataset(
    X: Any,
    y: Any,
    *,
    name: str = "data",
    nominal: Iterable[Hashable] = (),
    numeric: Iterable[Hashable] = (),
    ignore: Iterable[Hashable] = (),
    keep: Iterable[Hashable] = (),
    task: str = "auto",
    groups: Any = None,
    sample_weight: Any = None,
    folds: Any = None,
    by: Any = None,
    account: tuple[str, ...] = (),
    copy: bool = True,
) -> DataSet:
    """Make a data set from arrays or data frames.

    Parameters
    ----------
    X : array or DataFrame, shape (n, d)
        Data frames may be those of pandas, polars or Arrow. Categorical, text and boolean columns
        are nominal, number columns numeric. Dates become days since 1970-01-01. Identifiers are
        left out, unless you state their kind or name them in `keep`: a text column with a
        different value in every row, or distinct whole numbers in a column with a name such as
        customer_id. The account says what was converted and left out. The columns of an array are
        called x1, x2, ... A sparse matrix and a sequence of texts are kept as they are, for
        learners that accept them.
    y : array or Series of shape (n,) or (n, 1), or str
        The labels, in the order of the categories if y is categorical, else sorted; or the name
        of the target column of the frame X.
    name : str, optional
        The name of the data set in reports.
    nominal, numeric, ignore : names of columns, optional
        Columns to treat as nominal or numeric, and columns to leave out.
    keep : names of columns, optional
        Columns to use even if they look like identifiers.
    task : {"auto", "classification", "regression"}
        Whether the target is a label or a number. Auto: text, booleans and categories are labels,
        numbers with fractions are numbers. Whole numbers are labels if there are two distinct
        ones, or at most 20 with at least five rows each on average; `DataSet.target_note` says so.
    groups, sample_weight, folds, by : name of a column, or array of shape (n,), optional
        See `bestofk.data.with_row_columns`. A named column is excluded from the features,
        except that of slices.
    account : tuple of str, optional
        Sentences about the source, for `DataSet.account`.
    copy : bool, optional
        False: use an array of floats without copying it. It must not change while the data set is
        in use.

    Returns
    -------
    DataSet
        The arguments are never changed.

    Examples
    --------
    >>> as_dataset([[1, 0], [2, 1], [3, 0]], ["a", "b", "a"], nominal=["x2"]).kinds
    {'x1': 'numeric', 'x2': 'nominal'}
    """
    X, y, target_note = _features_and_target(as_pandas(X, "X"), as_pandas(y, "y"))
    row_values = {"groups": groups, "sample_weight": sample_weight, "folds": folds, "by": by}
    original, named = None, False
    left_out: tuple[str, ...] = ()
    table: Any
    if is_whole(X):
        _refuse_column_arguments(
            nominal=nominal, numeric=numeric, ignore=ignore, keep=keep, **row_values
        )
        table = settled_rows(X)
        row_values = {role: values for role, values in row_values.items() if values is not None}
        n = table.shape[0] if is_sparse(table) else len(table)
    else:
        frame = _frame(X)
        named = frame is not X and hasattr(X, "columns")
        _check_names(frame, nominal=nominal, numeric=numeric, ignore=ignore, keep=keep)
        frame, row_values = split_off_columns(frame, row_values)
        frame = frame.drop(columns=list(ignore), errors="ignore")
        if min(frame.shape) < 1:
            raise ArgumentError(
                f"A data set must have at least one row and one feature; got {frame.shape[0]} "
                f"rows and {frame.shape[1]} columns."
            )
        one_by_one = bool(set(nominal)) or any(map(named_like_identifier, frame.columns))
        table = None if one_by_one else _floats_together(frame, copy=copy)
        if table is None:
            table, notes, left_out = _convert_columns(
                frame, nominal=set(nominal), numeric=set(numeric), keep=set(keep)
            )
            account = (*account, *notes)
            if named and any(dtype.kind not in "if" for dtype in frame.dtypes):
                original = frame.reset_index(drop=True)
        n = len(table)
    kind = infer_target(y, task)
    row_columns: dict[str, Any] = {**check_row_columns(row_values, n)}
    return DataSet(
        name=name,
        X=table,
        y=convert_target(y, n=n, task=kind.task),
        task=kind.task,
        account=(*account, *target_note, *describe_row_columns(row_columns, table)),
        left_out=left_out,
        target_note=kind.note,
        original=original,
        named=named,
        **row_columns,
    )


def _refuse_column_arguments(**arguments: Any) -> None:
    """Raise if an argument names columns although `X` has none."""
    for argument, value in arguments.items():
        if isinstance(value, str):
            raise ArgumentError(
                f"{argument} must be an array here, because X has no named columns; got {value!r}."
            )
        if argument in ("nominal", "numeric", "ignore", "keep") and tuple(value):
            raise ArgumentError(f"{argument} does not apply: X has no named columns.")


def _convert_columns(
    frame: pd.DataFrame,
    *,
    nominal: set[Hashable],
    numeric: set[Hashable],
    keep: set[Hashable],
) -> tuple[pd.DataFrame, list[str], tuple[str, ...]]:
    """Convert the columns to numbers and categories.

    Return also sentences about the changes, and about columns that are not used.
    """
    import pandas as pd

    from bestofk.data.dates import days_of_column, describe_dates

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
        settled = convert_column(cells, column, kind=stated)
        # a categorical column counts as stated
        stays = stated is not None or column in keep or is_categorical(cells)
        if not stays and names_rows(settled, column):
            left_out[column] = settled
            continue
        if is_constant(settled):
            constant.append(column)
        columns[column] = settled
    if not columns:  # perhaps texts for learners that process them
        columns, left_out = left_out, {}
    notes = [describe_dates(dates)] if dates else []
    notes += [describe_constants(constant)] if constant else []
    table = pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))
    together = _floats_together(table, copy=False)
    not_used = (describe_left_out(list(left_out)),) if left_out else ()
    return table if together is None else together, notes, not_used


def _floats_together(frame: pd.DataFrame, *, copy: bool) -> pd.DataFrame | None:
    """Return a row-major frame of floats, which converts to an array without a copy.

    Return None if the frame holds anything but finite floats. Converting column by column would
    need twice the memory.
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


def convert_column(column: pd.Series[Any], name: Hashable, *, kind: str | None) -> pd.Series[Any]:
    """Return the column as numbers or as a categorical, by its stated or its own kind."""
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


def convert_target(y: Any, *, n: int, task: str) -> pd.Series[Any]:
    """Return the target as a categorical of at least two classes, or as numbers."""
    import pandas as pd

    name = getattr(y, "name", None)
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
        return pd.Series(numbers, name="target" if name is None else name)
    if not is_categorical(column) and column.dtype.kind == "f":
        known = column[~np.isnan(column)]
        if (known != np.floor(known)).any():
            raise ArgumentError(
                "y must hold class labels; got numbers with fractions "
                f"({known[known != np.floor(known)][0]} ...): to predict a number pass ",
                use(task="regression"),
                ".",
            )
    codes, classes = encode_labels(column)
    present = np.bincount(codes, minlength=len(classes)) > 0
    if present.sum() < 2:
        raise ArgumentError(
            f"y must hold at least two classes; all {n} rows are "
            f"{classes.tolist()[codes[0]] if n else None!r}."
        )
    labels = pd.Categorical.from_codes(codes, categories=classes.tolist())
    return pd.Series(labels, name="class" if name is None else name)


def _features_and_target(X: Any, y: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """Return the features and one column of targets, with a note on a column that was removed."""
    if np.isscalar(y):
        names = [str(name) for name in getattr(X, "columns", [])]
        if not names:
            raise ArgumentError(
                f"y is {y!r:.60}, but X has no named columns: pass the targets themselves, one for "
                "each row."
            )
        if str(y) not in names:
            raise UnknownNameError("column", str(y), names)
        if names.count(str(y)) > 1:
            raise ArgumentError(f"The column {str(y)!r} occurs {names.count(str(y))} times.")
        others = [name for name in X.columns if str(name) != str(y)]
        return X[others], X.iloc[:, names.index(str(y))], ()
    y = _one_column(y)
    name = getattr(y, "name", None)
    if name is not None and name in list(getattr(X, "columns", [])):
        column = X[name]
        if getattr(column, "ndim", 0) == 1 and len(column) == len(y):
            left, right = np.asarray(column, dtype=object), np.asarray(y, dtype=object)
            if bool(np.all((left == right) | ((left != left) & (right != right)))):
                note = f"The column {str(name)!r} is the target and was left out of the features."
                return X.drop(columns=[name]), y, (note,)
    return X, y, ()


def _one_column(y: Any) -> Any:
    """Return a target of shape (n, 1) as one of shape (n,); refuse several columns."""
    if hasattr(y, "iloc") and getattr(y, "ndim", 1) == 2:
        if y.shape[1] == 1:
            return y.iloc[:, 0]
        values: Any = y.to_numpy()
    elif hasattr(y, "iloc") or (hasattr(y, "dtype") and getattr(y, "ndim", 0) == 1):
        return y
    else:
        try:
            values = np.asarray(y)
        except ValueError:  # rows of different lengths
            raise ArgumentError(
                "y holds a list of labels in every row, a multi-label target, which bestofk does "
                "not support: compare one label at a time, with a target of one value for each row."
            ) from None
        if values.ndim < 2:
            return y
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim != 2:
        raise ArgumentError(
            f"y must hold one target for each row; got an array of shape {values.shape}."
        )
    return _refuse_several(values)


def _refuse_several(values: Any) -> Any:
    """Refuse a target of several columns by the name of its kind."""
    columns = values.shape[1]
    as_written = values.astype(object)
    binary = bool(np.isin(as_written, (0, 1)).all())
    if binary and bool((as_written.sum(axis=1) == 1).all()):
        raise ArgumentError(
            f"y is one-hot encoded in {columns} columns: pass the labels themselves, as in "
            "compare(learners, X, np.asarray(y).argmax(axis=1))."
        )
    kind = "multi-label" if binary else "multi-output"
    raise ArgumentError(
        f"y has {columns} columns, a {kind} target, which bestofk does not support: compare one "
        "column at a time, as in compare(learners, X, np.asarray(y)[:, 0])."
    )


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
        raise ArgumentError(f"The columns of X must have distinct names; got {twice[0]!r} twice.")
    return frame


def _check_names(frame: pd.DataFrame, **stated: Iterable[Hashable]) -> None:
    for role, names in stated.items():
        if isinstance(names, str):
            raise refuse(role, "a list of names of columns", names)
        for column in names:
            if column not in frame.columns:
                raise UnknownNameError(f"{role} column", column, frame.columns)
    both = set(stated["nominal"]) & set(stated["numeric"])
    if both:
        raise ArgumentError(f"Column {both.pop()!r} is stated as nominal and as numeric.")

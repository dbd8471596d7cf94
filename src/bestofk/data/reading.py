"""Make data sets from files, data frames, arrays, sparse matrices and texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import one_of, refuse
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError, argument, use
from bestofk._base.formatting import shortened
from bestofk._base.registry import resolve
from bestofk.data.cells import (
    DECIMAL_COMMAS,
    MISSING_TEXTS,
    as_pandas,
    read_numbers,
    refuse_other_order,
)
from bestofk.data.columns import (
    MIN_ROWS_TO_JUDGE,
    STATED_KINDS,
    learn_column,
    named_like_identifier,
    names_rows,
)
from bestofk.data.dataset import (
    FEATURE_ROLES,
    DataSet,
    check_row_columns,
    split_off_columns,
    with_row_columns,
)
from bestofk.data.schema import (
    FLOATS,
    TASK_OPTIONS,
    categorical,
    encode_labels,
    infer_task,
    is_categorical,
    is_whole,
    settled_rows,
)

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.data.tables import Table

_TARGET_NAMES = ("class", "target", "label")
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
"""Texts that pandas reads as truth values."""
_EMBEDDED = "bestofk.data.embedded:DATASETS"
_ROWS_AT_ONCE = 4096
_FORMS = (
    "compare(learners, X, y), compare(learners, frame, 'column'), "
    "compare(learners, 'file.csv', target='column') or compare(learners, 'iris')"
)


def read_data(
    source: Any,
    target: Any = None,
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    task: str = "auto",
    groups: Any = None,
    sample_weight: Any = None,
    folds: Any = None,
    by: Any = None,
    copy: bool = True,
) -> DataSet:
    r"""Make a data set from a file, a data frame or arrays.

    Parameters
    ----------
    source : path, name, data frame, array, list of dictionaries, sparse matrix or texts
        A file, a folder of files with the same columns, or an SQLAlchemy URL with a table or a
        query (see `bestofk.data.tables.read_table`); the name of an embedded data set; a data
        frame of pandas, polars or Arrow; an array of shape (n, d), whose columns are called x1,
        x2, ...; a list of dictionaries, or a dictionary of columns. A sparse matrix and a sequence
        of texts are kept as they are, for learners that accept them.
    target : str, or array of shape (n,) or (n, 1)
        The name of the column to predict, or the targets. By default the column of a file that
        is called class, target or label, else its last one.
    name : str, optional
        The name in reports; by default that of the file.
    columns : mapping of column to {"category", "number", "ignore"}, optional
        What columns are, if the rule below does not find it. ``"ignore"`` leaves a column out.
    task : {"auto", "classification", "regression"}
        Whether the target is a label or a number. Auto: text, booleans and categories are labels,
        numbers with fractions are numbers. Whole numbers are labels if there are two distinct
        ones, or at most 20 with at least five rows each on average.
    groups, sample_weight, folds, by : name of a column, or array of shape (n,), optional
        See `bestofk.data.with_row_columns`. A named column is excluded from the features,
        except that of slices.
    copy : bool, optional
        False: use an array of floats without copying it. It must not change while the data set is
        in use.

    Returns
    -------
    DataSet
        Its `notes` say what was assumed and left out. The arguments are never changed.

    Notes
    -----
    Missing are null values, ``?`` and the texts that pandas reads as missing: empty cells,
    ``#N/A``, ``#N/A N/A``, ``#NA``, ``-1.#IND``, ``-1.#QNAN``, ``-NaN``, ``-nan``, ``1.#IND``,
    ``1.#QNAN``, ``<NA>``, ``N/A``, ``NA``, ``NULL``, ``NaN``, ``None``, ``n/a``, ``nan`` and
    ``null``.

    A column is numeric if every other cell is a number, with one thousands separator, decimal
    mark, currency sign or percent sign. If at least nine of ten cells are numbers and the others
    are a few words, the words are missing values. Dates of one form become days since 1970-01-01.
    Everything else is a category. Categories and classes are in declared order (categorical
    columns, ARFF), else sorted.

    A column is left out as an identifier if it holds texts or whole numbers that differ in every
    row, and is named like one (id, customer_id, PassengerId) or rises in steps of one.

    Rows belong together by position. If the target, groups, weights, folds or slices have the
    same index labels as the frame in another order, they are refused. Other labels are not
    compared.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "credit.csv")
    >>> _ = file.write_text("income;house;class\n1,5;own;good\n0,7;rent;bad\n?;rent;bad\n")
    >>> data = read_data(file)
    >>> data
    DataSet('credit', 3 rows, 2 columns, 2 classes)
    >>> data.X["income"].tolist(), data.classes.tolist()
    ([1.5, 0.7, nan], ['bad', 'good'])
    >>> folder.cleanup()
    >>> read_data([[1, 0], [2, 1], [3, 0]], ["a", "b", "a"], columns={"x2": "category"}).kinds
    {'x1': 'numeric', 'x2': 'nominal'}
    """
    one_of(task, "task", TASK_OPTIONS)
    roles = {"groups": groups, "sample_weight": sample_weight, "folds": folds, "by": by}
    stated = _stated_kinds(columns)
    if isinstance(source, DataSet) or _is_embedded(source):
        data = source if isinstance(source, DataSet) else _embedded(str(source))
        _refuse_known(data, target=target, columns=stated, task=task)
        return with_row_columns(data, **roles)
    choice, delimiter, locate = "", None, _row_location
    if isinstance(source, str | os.PathLike):
        from bestofk._base.files import check_source
        from bestofk.data.tables import read_table

        check_source(os.fspath(source), "file or embedded data set", _EMBEDDED)
        table = read_table(source)
        delimiter = table.delimiter
        name = name or _name_of(source)
        for role, column in roles.items():
            if isinstance(column, str) and column not in table.columns:
                raise UnknownNameError(f"{role} column", column, table.columns, table.source)
        excluded = {str(one) for role, one in roles.items() if role not in FEATURE_ROLES}
        excluded |= {column for column, kind in stated.items() if kind == "ignore"}
        target, choice = _chosen_target(table, target, excluded)
        source = _frame_of(table)
        locate = table.location
    X, y, target = _features_and_target(source, target)
    name = name or "data"
    for role, values in {"y": y, **roles}.items():
        refuse_other_order(X, values, role)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n < 1:
        raise ArgumentError("A data set must have at least one row; got none.")
    kind = None if target in getattr(X, "columns", ()) else stated.get(target)
    y, task, guessed = _target_values(y, target, n, task, kind, locate)
    named, original = False, None
    notes: list[str] = []
    if is_whole(X):
        for argument, value in {"columns": stated or None, **roles}.items():
            if isinstance(value, str | dict):
                raise ArgumentError(f"{argument} names columns, and the rows have none: {value!r}.")
        rows = settled_rows(X)
        values_by_role = {role: one for role, one in roles.items() if one is not None}
    else:
        named = hasattr(X, "columns")
        frame = _frame(X)
        for column in stated:
            if column not in frame.columns and column != target:
                raise UnknownNameError("column", column, frame.columns)
        for role, column in roles.items():
            if isinstance(column, str) and column == target:
                noun = "slices" if role == "by" else role
                raise ArgumentError(f"Column {column!r} is the target and cannot hold {noun}.")
        frame, values_by_role = split_off_columns(frame, roles)
        ignored = [column for column, kind in stated.items() if kind == "ignore"]
        frame = frame.drop(columns=ignored, errors="ignore").reset_index(drop=True)
        if not frame.shape[1]:
            raise ArgumentError(
                f"There must be a column to learn from besides the target {target!r}; got none."
            )
        rows, notes = _converted(frame, stated, delimiter, copy=copy, named=named)
        if named and (rows.shape[1] < frame.shape[1] or set(frame.dtypes) - set(rows.dtypes)):
            original = frame
    row_columns: dict[str, Any] = {**check_row_columns(values_by_role, n)}
    return DataSet(
        name=name, X=rows, y=y, task=task, notes=tuple(notes), target_choice=choice,
        task_guessed=guessed, original=original, named=named, **row_columns,
    )  # fmt: skip


def _stated_kinds(columns: Mapping[str, str] | None) -> dict[str, str]:
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise refuse("columns", "a mapping such as {'income': 'category'}", columns)
    for column, kind in columns.items():
        one_of(kind, f"columns: {column!r}", STATED_KINDS)
    return {str(column): kind for column, kind in columns.items()}


def _is_embedded(source: Any) -> bool:
    if not isinstance(source, str) or Path(source).exists():
        return False
    from bestofk.data.embedded import DATASETS

    return source in DATASETS


def _refuse_known(data: DataSet, *, target: Any, columns: Mapping[str, str], task: str) -> None:
    """Refuse arguments about columns and target of a data set, which knows them."""
    for name, value in (("target", target), ("columns", columns or None)):
        if value is not None:
            raise ArgumentError(
                argument(name),
                f" does not apply to {data.name!r}, whose columns and target are known: omit it.",
            )
    if task not in ("auto", data.task):
        raise ArgumentError(
            f"{data.name!r} is a data set for {data.task}; got ", use(task=task), ": omit task."
        )


def _row_location(row: int, column: str) -> str:
    return f"Row {row + 1}, column {column!r}"


# Files


def _name_of(path: str | os.PathLike[str]) -> str:
    file, _, part = Path(path).name.removesuffix(".gz").partition("#")
    name = file.rpartition(".")[0] or file
    return f"{name}#{part}" if part else name


def _chosen_target(table: Table, target: Any, excluded: set[str]) -> tuple[str, str]:
    """Return the column to predict, and why if it was not named."""
    if target is not None:
        if not isinstance(target, str):
            raise refuse("target", "the name of a column of the file", target)
        if target not in table.columns:
            raise UnknownNameError("column", target, table.columns, table.source)
        return target, ""
    usable = [column for column in table.columns if column not in excluded]
    if not usable:
        raise TableError(f"{table.source}: there must be a column to predict; all are excluded.")
    lowered = {column.strip().lower(): column for column in reversed(usable)}
    for word in _TARGET_NAMES:
        if word in lowered:
            return lowered[word], "chosen by its name"
    return usable[-1], "the last column"


def _frame_of(table: Table) -> pd.DataFrame:
    """Return the columns with the types that pandas would read."""
    import pandas as pd

    columns = {}
    for name in table.columns:
        cells = table.frame[name]
        if name in table.declared:
            columns[name] = categorical(cells, table.declared[name])
        else:
            # texts of Parquet are read as categories to save memory
            cells = cells.astype(object) if is_categorical(cells) else cells
            columns[name] = _typed(cells, table.delimiter)
    return pd.DataFrame(columns)


def _typed(cells: pd.Series[Any], delimiter: str | None) -> pd.Series[Any]:
    """Return texts as numbers or truth values if all of them are.

    Decimal commas are read here if the delimiter is a semicolon, which later rows do not show.
    """
    import pandas as pd

    if cells.dtype != object and not isinstance(cells.dtype, pd.StringDtype):
        return cells
    parsed = read_numbers(cells, delimiter=delimiter, allow_words=False)
    if parsed is not None and (
        not parsed.form or (delimiter == ";" and parsed.form == DECIMAL_COMMAS)
    ):
        numbers = parsed.values
        gaps = np.isnan(numbers)
        if not gaps.any() and (numbers == np.floor(numbers)).all() and (
            np.abs(numbers).max(initial=0) < 2**53
            and not cells.astype(str).str.contains(r"[.eE]").any()
        ):  # fmt: skip
            numbers = numbers.astype(np.int64)
        if not (gaps.any() and (cells[gaps] == "?").any()):  # which pandas reads as text
            return pd.Series(numbers, index=cells.index)
    cells = cells.where(cells.notna() & ~cells.isin(MISSING_TEXTS - {"?"}), None).astype(object)
    known = cells.dropna()
    if len(known) and known.isin(_TRUTH).all():
        return cells.map(_TRUTH) if len(known) == len(cells) else cells.map(_TRUTH, "ignore")
    return cells


# Features


def _features_and_target(source: Any, target: Any) -> tuple[Any, Any, str]:
    """Return the features, one column of targets, and its name."""
    import pandas as pd

    source, target = as_pandas(source, "data"), as_pandas(target, "target")
    if target is None:
        source, target = _separated(source)
    if isinstance(source, Mapping) or (
        isinstance(source, list) and source and all(isinstance(row, Mapping) for row in source)
    ):
        source = pd.DataFrame(source)
    names = [str(one) for one in getattr(source, "columns", [])]
    if isinstance(target, list | tuple) and names and set(map(str, target)) <= set(names):
        if len(target) > 1 and len(target) != len(source):
            raise ArgumentError(
                argument("target"),
                f" names {len(target)} columns, and bestofk predicts one: compare one at a "
                "time, as in ",
                use(target=str(target[0])),
                ".",
            )
        target = str(target[0]) if len(target) == 1 else target
    if np.isscalar(target):
        column = str(target)
        if not names:
            raise ArgumentError(
                f"target is {target!r:.60}, but the data have no named columns: pass the targets "
                "themselves, one for each row."
            )
        if column not in names:
            raise UnknownNameError("column", column, names)
        if names.count(column) > 1:
            raise ArgumentError(f"The column {column!r} occurs {names.count(column)} times.")
        position = names.index(column)
        others = [place for place in range(len(names)) if place != position]
        return source.iloc[:, others], source.iloc[:, position], column
    y = _one_column(target)
    name = getattr(y, "name", None)
    if name is not None and name in list(getattr(source, "columns", [])):
        column = source[name]
        if getattr(column, "ndim", 0) == 1 and len(column) == len(y):
            left, right = np.asarray(column, dtype=object), np.asarray(y, dtype=object)
            if bool(np.all((left == right) | ((left != left) & (right != right)))):
                source = source.drop(columns=[name])  # the target itself
    return source, y, "y" if name is None else str(name)


def _separated(source: Any) -> tuple[Any, Any]:
    """Separate features and target of a Bunch or of a pair (X, y)."""
    if isinstance(source, Mapping) and {"data", "target"} <= set(source):
        return source["data"], source["target"]
    if isinstance(source, tuple) and len(source) == 2:
        X, y = as_pandas(source[0]), as_pandas(source[1])
        if hasattr(X, "shape") and np.ndim(y) and len(y) == X.shape[0]:
            return X, y
    likely = [name for name in getattr(source, "columns", []) if str(name).lower() in _TARGET_NAMES]
    form = f"compare(learners, frame, {str(likely[0])!r})" if likely else _FORMS
    raise ArgumentError(argument("target"), f" must be given: {form}.")


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


def _converted(
    frame: pd.DataFrame,
    stated: Mapping[str, str],
    delimiter: str | None,
    *,
    copy: bool,
    named: bool,
) -> tuple[pd.DataFrame, list[str]]:
    """Return numbers and categories without identifiers, and notes."""
    import pandas as pd

    if "category" not in stated.values() and not any(map(named_like_identifier, frame.columns)):
        together = _floats_together(frame, copy=copy)
        if together is not None:
            return together, []
    columns: dict[str, pd.Series[Any]] = {}
    identifiers: dict[str, pd.Series[Any]] = {}
    notes: list[str] = []
    for name in frame.columns:
        reader = learn_column(frame[name], name, stated.get(name), delimiter=delimiter)
        cells = reader.read(frame[name], delimiter=delimiter)
        settled = name in stated or reader.kind == "date" or is_categorical(frame[name])
        if named and not settled and names_rows(cells, name):
            identifiers[name] = cells
            continue
        columns[name] = cells
        notes += reader.notes
    if not columns:
        columns, identifiers = identifiers, {}
    if identifiers:
        names = list(identifiers)
        keep = use(
            columns={names[0]: "category" if is_categorical(identifiers[names[0]]) else "number"}
        )
        is_one = len(names) == 1
        notes.append(
            f"{shortened(list(map(repr, names)))} {'is' if is_one else 'are'} left out as "
            f"{'an identifier' if is_one else 'identifiers'} ({keep} keeps "
            f"{'it' if is_one else 'the first'})."
        )
    table = pd.DataFrame(columns)
    together = _floats_together(table, copy=False)
    return table if together is None else together, notes


def _floats_together(frame: pd.DataFrame, *, copy: bool) -> pd.DataFrame | None:
    """Return a row-major frame of floats, which converts to an array without a copy.

    Return None if the frame holds anything but finite floats. Converting column by column would
    need twice the memory.
    """
    import pandas as pd

    kinds = set(frame.dtypes)
    if len(kinds) != 1 or kinds.pop() not in FLOATS:
        return None
    values = frame.to_numpy()
    values = np.array(values, order="C") if copy else np.ascontiguousarray(values)
    for start in range(0, len(values), _ROWS_AT_ONCE):
        if np.isinf(values[start : start + _ROWS_AT_ONCE]).any():
            return None
    names = pd.Index(list(frame.columns), dtype=object)
    return pd.DataFrame(values, columns=names, index=pd.RangeIndex(len(values)), copy=False)


# Targets


def _target_values(
    y: Any,
    name: str,
    n: int,
    task: str,
    kind: str | None,
    locate: Callable[[int, str], str],
) -> tuple[pd.Series[Any], str, bool]:
    """Return the target as a categorical or numbers, the task, and whether it was a guess."""
    import pandas as pd

    column = y if is_categorical(y) else np.asarray(y)
    if np.ndim(column) != 1 or len(column) != n:
        raise ArgumentError(
            f"y must hold one target for each of the {n} rows of X; got shape {np.shape(column)}."
        )
    if kind == "ignore":
        raise ArgumentError(f"Column {name!r} is the target and cannot be ignored.")
    if task == "auto" and kind is not None:
        task = "regression" if kind == "number" else "classification"
    is_text = not is_categorical(y) and column.dtype.kind in "OUST"
    # objects, because text that cannot be encoded is refused later
    cells = pd.Series(column, dtype=object if is_text else None)
    missing = np.asarray(cells.isna())
    if is_text:
        missing = missing | cells.isin(MISSING_TEXTS).to_numpy()
        parsed = None if task == "classification" else read_numbers(cells, allow_words=False)
        if parsed is not None and (parsed.form or task == "regression") and not missing.any():
            column = parsed.values
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise TableError(
            f"{locate(row, name)} must hold the target; the cell is missing "
            f"({int(missing.sum())} of {n}): fill in these cells or delete their rows."
        )
    task, guessed = infer_task(column, task)
    return convert_target(column, name, task=task), task, guessed


def convert_target(column: Any, name: str, *, task: str) -> pd.Series[Any]:
    """Return a target without missing cells as a categorical of two classes or more, or numbers."""
    import pandas as pd

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
        return pd.Series(numbers, name=name)
    if not is_categorical(column):
        column = np.asarray(column)
        if column.dtype.kind == "f" and (column != np.floor(column)).any():
            raise ArgumentError(
                "y must hold class labels; got numbers with fractions "
                f"({column[column != np.floor(column)][0]} ...): to predict a number pass ",
                use(task="regression"),
                ".",
            )
    codes, classes = encode_labels(column)
    counts = np.bincount(codes, minlength=len(classes))
    if (counts > 0).sum() < 2:
        only = classes.tolist()[codes[0]] if len(codes) else None
        raise ArgumentError(
            f"The target {name!r} must hold at least two classes; all {len(codes)} rows are "
            f"{only!r}."
        )
    if counts.max() == 1 and len(codes) >= MIN_ROWS_TO_JUDGE:
        raise ArgumentError(
            f"The target {name!r} must hold classes; every row has a different one: name another "
            "target."
        )
    labels = pd.Categorical.from_codes(codes, categories=classes.tolist())
    return pd.Series(labels, name=name)


def _one_column(y: Any) -> Any:
    """Return a target of shape (n, 1) as one of shape (n,); refuse several columns."""
    try:
        shape = np.shape(y)
    except ValueError:  # rows of different lengths
        shape = (len(y), 2)
    if len(shape) < 2:
        return y
    if len(shape) == 2 and shape[1] == 1:
        return y.iloc[:, 0] if hasattr(y, "iloc") else np.asarray(y)[:, 0]
    cells = np.asarray(y, dtype=object)
    if cells.ndim == 2 and np.isin(cells, (0, 1)).all() and (cells.sum(axis=1) == 1).all():
        raise ArgumentError(
            f"y is one-hot encoded in {shape[1]} columns: pass the labels themselves, as in "
            "compare(learners, X, np.asarray(y).argmax(axis=1))."
        )
    raise ArgumentError(
        "y holds several targets in every row, and bestofk predicts one: compare one at a time, as "
        "in compare(learners, X, np.asarray(y)[:, 0])."
    )


# Embedded data sets


def _embedded(name: str) -> DataSet:
    """Return an embedded data set."""
    import pandas as pd

    from bestofk.data.embedded import DATASETS

    entry = DATASETS[name]
    bunch = resolve(entry.loader)(as_frame=True)
    y = bunch.target
    if entry.task == "classification":
        labels = [str(label) for label in bunch.target_names]
        codes = pd.Categorical.from_codes(
            y.to_numpy().astype(np.int64), categories=pd.Index(labels)
        )
        y = pd.Series(codes, name="class")
    return read_data(bunch.data, y, name=name, task=entry.task)

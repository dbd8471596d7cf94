"""Read data sets from files, and load the data sets that come with scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import one_of, refuse
from bestofk._base.errors import ArgumentError, Part, TableError, use
from bestofk._base.registry import resolve
from bestofk.data.conversion import as_dataset
from bestofk.data.dataset import DataSet
from bestofk.data.dates import days_of_texts, describe_dates, looks_like_date
from bestofk.data.embedded import DATASETS
from bestofk.data.row_columns import (
    FEATURE_ROLES,
    MIN_ROWS_TO_JUDGE,
    NOUNS,
    describe_constants,
    describe_left_out,
    list_names,
    names_rows,
    with_row_columns,
)
from bestofk.data.schema import TASK_OPTIONS, Target, infer_target
from bestofk.data.tables import Table, read_table
from bestofk.data.tables.cells import read_numbers

if TYPE_CHECKING:
    import pandas as pd

_TARGET_NAMES = ("class", "target", "label")
_MAX_SHARE_OF_WORDS = 0.1


def read_dataset(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    nominal: Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    name: str | None = None,
    task: str = "auto",
    groups: str | None = None,
    sample_weight: str | None = None,
    folds: str | None = None,
    by: str | None = None,
) -> DataSet:
    r"""Read a data set from CSV, TSV, Parquet, ARFF or JSON lines.

    Parameters
    ----------
    path : path
        The file; text may be compressed with gzip.
    target : str, optional
        The column to predict. By default the one called class, target or label, else the last.
    nominal, numeric, ignore : sequences of str, optional
        Columns to treat as nominal or numeric, and columns to leave out.
    keep : sequence of str, optional
        Columns to use even if they look like identifiers.
    name : str, optional
        The name in reports; by default the name of the file.
    task : {"auto", "classification", "regression"}
        Whether the target is a label, even if it looks like a number, or a number. Auto: text,
        booleans and declared values are labels, numbers with fractions are numbers. Whole numbers
        are labels if there are two distinct ones, or at most 20 with at least five rows each on
        average; `DataSet.target_note` says so.
    groups, sample_weight, folds : str, optional
        Columns to exclude from the features: rows of one group are never on both sides of a
        split; the weight of each row; the fold that tests it (for the plan
        ``"predefined:COLUMN"``).
    by : str, optional
        Column of slices; it stays a feature unless `ignore` names it.

    Returns
    -------
    DataSet
        Its `account` says how the file was read: the target, the kinds, what was left out.

    Notes
    -----
    A column is numeric if every cell that is not missing is a number, else nominal. Dates such as
    2024-03-31 (with or without a time) become days since 1970-01-01. Values and classes keep the
    order that the file declares (ARFF, Parquet dictionaries), else the order of first appearance.
    Identifiers are left out unless `keep` names them or you state their kind: a text column with a
    different value in every row, or distinct whole numbers in a column with a name such as id,
    customer_id, PassengerId or index. A constant column is kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "credit.csv")
    >>> _ = file.write_text("income;house;class\n1,5;own;good\n0,7;rent;bad\n?;rent;bad\n")
    >>> data = read_dataset(file)
    >>> data
    DataSet('credit', 3 rows, 1 numeric and 1 nominal column, 2 classes)
    >>> data.X["income"].tolist(), data.classes.tolist()
    ([1.5, 0.7, nan], ['good', 'bad'])
    >>> folder.cleanup()
    """
    one_of(task, "task", TASK_OPTIONS)
    for role, names in (
        ("nominal", nominal),
        ("numeric", numeric),
        ("ignore", ignore),
        ("keep", keep),
    ):
        if isinstance(names, str):
            raise refuse(role, "a list of names of columns", names)
    table = read_table(path)
    if name is None:
        name = Path(path).name.removesuffix(".gz")
        name = name.rpartition(".")[0] or name
    role_columns = {"groups": groups, "sample_weight": sample_weight, "folds": folds, "by": by}
    row_columns = _row_columns(table, role_columns, target)
    data = dataset_of(
        table, target=target, nominal=nominal, numeric=numeric, ignore=ignore, keep=keep, name=name,
        task=task, apart=tuple(
            column
            for role, column in role_columns.items()
            if column is not None and role not in FEATURE_ROLES
        ),
    )  # fmt: skip
    if by is not None and by == data.y.name:
        raise _is_target(by, "by")
    return with_row_columns(data, **row_columns)


def _row_columns(
    table: Table, role_columns: dict[str, str | None], target: str | None
) -> dict[str, pd.Series[Any]]:
    """Return the columns of groups, weights and folds by role, as text or numbers."""
    import pandas as pd

    row_columns = {}
    for role, column in role_columns.items():
        if column is None:
            continue
        if not isinstance(column, str):
            raise refuse(role, "the name of a column of the file", column)
        missing = table.missing(column)
        if column == target:
            raise _is_target(column, role)
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise TableError(
                f"{table.location(row, column)} must hold {NOUNS.get(role, role)}; the cell is "
                f"missing ({int(missing.sum())} of {len(missing)})."
            )
        if role == "sample_weight":
            values: Any = table.numbers(column)
        else:
            values = _categories(table, column, missing).astype(object).to_numpy()
        row_columns[role] = pd.Series(values, name=column)
    return row_columns


def _is_target(column: str, role: str) -> ArgumentError:
    noun = NOUNS.get(role, role)
    return ArgumentError(f"Column {column!r} is the target and cannot hold {noun}.")


def dataset_of(
    table: Table,
    *,
    target: str | None,
    nominal: Sequence[str],
    numeric: Sequence[str],
    ignore: Sequence[str],
    name: str,
    task: str,
    keep: Sequence[str] = (),
    apart: Sequence[str] = (),
) -> DataSet:
    """Make a data set from a table, without the columns `apart`; see `read_dataset`."""
    import pandas as pd

    for column in (*nominal, *numeric, *ignore, *keep):
        table.missing(column)  # raises an error that suggests similar names
    both = set(nominal) & set(numeric)
    if both:
        raise ArgumentError(f"Column {both.pop()!r} is stated as nominal and as numeric.")
    target, account, guessed = _target(table, target, (*ignore, *apart))
    if table.n_rows == 0:
        raise TableError(f"{table.source}: the table must hold rows; it has only a header.")
    kind = _target_kind(table, target, task)
    y = _target_column(table, target, kind.task)
    features = _Features(table=table)
    for column in table.columns:
        if column != target and column not in ignore and column not in apart:
            features.add(
                column,
                "nominal" if column in nominal else "numeric" if column in numeric else None,
                keep=column in keep,
            )
    features.fall_back_on_texts()
    if not features.columns:
        left_out = list_names(list(features.identifiers))
        raise TableError(
            f"{table.source}: there must be a column to learn from besides the target {target!r}; "
            + (f"all others are identifiers ({left_out})." if left_out else "got none.")
        )
    account += features.sentences()
    if ignore:
        account.append(f"Ignored: {list_names(list(ignore))}.")
    changed = features.nominal or features.identifiers or features.dates
    data = DataSet(
        name=name,
        X=pd.DataFrame(features.columns),
        y=y,
        task=kind.task,
        target_note=" ".join(filter(None, (guessed, kind.note))),
        original=pd.DataFrame(features.original) if changed else None,
    )
    if data.n_missing:
        account.append(f"Missing cells: {data.n_missing}.")
    return replace(data, account=(*table.account, *account), left_out=tuple(features.not_used()))


@dataclass(slots=True, kw_only=True, eq=False)
class _Features:
    """The features of a table, and what to say about them."""

    table: Table
    columns: dict[str, pd.Series[Any]] = field(default_factory=dict)
    original: dict[str, pd.Series[Any]] = field(default_factory=dict)
    identifiers: dict[str, pd.Series[Any]] = field(default_factory=dict)
    nominal: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, column: str, stated: str | None, *, keep: bool) -> None:
        """Convert a column of the stated kind, or of the kind that its cells show."""
        import pandas as pd

        days = None if stated == "nominal" else _days(self.table, column)
        if days is not None:
            self.dates.append(column)
            self.original[column], self.columns[column] = pd.to_datetime(days, unit="D"), days
            return
        cells = _column(self.table, column, stated)
        is_nominal = isinstance(cells.dtype, pd.CategoricalDtype)
        self.original[column] = cells
        if stated is None and is_nominal:
            if column not in self.table.declared:
                self.original[column] = pd.Series(cells.tolist())  # text, as other readers return
            self.notes.extend(_nearly_numeric(self.table, column))
        if stated is None and not keep and names_rows(cells, column):
            self.identifiers[column] = cells
            return
        distinct = cells.nunique()
        if distinct == 0:
            self.empty.append(column)
        elif distinct == 1 and len(cells) > 1:
            self.constant.append(column)
        self.columns[column] = cells
        if is_nominal:
            self.nominal.append(column)
        elif form := self.table.number_form(column):
            self.notes.append(f"{column!r}: {form}.")

    def fall_back_on_texts(self) -> None:
        """Use identifiers as features if there are no others: they may be texts to learn from."""
        import pandas as pd

        if not self.columns:
            self.columns = {
                column: cells
                for column, cells in self.identifiers.items()
                if isinstance(cells.dtype, pd.CategoricalDtype)
            }
            self.nominal = list(self.columns)
            for column in self.columns:
                del self.identifiers[column]

    def sentences(self) -> list[str]:
        """Describe the kinds of the features."""
        sentences = []
        if self.nominal:
            sentences.append(f"Nominal: {list_names(self.nominal)}; the other columns are numeric.")
        if self.dates:
            sentences.append(describe_dates(self.dates))
        sentences += self.notes
        if self.constant:
            sentences.append(describe_constants(self.constant))
        if self.empty:
            sentences.append(f"Kept, without any known value: {list_names(self.empty)}.")
        return sentences

    def not_used(self) -> list[str]:
        """Describe the identifiers, which are left out."""
        if not self.identifiers:
            return []
        return [describe_left_out(list(self.identifiers))]


def _target(table: Table, target: str | None, ignore: Sequence[str]) -> tuple[str, list[str], str]:
    """Return the target, a sentence for the account, and a note if the target is a guess."""
    if target is not None:
        table.missing(target)
        if target in ignore:
            raise ArgumentError(f"Column {target!r} is the target and cannot be ignored.")
        return target, [], ""
    usable = [column for column in table.columns if column not in ignore]
    if not usable:
        raise TableError(f"{table.source}: there must be a column to predict; all are ignored.")
    lowered = {column.strip().lower(): column for column in reversed(usable)}
    for word in _TARGET_NAMES:
        if word in lowered:
            return lowered[word], [f"The target is the column {lowered[word]!r}, by its name."], ""
    sentence = f"The target is the last column, {usable[-1]!r}"
    return usable[-1], [f"{sentence}."], f"{sentence}: name the target to choose another."


def _target_kind(table: Table, target: str, task: str) -> Target:
    """Return the task of the target, as stated or inferred from its cells."""
    if task != "auto":
        return Target(task, "")
    missing = table.missing(target)
    if missing.all() or not _is_numeric(table, target, missing):
        return Target("classification", "")
    return infer_target(table.numbers(target), task, name=repr(target))


def _target_column(table: Table, target: str, task: str) -> pd.Series[Any]:
    import pandas as pd

    missing = table.missing(target)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise TableError(
            f"{table.location(row, target)} must hold the target; the cell is missing "
            f"({int(missing.sum())} of {len(missing)}): fill in these cells or delete their rows."
        )
    if task == "regression":
        numbers = table.numbers(target)
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise TableError(f"{table.location(row, target)} must be finite; got {numbers[row]}.")
        return pd.Series(numbers, name=target)
    y = _categories(table, target, missing)
    if y.nunique() < 2:
        raise TableError(
            f"{table.source}: the target {target!r} must hold at least two classes; every row is "
            f"{y.iloc[0]!r}."
        )
    if y.nunique() == len(y) and len(y) >= MIN_ROWS_TO_JUDGE:
        kind: tuple[Part, ...] = ("label: name another target.",)
        if table.is_numeric(target):
            kind = ("number: to predict a number pass ", use(task="regression"), ".")
        raise TableError(
            f"{table.source}: the target {target!r} must hold classes; every row has a different ",
            *kind,
        )
    return y.rename(target)


def _column(table: Table, column: str, stated: str | None) -> pd.Series[Any]:
    import pandas as pd

    missing = table.missing(column)
    if stated == "numeric" or (stated is None and _is_numeric(table, column, missing)):
        numbers = table.numbers(column)
        if np.isinf(numbers).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0])
            raise TableError(f"{table.location(row, column)} must be finite; got {numbers[row]}.")
        if len(numbers) and not missing.any() and (numbers == np.floor(numbers)).all() and (
            np.abs(numbers).max() < 2.0**53
        ):  # fmt: skip
            return pd.Series(numbers.astype(np.int64))
        return pd.Series(numbers)
    return _categories(table, column, missing)


def _days(table: Table, column: str) -> pd.Series[Any] | None:
    """Return the days of a column whose known cells are all dates; None for other columns."""
    import pandas as pd

    if column in table.declared or table.is_typed_number(column):
        return None
    missing = table.missing(column)
    if missing.all() or not looks_like_date(table.text(column)[int(np.argmin(missing))]):
        return None
    levels = table.levels(column)
    codes = np.where(missing, -1, levels.codes)
    used = np.unique(codes[codes >= 0])
    days = days_of_texts([levels.names[code] for code in used.tolist()], column)
    if days is None:
        return None
    by_code = np.full(len(levels.names) + 1, np.nan)
    by_code[used] = days
    return pd.Series(by_code[codes])


def _is_numeric(table: Table, column: str, missing: npt.NDArray[np.bool_]) -> bool:
    if column in table.declared:
        return False
    if table.is_typed_number(column):
        return True
    return bool(missing.all()) or table.is_numeric(column)


def _nearly_numeric(table: Table, column: str) -> list[str]:
    """Describe a nominal column that would be numeric without a few cells, perhaps typos."""
    if column in table.declared:
        return []
    levels, known = table.levels(column), ~table.missing(column)
    word_codes = [code for code, name in enumerate(levels.names) if read_numbers([name]) is None]
    odd = np.isin(levels.codes, word_codes) & known
    n_odd, n = int(odd.sum()), int(known.sum())
    if not 0 < n_odd <= _MAX_SHARE_OF_WORDS * n:
        return []
    row = int(np.flatnonzero(odd)[0])
    return [
        f"{column!r} would be numeric without {n_odd} of its {n} cells: "
        f"{table.location(row, column)} holds {levels.names[levels.codes[row]]!r}."
    ]


def _categories(table: Table, column: str, missing: npt.NDArray[np.bool_]) -> pd.Series[Any]:
    """Return the column as a categorical, in declared order or in order of appearance."""
    import pandas as pd

    levels = table.levels(column)
    codes = np.where(missing, -1, levels.codes)
    declared = table.declared.get(column)
    if declared is None:
        used = np.zeros(len(levels.names), dtype=bool)
        used[codes[codes >= 0]] = True
        new_code = np.cumsum(used) - 1
        names = [word for word, seen in zip(levels.names, used, strict=True) if seen]
    else:
        code_of = {word: position for position, word in enumerate(declared)}
        names = list(declared)
        new_code = np.array([code_of.get(word, -1) for word in levels.names], dtype=np.int64)
    if len(new_code):
        codes = np.where(codes < 0, -1, new_code[codes])
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(names)))


# Embedded data sets


def load(name: str) -> DataSet:
    """Load an embedded data set.

    Parameters
    ----------
    name : str
        One of the names in `DATASETS`.

    Examples
    --------
    >>> load("wine")
    DataSet('wine', 178 rows, 13 numeric columns, 3 classes)
    >>> load("iris").classes.tolist()
    ['setosa', 'versicolor', 'virginica']
    """
    import pandas as pd

    entry = DATASETS[name]
    bunch = resolve(entry.loader)(as_frame=True)
    y = bunch.target.to_numpy()
    if entry.task == "classification":
        labels = [str(label) for label in bunch.target_names]
        y = pd.Categorical.from_codes(y.astype(np.int64), categories=pd.Index(labels))
    return as_dataset(
        bunch.data,
        y,
        name=name,
        task=entry.task,
        account=(f"{name}: from scikit-learn, {entry.summary}.",),
    )

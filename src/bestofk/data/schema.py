"""Dates as numbers, days since 1970-01-01: in files and in data frames alike."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, one_of
from bestofk._base.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

_ISO = re.compile(
    r"\s*\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?\s*"
)
_AMBIGUOUS = re.compile(r"\s*\d{1,2}([./-])\d{1,2}\1\d{4}\s*")
_DAY = np.timedelta64(1, "D")


def days_of_column(column: pd.Series[Any], name: Hashable) -> pd.Series[Any] | None:
    """The days of a column of dates, times or durations, NaN where missing; None for others."""
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.PeriodDtype):
        return _days(column.dt.to_timestamp())
    if pd.api.types.is_datetime64_any_dtype(kind):
        return _days(column)
    if pd.api.types.is_timedelta64_dtype(kind):
        return pd.Series(column.to_numpy() / _DAY)
    if isinstance(kind, pd.CategoricalDtype) or not (
        pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)
    ):
        return None
    known = column.dropna()
    if not len(known):
        return None
    first = known.iloc[0]
    if looks_like_date(first):
        texts = pd.unique(known)
        days = days_of_texts(texts.tolist(), name)
        if days is None:
            return None
        return column.map(dict(zip(texts, days, strict=True))).astype(np.float64)
    if pd.api.types.infer_dtype(known) in ("date", "datetime"):
        return _days(pd.to_datetime(column, errors="coerce"))
    return None


def looks_like_date(text: object) -> bool:
    """Whether a cell may be a date, which is asked before all cells are looked at."""
    return isinstance(text, str) and bool(_ISO.fullmatch(text) or _AMBIGUOUS.fullmatch(text))


def days_of_texts(texts: Sequence[str], name: Hashable) -> Floats | None:
    """The days of texts such as 2024-03-31 or 2024-03-31 12:30; None where one is no date.

    Raises where all are dates whose day and month may be either way round.
    """
    import pandas as pd

    if not len(texts) or not looks_like_date(texts[0]):
        return None
    if _AMBIGUOUS.fullmatch(texts[0]) and all(
        isinstance(text, str) and _AMBIGUOUS.fullmatch(text) for text in texts
    ):
        raise ArgumentError(
            f"Column {name!r} holds dates such as {texts[0].strip()!r}, which may be read in two "
            "ways: write them as 2024-12-31 (pandas.to_datetime makes dates of them and can be "
            "told which comes first), or leave the column out (on the command line --ignore "
            f"{name}; or --nominal {name}, to take them as labels)."
        )
    if not all(isinstance(text, str) and _ISO.fullmatch(text) for text in texts):
        return None
    try:
        moments = pd.to_datetime(
            pd.Series([text.strip() for text in texts]), format="ISO8601", utc=True
        )
    except (ValueError, OverflowError):  # such as the 30th of February
        return None
    return _days(moments).to_numpy()


def _days(moments: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    if getattr(moments.dtype, "tz", None) is not None:
        moments = moments.dt.tz_convert("UTC").dt.tz_localize(None)
    since = moments.to_numpy() - np.datetime64("1970-01-01")
    return pd.Series(since / _DAY)


def describe_dates(names: Sequence[Hashable]) -> str:
    """The sentence that tells of them."""
    shown = ", ".join(repr(name) for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"Dates, taken as days since 1970-01-01: {shown}{more}."


# Rows that are no table of columns: sparse matrices and sequences of texts, as they came.


def is_sparse(X: Any) -> bool:
    """Whether `X` is a sparse matrix or array of SciPy."""
    from scipy.sparse import issparse

    return bool(issparse(X))


def is_texts(X: Any) -> bool:
    """Whether `X` is one text per row: a list, an array of one axis, or a Series."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(row, str) for row in X)
    if getattr(X, "ndim", None) != 1 or not hasattr(X, "__len__") or len(X) == 0:
        return False
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("U", "T"):
        return True
    if kind != "O" and not hasattr(X, "iloc"):
        return False
    return all(isinstance(row, str) for row in X)


def is_whole(X: Any) -> bool:
    """Whether the rows are no table of columns."""
    return is_sparse(X) or is_texts(X)


def settled_rows(X: Any) -> Any:
    """The rows in a form that can be sliced: CSR, a Series, or an array or list of texts."""
    if is_sparse(X):
        if len(X.shape) != 2 or min(X.shape) < 1:
            raise ArgumentError(
                f"X must have rows and columns; got a sparse matrix of shape {X.shape}."
            )
        rows = X.tocsr()
        if rows.data.dtype.kind not in "iufb":
            raise ArgumentError(
                f"X must hold real numbers; got a sparse matrix of {rows.data.dtype}."
            )
        if not np.isfinite(rows.data).all():
            raise ArgumentError("X must hold finite numbers; got a sparse matrix with others.")
        return rows
    return X.reset_index(drop=True) if hasattr(X, "iloc") else X


def take_rows(X: Any, which: npt.NDArray[np.int64]) -> Any:
    """Some rows, of the type that `X` has."""
    if hasattr(X, "iloc"):
        return X.iloc[which]
    if isinstance(X, list | tuple):
        return [X[row] for row in which.tolist()]
    return X[which]


def digest_rows(X: Any) -> bytes:
    """A digest of the rows, the same however they are stored."""
    digest = sha256()
    if is_sparse(X):
        rows = X.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
        rows.sort_indices()
        digest.update(f"sparse {rows.shape} {rows.data.dtype}".encode())
        digest.update(rows.indptr.astype("<i8").tobytes())
        digest.update(rows.indices.astype("<i8").tobytes())
        digest.update(rows.data.astype("<f8").tobytes())
        return digest.digest()
    digest.update(f"texts {len(X)}".encode())
    for text in X:
        written = str(text).encode("utf-8", "surrogatepass")
        digest.update(len(written).to_bytes(8, "little"))
        digest.update(written)
    return digest.digest()


# Rows as the compiled kernels see them: one matrix of numbers and codes, one vector of classes.


Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Encoded:
    """A data set of n rows and d columns, ready for a kernel.

    Parameters
    ----------
    values : array of float64, shape (n, d), C-contiguous
        Numbers of numeric columns; codes 0..v-1 of nominal ones; NaN where the value is missing.
    cardinality : array of int64, shape (d,)
        0 for a numeric column, else the number v of declared values (also of those that no
        row holds).
    y : array of int64, shape (n,)
        Class codes 0..n_classes-1.
    classes : array, shape (n_classes,)
        The labels in declared order: ``classes[y]`` are the labels of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> data = Encoded(values=np.array([[0.5, 1.0], [2.5, np.nan]]), cardinality=np.array([0, 3]),
    ...                y=np.array([2, 0]), classes=np.array(["a", "b", "c"]))
    >>> data.n, data.d, data.n_classes
    (2, 2, 3)
    >>> present, codes = data.only_present_classes()
    >>> present.y.tolist(), present.classes.tolist(), codes.tolist()
    ([1, 0], ['a', 'c'], [0, 2])
    """

    values: Floats
    cardinality: Codes
    y: Codes
    classes: npt.NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.ascontiguousarray(self.values, dtype=np.float64))
        for name in ("cardinality", "y"):
            codes = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, codes)
        object.__setattr__(self, "classes", np.asarray(self.classes))
        n, d = self.values.shape
        if self.cardinality.shape != (d,) or self.y.shape != (n,):
            raise ArgumentError(
                f"An encoded data set of {n} rows and {d} columns must have {d} cardinalities and "
                f"{n} class codes; got {self.cardinality.shape} and {self.y.shape}."
            )
        check_codes(self.values, self.cardinality)
        if n and not 0 <= int(self.y.min()) <= int(self.y.max()) < len(self.classes):
            raise ArgumentError(
                f"Class codes must be from 0 to {len(self.classes) - 1}; "
                f"got {int(self.y.min())} to {int(self.y.max())}."
            )

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.values.shape[0])

    @property
    def d(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    @property
    def n_classes(self) -> int:
        """The number of declared classes."""
        return len(self.classes)

    def take(self, rows: npt.NDArray[np.integer]) -> Encoded:
        """The given rows, with the same columns, values and classes declared."""
        return replace(self, values=self.values[rows], y=self.y[rows])

    def only_present_classes(self) -> tuple[Encoded, Codes]:
        """The same rows with the classes that they hold, and those classes' codes before."""
        counts = np.bincount(self.y, minlength=self.n_classes)
        codes = np.flatnonzero(counts).astype(np.int64)
        if len(codes) == self.n_classes:
            return self, codes
        position = np.zeros(self.n_classes, dtype=np.int64)
        position[codes] = np.arange(len(codes))
        return replace(self, y=position[self.y], classes=self.classes[codes]), codes


def check_codes(values: Floats, cardinality: Codes) -> None:
    """Refuse codes of nominal columns that were not declared: kernels use them as places."""
    nominal = cardinality > 0
    if nominal.any():
        codes = values if nominal.all() else values[:, nominal]
        if ((codes < 0) | (codes >= cardinality[nominal])).any():
            raise ArgumentError(
                "The codes of a nominal column must be from 0 to its number of values less 1, or "
                f"NaN; got {float(np.nanmin(codes)):g} to {float(np.nanmax(codes)):g}."
            )


# What the columns of a table are: numeric, or nominal with their declared values in order.


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The columns of a data frame, by position.

    Parameters
    ----------
    columns : tuple
        Their names.
    categories : tuple
        For each column None (numeric) or the tuple of its declared values: the categories of a
        categorical column in their order, False and True of a column of truth values, else the
        values in the order in which they first appear.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"height": [1.5, None], "colour": ["red", "blue"]})
    >>> schema = Schema.of(frame)
    >>> schema.kinds
    {'height': 'numeric', 'colour': 'nominal'}
    >>> schema.encode(frame)
    array([[1.5, 0. ],
           [nan, 1. ]])
    >>> schema.encode(pd.DataFrame({"height": [2], "colour": ["green"]}))  # not declared
    array([[ 2., nan]])
    """

    columns: tuple[Hashable, ...]
    categories: tuple[tuple[Any, ...] | None, ...]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Schema:
        """The schema that `frame` itself declares."""
        names = tuple(frame.columns)
        return cls(
            columns=names,
            categories=tuple(
                declared_values(frame.iloc[:, position], name)
                for position, name in enumerate(names)
            ),
        )

    @property
    def kinds(self) -> dict[Hashable, str]:
        """``"numeric"`` or ``"nominal"`` by column."""
        return {
            name: "numeric" if declared is None else "nominal"
            for name, declared in zip(self.columns, self.categories, strict=True)
        }

    @property
    def cardinality(self) -> Codes:
        """0 for a numeric column, else the number of declared values."""
        return np.array(
            [0 if declared is None else len(declared) for declared in self.categories],
            dtype=np.int64,
        )

    def encode(self, frame: pd.DataFrame) -> Floats:
        """Numbers and codes, shape (n, d); a value that is not declared counts as missing."""
        values = np.empty((len(frame), len(self.columns)), dtype=np.float64)
        for position, (name, declared) in enumerate(
            zip(self.columns, self.categories, strict=True)
        ):
            column = frame.iloc[:, position]
            values[:, position] = (
                _numbers(column, name) if declared is None else _codes(column, declared)
            )
        return values


def declared_values(column: pd.Series[Any], name: Hashable) -> tuple[Any, ...] | None:
    """The declared values of a nominal column in order; None for a numeric one."""
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return tuple(kind.categories.tolist())
    if pd.api.types.is_bool_dtype(kind):
        return (False, True)
    if pd.api.types.is_complex_dtype(kind):
        raise ArgumentError(
            f"Complex data not supported: column {name!r} must hold real numbers or text."
        )
    if pd.api.types.is_numeric_dtype(kind):
        return None
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        raise ArgumentError(
            f"Column {name!r} must hold numbers or text; got dates ({kind}): turn them into "
            "numbers first."
        )
    known = column.dropna()
    if pd.api.types.is_object_dtype(kind) and _all_numbers(known):
        return None
    try:
        return tuple(pd.unique(known).tolist())
    except TypeError:
        raise TypeError(
            f"Column {name!r}: each cell's argument must be a string or a number; "
            f"got {type(known.iloc[0]).__name__!r}."
        ) from None


def _all_numbers(known: pd.Series[Any]) -> bool:
    import pandas as pd

    return pd.api.types.infer_dtype(known, skipna=True) in (
        "integer",
        "floating",
        "mixed-integer-float",
        "decimal",
        "empty",
    )


def _numbers(column: pd.Series[Any], name: Hashable) -> Floats:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.dtype.categories.dtype)
    try:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"Column {name!r} must hold numbers, as it did when the model was fitted; "
            f"got {column.dtype}."
        ) from None
    if np.isinf(numbers).any():
        raise ArgumentError(
            f"Column {name!r} must hold finite numbers; got infinity in row "
            f"{int(np.flatnonzero(np.isinf(numbers))[0]) + 1}."
        )
    return numbers


def _codes(column: pd.Series[Any], declared: tuple[Any, ...]) -> Floats:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype) and (
        tuple(column.dtype.categories.tolist()) == declared
    ):
        codes: npt.NDArray[Any] = column.cat.codes.to_numpy()
    else:
        codes = pd.Index(declared, dtype=object).get_indexer(pd.Index(column.astype(object)))
    return np.where(codes < 0, np.nan, codes).astype(np.float64)


def is_categorical(y: Any) -> bool:
    """Whether `y` is a pandas object that declares its values."""
    import pandas as pd

    return isinstance(getattr(y, "dtype", None), pd.CategoricalDtype)


def encode_labels(y: Any) -> tuple[Codes, npt.NDArray[Any]]:
    """Class codes and the classes: categories in declared order, else the labels sorted."""
    import pandas as pd

    if is_categorical(y):
        column = pd.Categorical(y)
        codes = column.codes.astype(np.int64)
        classes = column.categories.to_numpy()
        missing = codes < 0
    else:
        labels = np.asarray(y)
        missing = np.asarray(pd.isna(labels))
        if not missing.any():
            classes, inverse = np.unique(labels, return_inverse=True)
            codes = inverse.reshape(-1).astype(np.int64)
    if missing.any():
        raise ArgumentError(
            f"y must hold a label in every row; got a missing one in row "
            f"{int(np.flatnonzero(missing)[0]) + 1} ({int(missing.sum())} such of {len(missing)})."
        )
    return codes, classes


# Labels or numbers: what the target of a data set is, as told or by its values.


TASKS = ("classification", "regression")
TASK_OPTIONS = ("auto", *TASKS)
MAX_CLASSES = 20
"""Whole numbers of more different values are numbers."""
MIN_ROWS_PER_CLASS = 5
"""Whole numbers with fewer rows for each different value are numbers."""


class Target(NamedTuple):
    """What the target was taken for, and the sentence on it; empty where that is evident."""

    task: str
    note: str


def infer_target(y: Any, task: str, name: str = "y") -> Target:
    """What a target is: as told, or by its values.

    Text, truth values and categories are classes, numbers with fractions are numbers. Whole
    numbers are classes where there are two of them, or few: at most 20, with five rows or more for
    each on average.

    Examples
    --------
    >>> take_target(["a", "b"], "auto"), take_target([0.5, 1.0], "auto").task
    (Taken(task='classification', said=''), 'regression')
    >>> print(take_target(range(100), "auto").note)
    y taken as numbers (100 different values): regression; task='classification' takes them as \
classes.
    """
    one_of(task, "task", TASK_OPTIONS)
    if task != "auto":
        return Target(task, "")
    numbers = as_numbers(y)
    if numbers is None:
        return Target("classification", "")
    known = numbers[np.isfinite(numbers)]
    if not are_whole_numbers(known):
        return Target("regression", "")
    count = len(np.unique(known))
    if count <= 2:
        return Target("classification", "")
    if count <= MAX_CLASSES and count * MIN_ROWS_PER_CLASS <= len(known):
        note = f"{name} taken as classes ({count} different values): classification; "
        return Target("classification", f"{note}task='regression' takes them as numbers.")
    note = f"{name} taken as numbers ({count} different values): regression; "
    return Target("regression", f"{note}task='classification' takes them as classes.")


def as_numbers(y: Any) -> Any:
    """The target as floats; None where it is text, truth values or categories."""
    import pandas as pd

    if isinstance(getattr(y, "dtype", None), pd.CategoricalDtype):
        return None
    values = np.asarray(y)
    if values.dtype.kind == "O":
        if any(
            isinstance(value, bool | np.bool_) or not _is_number(value) for value in values.ravel()
        ):
            return None
        values = np.array(
            [np.nan if value is None else value for value in values.ravel()], dtype=float
        )
    return values.astype(np.float64) if values.dtype.kind in "iuf" else None


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float | np.integer | np.floating)


def are_whole_numbers(numbers: Any) -> bool:
    """Whether no number has a fraction."""
    return bool((numbers == np.floor(numbers)).all())

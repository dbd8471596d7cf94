"""The schema of a data set: kinds of columns, encoded rows, class labels and the task."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, one_of
from bestofk._base.errors import ArgumentError, use
from bestofk.data.cells import coded_texts, read_numbers, text_of

if TYPE_CHECKING:
    import pandas as pd


Codes = npt.NDArray[np.int64]
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
"""Types that are kept; other floats become float64."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoded:
    """A data set of n rows and d columns in the form that the compiled kernels use.

    Parameters
    ----------
    values : array of float64, shape (n, d), C-contiguous
        Numbers of numeric columns; codes 0..v-1 of nominal columns; NaN for missing values.
    cardinality : array of int64, shape (d,)
        0 for a numeric column, else the number v of declared values (including values that no row
        holds).
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
        """Return some of the rows, with the same declared columns, values and classes."""
        return replace(self, values=self.values[rows], y=self.y[rows])

    def only_present_classes(self) -> tuple[Encoded, Codes]:
        """Declare only the classes that the rows hold; also return their previous codes."""
        counts = np.bincount(self.y, minlength=self.n_classes)
        codes = np.flatnonzero(counts).astype(np.int64)
        if len(codes) == self.n_classes:
            return self, codes
        position = np.zeros(self.n_classes, dtype=np.int64)
        position[codes] = np.arange(len(codes))
        return replace(self, y=position[self.y], classes=self.classes[codes]), codes


def check_codes(values: Floats, cardinality: Codes) -> None:
    """Raise if a nominal column holds an undeclared code, which kernels would use as an index."""
    nominal = cardinality > 0
    if nominal.any():
        codes = values if nominal.all() else values[:, nominal]
        if ((codes < 0) | (codes >= cardinality[nominal])).any():
            raise ArgumentError(
                "The codes of a nominal column must be NaN or from 0 to its number of values "
                f"minus 1; got {float(np.nanmin(codes)):g} to {float(np.nanmax(codes)):g}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The columns of a data frame, by position.

    Parameters
    ----------
    columns : tuple
        Their names.
    categories : tuple
        For each column None (numeric) or the tuple of its declared values: the categories of a
        categorical column in their order, False and True for a boolean column, else the values in
        order (numbers by value, text by code point).

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"height": [1.5, None], "colour": ["red", "blue"]})
    >>> schema = Schema.of(frame)
    >>> schema.kinds
    {'height': 'numeric', 'colour': 'nominal'}
    >>> schema.encode(frame)
    array([[1.5, 1. ],
           [nan, 0. ]])
    >>> schema.encode(pd.DataFrame({"height": [2], "colour": ["green"]}))  # not declared
    array([[ 2., nan]])
    """

    columns: tuple[Hashable, ...]
    categories: tuple[tuple[Any, ...] | None, ...]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Schema:
        """Return the schema that `frame` declares."""
        names = tuple(frame.columns)
        if _all_plain_numbers(frame):
            return cls(columns=names, categories=(None,) * len(names))
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
        """Return numbers and codes, shape (n, d); undeclared values count as missing."""
        if set(self.categories) == {None} and _all_plain_numbers(frame):
            numbers = np.array(frame.to_numpy(dtype=np.float64), order="C")
            if not np.isinf(numbers).any():  # otherwise name the column below
                return numbers
        values = np.empty((len(frame), len(self.columns)), dtype=np.float64)
        for position, (name, declared) in enumerate(
            zip(self.columns, self.categories, strict=True)
        ):
            column = frame.iloc[:, position]
            if declared is None:
                values[:, position] = numbers_of(column, name)
            else:
                codes = categorical(column, declared).cat.codes.to_numpy()
                values[:, position] = np.where(codes < 0, np.nan, codes)
        return values


def _all_plain_numbers(frame: pd.DataFrame) -> bool:
    """Return whether all columns are integers or floats of numpy."""
    return all(isinstance(t, np.dtype) and t.kind in "fiu" for t in frame.dtypes.unique())


def declared_values(column: pd.Series[Any], name: Hashable) -> tuple[Any, ...] | None:
    """Return the declared values of a nominal column in order; None for a numeric column."""
    import pandas as pd

    kind = column.dtype
    if kind.kind in "mM" or isinstance(kind, pd.DatetimeTZDtype):
        raise ArgumentError(
            f"Column {name!r} must hold numbers or text; got dates ({kind}): turn them into "
            "numbers first."
        )
    if not pd.api.types.is_bool_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
        numbers = pd.api.types.is_numeric_dtype(kind)
        if numbers or (kind.kind == "O" and _all_numbers(column)):
            return None
    return values_of(column, name)


class NestedCellError(ArgumentError, TypeError):
    """A cell holds a list or an object; scikit-learn's checks expect a TypeError."""


def values_of(column: pd.Series[Any], name: Hashable) -> tuple[Any, ...]:
    """Return the categories of a column in their order, or its values without duplicates, sorted.

    Values of several types become text.
    """
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return tuple(kind.categories.tolist())
    known = column.dropna()
    inferred = pd.api.types.infer_dtype(known)
    if pd.api.types.is_bool_dtype(kind) or inferred == "boolean":
        return (False, True)
    if pd.api.types.is_complex_dtype(kind):
        raise ArgumentError(
            f"Complex data not supported: column {name!r} must hold real numbers or text."
        )
    if pd.api.types.is_numeric_dtype(kind):
        return tuple(sorted(pd.unique(known).tolist()))
    for cell in () if inferred == "string" else known:
        if isinstance(cell, list | tuple | set | dict | np.ndarray):
            raise NestedCellError(
                f"Column {name!r}: each cell's argument must be a string or a number; got "
                f"{type(cell).__name__!r}: make columns of its parts, or leave it out with ",
                use(columns={str(name): "ignore"}),
                ".",
            )
    return tuple(sorted(coded_texts(column).names))


def categorical(cells: pd.Series[Any], values: tuple[Any, ...]) -> pd.Series[Any]:
    """Return cells as declared values, found by their text (True, "True"); others as missing."""
    import pandas as pd

    if isinstance(cells.dtype, pd.CategoricalDtype):
        if tuple(cells.cat.categories.tolist()) == values:
            return cells.copy()
        cells = cells.astype(object)
    codes, texts = coded_texts(cells)
    position = {text_of(value): code for code, value in enumerate(values)}
    new_codes = np.array([position.get(text, -1) for text in texts] + [-1], dtype=np.intp)
    declared = pd.Categorical.from_codes(new_codes[codes], categories=pd.Index(list(values)))
    return pd.Series(declared, index=cells.index)


def _all_numbers(cells: Any) -> bool:
    """Return whether all Python objects that are not missing are numbers."""
    import pandas as pd

    numbers = ("integer", "floating", "mixed-integer-float", "decimal", "empty")
    return pd.api.types.infer_dtype(cells, skipna=True) in numbers


def numbers_of(
    column: pd.Series[Any], name: Hashable, delimiter: str | None = None
) -> pd.Series[Any]:
    """Return the cells as numbers, NaN if missing; raise if one is no number or infinite."""
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        if kind not in FLOATS:
            column = column.astype(np.float64 if kind.kind == "f" else np.int64)
        numbers = column.copy()
    else:
        if isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(kind):
            column = column.astype(object)
        parsed = read_numbers(column, delimiter=delimiter, allow_words=False)
        if parsed is None:
            texts = coded_texts(column).names
            wrong = next((text for text in texts if read_numbers([text]) is None), texts[0])
            raise ArgumentError(f"Column {name!r} must hold numbers; got {wrong!r}.")
        numbers = pd.Series(parsed.values, index=column.index)
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        row = int(np.flatnonzero(infinite)[0]) + 1
        raise ArgumentError(f"Column {name!r} must hold finite numbers; got infinity in row {row}.")
    return numbers


def is_categorical(y: Any) -> bool:
    """Return whether `y` is a categorical pandas object."""
    import pandas as pd

    return isinstance(getattr(y, "dtype", None), pd.CategoricalDtype)


def encode_labels(y: Any) -> tuple[Codes, npt.NDArray[Any]]:
    """Return class codes and classes: categories in declared order, else sorted labels."""
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
            f"{int(np.flatnonzero(missing)[0]) + 1} ({int(missing.sum())} of {len(missing)}): "
            "fill in these labels or delete their rows."
        )
    for label in classes:
        if isinstance(label, str) and any("\ud800" <= c <= "\udfff" for c in label):
            raise ArgumentError(
                f"y must hold valid text; the label {ascii(str(label))[:80]} contains half of a "
                "surrogate pair."
            )
    return codes, classes


# Classification or regression


TASK_OPTIONS = ("auto", "classification", "regression")
OTHER_TASK = {"classification": "regression", "regression": "classification"}
MAX_CLASSES = 20
"""Integers with more distinct values are numbers to predict."""
MIN_ROWS_PER_CLASS = 5
"""Integers with fewer rows per distinct value are numbers to predict."""


def infer_task(y: Any, task: str) -> tuple[str, bool]:
    """Return the stated task, or that of the values, and whether the other one is possible.

    Text, booleans and categories are classes, numbers with fractions are numbers. Whole numbers
    are classes if there are two distinct ones, or at most 20 with at least five rows each on
    average. Three or more could be meant either way.

    Examples
    --------
    >>> infer_task(["a", "b"], "auto"), infer_task([0.5, 1.0], "auto")
    (('classification', False), ('regression', False))
    >>> infer_task(range(100), "auto"), infer_task(range(100), "regression")
    (('regression', True), ('regression', False))
    """
    one_of(task, "task", TASK_OPTIONS)
    if task != "auto":
        return task, False
    numbers = as_numbers(y)
    if numbers is None:
        return "classification", False
    known = numbers[np.isfinite(numbers)]
    if not are_whole_numbers(known):
        return "regression", False
    count = len(np.unique(known))
    few = count <= 2 or (count <= MAX_CLASSES and count * MIN_ROWS_PER_CLASS <= len(known))
    return "classification" if few else "regression", count > 2


def as_numbers(y: Any) -> Any:
    """Return the target as floats; None if it is text, boolean or categorical."""
    import pandas as pd

    if is_categorical(y):
        return None
    values = np.asarray(y)
    if values.dtype.kind == "O" and _all_numbers(values):
        values = pd.to_numeric(pd.Series(values)).to_numpy(dtype=np.float64)
    return values.astype(np.float64) if values.dtype.kind in "iuf" else None


def are_whole_numbers(numbers: Any) -> bool:
    """Return whether no number has a fraction."""
    return bool((numbers == np.floor(numbers)).all())


# Rows without named columns: sparse matrices and sequences of texts


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a SciPy sparse matrix or array."""
    scipy_sparse = sys.modules.get("scipy.sparse")  # slow to load, and loaded if X is sparse
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def is_texts(X: Any) -> bool:
    """Return whether `X` is one text per row: a list, an array of one axis, or a Series."""
    if not isinstance(X, list | tuple) and getattr(X, "ndim", None) != 1:
        return False
    return len(X) > 0 and all(isinstance(row, str) for row in X)


def is_whole(X: Any) -> bool:
    """Return whether the rows are a sparse matrix or texts."""
    return is_sparse(X) or is_texts(X)


def settled_rows(X: Any) -> Any:
    """Check the rows and return them in a form that can be sliced: CSR, Series, array or list.

    Sparse rows have sorted indices, each once, and no stored zeros.
    """
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
            raise ArgumentError("X must hold finite numbers; got a sparse matrix with NaN or inf.")
        if not rows.has_canonical_format or not rows.data.all():
            rows = rows.copy()
            rows.sum_duplicates()
            rows.eliminate_zeros()
        return rows
    return X.reset_index(drop=True) if hasattr(X, "iloc") else X


def take_rows(X: Any, which: npt.NDArray[np.int64]) -> Any:
    """Return some rows of `X`, in the same type."""
    if hasattr(X, "iloc"):
        return X.iloc[which]
    if isinstance(X, list | tuple):
        return [X[row] for row in which.tolist()]
    return X[which]


def digest_rows(X: Any) -> bytes:
    """Return a digest of rows from `settled_rows`."""
    digest = sha256()
    if is_sparse(X):
        digest.update(f"sparse {X.shape} {X.data.dtype}".encode())
        digest.update(X.indptr.astype("<i8").tobytes())
        digest.update(X.indices.astype("<i8").tobytes())
        digest.update(X.data.astype("<f8").tobytes())
        return digest.digest()
    digest.update(f"texts {len(X)}".encode())
    for text in X:
        written = str(text).encode("utf-8", "surrogatepass")
        digest.update(len(written).to_bytes(8, "little"))
        digest.update(written)
    return digest.digest()

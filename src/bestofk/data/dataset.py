"""The data set: named columns, a target and a fingerprint."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.formatting import counted
from bestofk._base.results import listed, ready_to_print
from bestofk.data.cells import as_pandas
from bestofk.data.schema import (
    OTHER_TASK,
    Codes,
    Encoded,
    Schema,
    digest_rows,
    encode_labels,
    is_sparse,
)

if TYPE_CHECKING:
    import pandas as pd

ROWS_AT_ONCE = 4096


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataSet:
    """Rows to learn from.

    Made by `read_data`.

    Attributes
    ----------
    name : str
        The name in reports.
    X : DataFrame, shape (n, d)
        Numeric columns hold numbers (NaN for missing values); nominal columns are categorical,
        with their declared values in order. Alternatively a sparse matrix, or one text per row.
    y : Series, shape (n,)
        The labels, categorical with the classes in declared order; numbers for a regression.
    task : str
        ``"classification"`` or ``"regression"``.
    classes : ndarray
        The labels in declared order; none for a regression.
    groups : Series or None
        Rows of one group are never on both sides of a split.
    sample_weight : Series or None
        The weight of each row, in fits and in the loss.
    notes : tuple of str
        Sentences about what was assumed, left out, or may make a comparison misleading.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import read_data
    >>> data = read_data(pd.DataFrame({"height": [1.5, 1.8], "eyes": ["blue", None]}),
    ...                   ["child", "adult"], name="people")
    >>> data
    DataSet('people', 2 rows, 2 columns, 2 classes)
    >>> data.kinds, list(data.classes)
    ({'height': 'numeric', 'eyes': 'nominal'}, ['adult', 'child'])
    """

    name: str
    X: Any
    y: pd.Series[Any]
    task: str
    notes: tuple[str, ...] = ()
    groups: pd.Series[Any] | None = None
    sample_weight: pd.Series[Any] | None = None
    folds: pd.Series[Any] | None = None
    """The fold that tests each row, for the plan ``"predefined:COLUMN"``."""
    by: pd.Series[Any] | None = None
    """The slice of each row."""
    target_choice: str = ""
    """Why the target was chosen, if the user named none: ``"the last column"``."""
    task_guessed: bool = False
    """Whether the target may also be read for the other task."""
    original: pd.DataFrame | None = None
    """The unconverted columns, including those that were left out, for learners that choose their
    own columns; None if they equal those of `X`."""
    named: bool = False
    """Whether the columns have names from the user's data frame."""

    @property
    def whole(self) -> bool:
        """True if the rows are a sparse matrix or texts instead of a table of columns."""
        return not hasattr(self.X, "columns")

    @cached_property
    def schema(self) -> Schema:
        """The columns and their declared values."""
        if self.whole:
            raise ArgumentError(
                f"takes tables of columns; the rows of {self.name!r} are "
                f"{'a sparse matrix' if is_sparse(self.X) else 'texts'}."
            )
        return Schema.of(self.X)

    @property
    def kinds(self) -> dict[Hashable, str]:
        """``"numeric"`` or ``"nominal"`` by column; empty if the rows are not a table."""
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

    @cached_property
    def n_missing(self) -> int:
        """The number of missing cells."""
        return 0 if self.whole else int(self.X.isna().to_numpy().sum())

    def labels(self) -> tuple[Codes, npt.NDArray[Any]]:
        """Return the class codes of all rows, and the classes."""
        return self._labels

    @cached_property
    def _labels(self) -> tuple[Codes, npt.NDArray[Any]]:
        return encode_labels(self.y)

    def encoded(self) -> Encoded:
        """Return the rows as numbers and codes for the compiled kernels."""
        if self.task != "classification":
            raise ArgumentError(
                f"Only rows with class labels can be encoded; the target of {self.name!r} is a "
                "number."
            )
        return self._encoded

    @cached_property
    def _encoded(self) -> Encoded:
        codes, classes = self.labels()
        return Encoded(
            values=self.schema.encode(self.X),
            cardinality=self.schema.cardinality,
            y=codes,
            classes=classes,
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of columns, kinds, declared values, cells, target and weights, not the name.

        Groups and folds are not included, because they only affect the splits, which have their
        own fingerprint. Slices are not included, because they do not affect any fit.
        """
        digest = sha256(b"bestofk data set 1\n")
        if self.whole:
            digest.update(digest_rows(self.X))
        else:
            self._digest_columns(digest)
        if self.task == "classification":
            codes, classes = self.labels()
            digest.update(repr([str(label) for label in classes]).encode())
            digest.update(codes.astype("<i8").tobytes())
        else:
            digest.update(self.y.to_numpy(dtype="<f8").tobytes())
            if self.y.dtype == np.float32:
                digest.update(b"float32")
        if self.sample_weight is not None:
            digest.update(b"weights" + self.sample_weight.to_numpy(dtype="<f8").tobytes())
        return digest.hexdigest()

    def _digest_columns(self, digest: Any) -> None:
        if any(dtype == np.float32 for dtype in self.X.dtypes):  # learners compute differently
            digest.update(repr([str(dtype) for dtype in self.X.dtypes]).encode())
        if self.original is not None:
            digest.update(_digest_original(self.original, self.X))
        for name, declared in zip(self.schema.columns, self.schema.categories, strict=True):
            shown = None if declared is None else [str(value) for value in declared]
            digest.update(repr((str(name), shown)).encode())
        for start in range(0, self.n, ROWS_AT_ONCE):
            values = self.schema.encode(self.X.iloc[start : start + ROWS_AT_ONCE])
            values += 0.0  # turn -0.0 into 0.0
            values[np.isnan(values)] = np.nan
            digest.update(values.astype("<f8", copy=False).tobytes())

    @property
    def predicted(self) -> str:
        """A sentence on the target and the columns that predict it."""
        other = OTHER_TASK[self.task]
        kind = self._target_words()
        if self.task_guessed:
            kind += f"; {use(task=other)} predicts {_PREDICTS[other]}"
        rows = counted(self.n, "row")
        if self.groups is not None:
            rows += f" in {counted(self.groups.nunique(), 'group')}"
        target = f"{str(self.y.name)!r} ({kind})"
        if self.target_choice:
            target = f"{str(self.y.name)!r}, {self.target_choice} ({kind}),"
        return f"Predicting {target} from {self._columns()}, {rows}."

    def _target_words(self) -> str:
        if self.task == "regression":
            low, high = float(self.y.min()), float(self.y.max())
            return f"a number, {_short(low)} to {_short(high)}"
        codes, classes = self.labels()
        words = f"{len(classes)} classes"
        if len(classes) == 2 and self.n:
            shares = np.bincount(codes, minlength=2) / self.n
            rare = 1 if shares[1] <= 0.5 else 0
            share = f"{100 * shares[rare]:.0f} %" if not 0 < shares[rare] < 0.005 else "below 1 %"
            words += f", {share} {classes[rare]}"
        return words

    @ready_to_print
    def explain(self) -> str:
        """Describe the data set and how it was read."""
        return " ".join((self.predicted, *self.notes))

    def __len__(self) -> int:
        return self.n

    def __dir__(self) -> list[str]:
        return listed(self, "name X y task classes groups sample_weight notes explain")

    def __repr__(self) -> str:
        target = "a number"
        if self.task == "classification":
            target = f"{len(self.classes)} classes"
        return f"DataSet({self.name!r}, {counted(self.n, 'row')}, {self._columns()}, {target})"

    def _columns(self) -> str:
        if self.whole:
            return f"{self.d:,} sparse columns" if is_sparse(self.X) else "texts"
        return counted(self.d, "column")


_PREDICTS = {"classification": "classes", "regression": "a number"}


def _short(number: float) -> str:
    """Return a number with about three digits."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _digest_original(original: pd.DataFrame, settled: pd.DataFrame) -> bytes:
    """Digest what only learners that choose their own columns see.

    Return nothing for text that became categories, so that files and frames with the same cells
    have the same fingerprint.
    """
    import pandas as pd

    usual = ("object", "str", "string", "category", "bool", "float64", "int64")
    kinds = [(str(name), str(dtype)) for name, dtype in original.dtypes.items()]
    unseen = [name for name in original.columns if name not in settled.columns]
    if not unseen and all(kind in usual for _, kind in kinds):
        return b""
    cells = (
        pd.util.hash_pandas_object(original[unseen].astype(str), index=False) if unseen else None
    )
    return repr(kinds).encode() + (b"" if cells is None else cells.to_numpy().tobytes())


# Groups, sample weights, folds and slices of the rows

ROLES = ("groups", "sample_weight", "folds", "by")
FEATURE_ROLES = ("by",)
"""Roles of columns that stay features."""


def with_row_columns(
    data: DataSet,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    folds: Any = None,
    by: Any = None,
) -> DataSet:
    """Return the data set with groups, weights, folds or slices of its rows.

    Parameters
    ----------
    data : DataSet
        Not changed.
    groups : name of a column, or array of shape (n,), optional
        Rows of one group (a patient, a day) are never on both sides of a split.
    sample_weight : name of a column, or array of shape (n,), optional
        The weight of each row, in fits and in the loss.
    folds : name of a column, or array of shape (n,), optional
        The fold that tests each row, for the plan ``"predefined:COLUMN"``.
    by : name of a column, or array of shape (n,), optional
        The slice of each row.

    Returns
    -------
    DataSet
        A named column is excluded from the features, except that of slices.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import read_data
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "patient": ["p", "p", "q"]})
    >>> data = with_row_columns(read_data(X, [0, 1, 1]), groups="patient")
    >>> data.d, data.groups.tolist()
    (1, ['p', 'p', 'q'])
    """
    requests = {"groups": groups, "sample_weight": sample_weight, "folds": folds, "by": by}
    known = {role: getattr(data, role) for role in ROLES}
    # the same column may be named again
    requests = {
        role: value
        for role, value in requests.items()
        if value is not None
        and not (isinstance(value, str) and known[role] is not None and known[role].name == value)
    }
    if not requests:
        return data
    frame, original = data.X, data.original
    if not data.whole:
        # an identifier that was left out may name the groups
        left_out = None if original is None else original.drop(columns=frame.columns)
        if original is not None:
            original = _without(original, requests)
        frame, requests = split_off_columns(frame, requests, left_out, source=repr(data.name))
    row_columns: dict[str, Any] = {**check_row_columns(requests, data.n)}
    return replace(data, X=frame, original=original, **row_columns)


def split_off_columns(
    frame: pd.DataFrame,
    requests: Mapping[str, Any],
    left_out: pd.DataFrame | None = None,
    *,
    source: str = "",
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the frame without the named columns, and the values of each role."""
    role_values = {role: value for role, value in requests.items() if value is not None}
    for role, value in role_values.items():
        if isinstance(value, str):
            if value in frame.columns:
                role_values[role] = frame[value]
            elif left_out is not None and value in left_out.columns:
                role_values[role] = left_out[value]
            else:
                raise UnknownNameError(f"{role} column", value, frame.columns, source)
    return _without(frame, requests), role_values


def _without(frame: pd.DataFrame, requests: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame without the named columns that are no features."""
    named = [
        value
        for role, value in requests.items()
        if isinstance(value, str) and role not in FEATURE_ROLES
    ]
    return frame.drop(columns=named, errors="ignore") if named else frame


def check_row_columns(role_values: Mapping[str, Any], n: int) -> dict[str, pd.Series[Any]]:
    """Check that every role has one value for each of the `n` rows, and weights are numbers."""
    import pandas as pd

    row_columns = {}
    for role, value in role_values.items():
        values = np.asarray(as_pandas(value, role))
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.shape != (n,):
            raise ArgumentError(
                f"{role} must hold one value for each of the {n} rows, or name a column; got "
                f"{'shape ' + str(values.shape) if values.ndim else repr(value)}."
            )
        name = getattr(value, "name", None)
        gaps = np.asarray(pd.isna(pd.Series(values)))
        if gaps.any():
            raise ArgumentError(
                f"{role} must have no missing values; row {int(gaps.argmax()) + 1} is missing "
                f"({int(gaps.sum())} of {n})."
            )
        if role == "sample_weight":
            values = _weights(values)
        row_columns[role] = pd.Series(values, name=None if name is None else str(name))
    return row_columns


def _weights(values: Any) -> Any:
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("sample_weight", "numbers, one for each row", values) from None
    if not np.isfinite(weights).all() or weights.min() < 0:
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ArgumentError(
            f"sample_weight must hold numbers of 0 or more; got {weights[row]:g} in row {row + 1}."
        )
    if not weights.any():
        raise ArgumentError("sample_weight must be above 0 in some rows; all are 0.")
    return weights

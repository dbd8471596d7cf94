"""A data set: named columns of kind numeric or nominal, a label or number for every row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk.data.encoded import Codes, Encoded
from bestofk.data.schema import Schema, encode_labels
from bestofk.data.task import TASKS, take_target
from bestofk.data.whole_rows import is_sparse
from bestofk.errors import ArgumentError
from bestofk.presenting import without_effect

if TYPE_CHECKING:
    import pandas as pd

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
        ``"classification"`` or ``"regression"``; ``"auto"``, the default, becomes one of them by
        the values of `y`, see `bestofk.data.task.take_target`.
    account : tuple of str
        What was understood of the source, in sentences.
    groups : Series or None
        Rows of one group are never on both sides of a split.
    sample_weight : Series or None
        How much each row counts, in fits and in the loss.
    folds : Series or None
        Which fold tests the row, for the plan ``"predefined:COLUMN"``.
    taken : str
        What the target was taken for, where its values do not make that evident.
    given : DataFrame or None
        The columns as they came, also those that were left out, for learners that choose their
        columns themselves; None where they would be those of `X`.
    named : bool
        The columns have names that the user gave in a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import as_dataset
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
    task: str = "auto"
    account: tuple[str, ...] = ()
    groups: pd.Series[Any] | None = None
    sample_weight: pd.Series[Any] | None = None
    folds: pd.Series[Any] | None = None
    taken: str = ""
    given: pd.DataFrame | None = None
    named: bool = False
    _cache: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.task in TASKS:
            return
        found = take_target(self.y, self.task)
        object.__setattr__(self, "task", found.task)
        object.__setattr__(self, "taken", self.taken or found.said)

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
        """SHA-256 over columns, kinds, declared values, cells, target and weights, not the name.

        Groups and folds are left out: what they decide, the splits, has a fingerprint of its own.
        """
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

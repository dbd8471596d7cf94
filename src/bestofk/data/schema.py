"""What the columns of a table are: numeric, or nominal with their declared values in order."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.data.encoded import Codes
from bestofk.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd


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

"""Labels or numbers: what the target of a data set is, as told or by its values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestofk.checks import one_of

TASKS = ("classification", "regression")
ASKED = ("auto", *TASKS)
MOST_CLASSES = 20
"""Whole numbers of more different values are numbers."""
ROWS_PER_CLASS = 5
"""Whole numbers with fewer rows for each different value are numbers."""


class Taken(NamedTuple):
    """What the target was taken for, and the sentence on it; empty where that is evident."""

    task: str
    said: str


def take_target(y: Any, task: str, name: str = "y") -> Taken:
    """What a target is: as told, or by its values.

    Text, truth values and categories are classes, numbers with fractions are numbers. Whole
    numbers are classes where there are two of them, or few: at most 20, with five rows or more for
    each on average.

    Examples
    --------
    >>> take_target(["a", "b"], "auto"), take_target([0.5, 1.0], "auto").task
    (Taken(task='classification', said=''), 'regression')
    >>> print(take_target(range(100), "auto").said)
    y taken as numbers (100 different values): regression; task='classification' takes them as \
classes.
    """
    one_of(task, "task", ASKED)
    if task != "auto":
        return Taken(task, "")
    numbers = as_numbers(y)
    if numbers is None:
        return Taken("classification", "")
    known = numbers[np.isfinite(numbers)]
    if not is_whole(known):
        return Taken("regression", "")
    count = len(np.unique(known))
    if count <= 2:
        return Taken("classification", "")
    if count <= MOST_CLASSES and count * ROWS_PER_CLASS <= len(known):
        said = f"{name} taken as classes ({count} different values): classification; "
        return Taken("classification", f"{said}task='regression' takes them as numbers.")
    said = f"{name} taken as numbers ({count} different values): regression; "
    return Taken("regression", f"{said}task='classification' takes them as classes.")


def as_numbers(y: Any) -> Any:
    """The target as floats; None where it is text, truth values or categories."""
    import pandas as pd

    if isinstance(getattr(y, "dtype", None), pd.CategoricalDtype):
        return None
    values = np.asarray(y)
    if values.dtype.kind == "O":
        if any(isinstance(one, bool | np.bool_) or not _is_number(one) for one in values.ravel()):
            return None
        values = np.array([np.nan if one is None else one for one in values.ravel()], dtype=float)
    return values.astype(np.float64) if values.dtype.kind in "iuf" else None


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float | np.integer | np.floating)


def is_whole(numbers: Any) -> bool:
    """Whether no number has a fraction."""
    return bool((numbers == np.floor(numbers)).all())

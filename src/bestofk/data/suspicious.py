"""Columns that deserve a look: copies of the target, row numbers, repeated identifiers, dates."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.data.dataset import DataSet
from bestofk.data.row_columns import (
    MIN_ROWS_TO_JUDGE,
    counts_rows,
    list_names,
    named_like_identifier,
)

FIRST_ROWS = 50
"""Rows that are compared with the target first, because most columns differ from it there."""
_LIKE_NUMBER = re.compile(r"[+-]?[$€£¥]?\s?[+-]?\d+(?:[.,]\d+)*\s?[$€£¥]?")
_SIGN_OF_NUMBER = re.compile(r"[.,$€£¥]")
MIN_REPEATED_VALUES = 10
"""An identifier with fewer different values may be the code of a category."""

MIN_WORDS_OF_TEXTS = 3.0
"""Names of people and places have fewer words on average."""


def suspicious_columns(data: DataSet, *, by_time: bool = False) -> tuple[str, ...]:
    """Return a sentence about each kind of column that may make the comparison misleading.

    With `by_time`, the plan tests later rows, and dates need no sentence.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import as_dataset
    >>> frame = pd.DataFrame({"size": [1.5, 2.5, 3.5, 4.0] * 3, "left": [0, 1, 1, 0] * 3})
    >>> print(*suspicious_columns(as_dataset(frame, ["no", "yes", "yes", "no"] * 3)))
    'left' gives the target away: ...
    """
    if data.whole or data.n < MIN_ROWS_TO_JUDGE:
        return ()
    target = _numbers(data.y)
    leaks, rows, repeated, texts, constant = [], [], [], [], 0
    for position, column in enumerate(data.X.columns):
        cells = data.X.iloc[:, position]
        numbers = _numbers(cells)
        known = numbers[~np.isnan(numbers)]
        if not len(known) or known.min() == known.max():
            constant += 1
        elif len(known) == data.n and _gives_away(numbers, target, data.task):
            leaks.append(column)
        elif counts_rows(cells):
            rows.append(column)
        elif named_like_identifier(column):
            values = cells.nunique()
            if MIN_REPEATED_VALUES <= values < data.n and data.groups is None:
                repeated.append((column, values))
        elif _holds_texts(cells):
            texts.append(column)
    notes = []
    if leaks:
        notes.append(
            f"{list_names(leaks)} {_verb(leaks, 'gives', 'give')} the target away: every value "
            "belongs to one value of the target. Ignore it if it is not known when you predict."
        )
    if rows:
        notes.append(
            f"{list_names(rows)} {_verb(rows, 'counts', 'count')} the rows. Ignore it unless the "
            "order of the rows is known when you predict."
        )
    for column, values in repeated:
        notes.append(
            f"{str(column)!r} is named like an identifier and has {values:,} values in {data.n:,} "
            "rows: if its rows belong together, use it as groups."
        )
    if texts:
        notes.append(
            f"{list_names(texts)} {_verb(texts, 'holds', 'hold')} texts: a learner without a text "
            "vectorizer takes each text for a category, and learns little from it."
        )
    notes += [*_labels_like_numbers(data), *_almost_equal_classes(data)]
    if not by_time:
        notes += _dependent_on_date(data)
    if constant == data.d:
        notes.append("Every column has the same value in all rows: there is nothing to learn from.")
    return tuple(notes)


def _holds_texts(cells: Any) -> bool:
    """Return whether most rows have texts of several words that no other row has."""
    if not hasattr(cells, "cat") or 2 * len(cells.cat.categories) <= len(cells):
        return False
    words = [len(str(text).split()) for text in cells.cat.categories]
    return float(np.mean(words)) >= MIN_WORDS_OF_TEXTS


def _verb(names: list[Any], one: str, many: str) -> str:
    return one if len(names) == 1 else many


def _numbers(cells: Any) -> npt.NDArray[np.float64]:
    """Return numbers, or the codes of categories with NaN for missing cells."""
    if hasattr(cells, "cat"):
        codes: npt.NDArray[np.float64] = cells.cat.codes.to_numpy(dtype=np.float64)
        codes[codes < 0] = np.nan
        return codes
    return np.asarray(cells, dtype=np.float64)


def _gives_away(cells: npt.NDArray[np.float64], target: npt.NDArray[np.float64], task: str) -> bool:
    """Return whether a column is the target under other names or in another unit."""
    if task == "regression":
        return _is_line(cells[:FIRST_ROWS], target[:FIRST_ROWS]) and _is_line(cells, target)
    return _one_to_one(cells[:FIRST_ROWS], target[:FIRST_ROWS]) and _one_to_one(cells, target)


def _one_to_one(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    values = len(np.unique(second))
    if len(np.unique(first)) != values:
        return False
    return len(np.unique(np.stack([first, second]), axis=1).T) == values


def _is_line(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    """Return whether one column is a multiple of the other plus a constant."""
    x, y = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return scale > 0 and abs(float(x @ y)) >= scale * (1 - 1e-12)


def _labels_like_numbers(data: DataSet) -> list[str]:
    """Name columns of amounts such as $5.31 or 54,000, which were read as labels."""
    notes = []
    columns = [(name, data.X.iloc[:, k]) for k, name in enumerate(data.X.columns)]
    for name, cells in (*columns, ("the target", data.y)):
        if not hasattr(cells, "cat"):
            continue
        labels = [str(label) for label in cells.cat.categories]
        if len(labels) >= MIN_REPEATED_VALUES and all(
            _LIKE_NUMBER.fullmatch(label) and _SIGN_OF_NUMBER.search(label) for label in labels
        ):
            column = name if cells is data.y else repr(str(name))
            notes.append(
                f"{column[:1].upper()}{column[1:]} holds labels such as {labels[0]!r}: if they are "
                "numbers, write them without signs and separators."
            )
    return notes


def _almost_equal_classes(data: DataSet) -> list[str]:
    """Name classes that differ in case or spaces only."""
    if not hasattr(data.y, "cat"):
        return []
    by_text: dict[str, list[str]] = {}
    for label in map(str, data.y.cat.categories):
        by_text.setdefault(" ".join(label.split()).casefold(), []).append(label)
    return [
        f"The classes {list_names(labels)} differ in case or spaces only: if they are one class, "
        "write them alike."
        for labels in by_text.values()
        if len(labels) > 1
    ]


def _dependent_on_date(data: DataSet) -> list[str]:
    """Name columns of dates if rows with close dates have similar targets."""
    if data.groups is not None or data.original is None:
        return []
    target = _numbers(data.y)
    if data.task == "regression":
        target = np.argsort(np.argsort(target, kind="stable"), kind="stable").astype(np.float64)
    centred = target - target.mean()
    notes = []
    for name in data.X.columns:
        dates = data.original[name] if name in data.original.columns else None
        if getattr(getattr(dates, "dtype", None), "kind", "") != "M":
            continue
        by_date = centred[np.argsort(np.asarray(dates), kind="stable")]
        if by_date[1:] @ by_date[:-1] > 3.0 / np.sqrt(data.n) * (centred @ centred):
            notes.append(
                f"Rows with close values of {str(name)!r} have similar targets, and random splits "
                "test rows between the training rows: if you predict later rows, sort the rows by "
                "it and use a plan such as time:10."
            )
    return notes

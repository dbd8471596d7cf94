"""Recognise tables of predictions, in which a column of true values must not compete."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestofk._base.errors import TableError, use
from bestofk.data.tables.table import Table

CERTAIN_NAMES = frozenset({
    "y_true", "ytrue", "y_test", "truth", "true_label", "true_value", "ground_truth", "groundtruth",
    "gold_label", "label", "labels", "target", "actual",
})  # fmt: skip
"""Names of columns that hold true values and never a learner, in lower case with underscores."""
POSSIBLE_NAMES = frozenset({"y", "true", "gold", "expected", "reference", "class", "outcome"})
"""Names of columns that hold true values if the other columns hold predictions."""
_PREDICTED = ("pred", "proba", "prob", "yhat", "y_hat", "y_pred", "score_", "forecast")
"""Beginnings of the names of columns that hold predictions."""

_IDENTIFIERS = frozenset(
    {"", "id", "item", "index", "row", "instance", "example", "sample", "uuid"}
)


def truth_column(columns: Mapping[str, Any]) -> str | None:
    """Return the column of true values if a table holds predictions; None if it does not.

    A column such as ``y_true`` or ``label`` holds the truth. One such as ``y`` or ``class`` holds
    it if the other columns hold predictions: the same labels, or names such as ``pred_a``.

    - `columns`: The columns of the table.

    Examples
    --------
    >>> truth_column({"y_true": ["a", "b", "a"], "m1": ["a", "a", "a"], "m2": ["b", "b", "a"]})
    'y_true'
    >>> truth_column({"label": [0, 1, 1], "pred_a": [0.2, 0.9, 0.4], "pred_b": [0.1, 0.7, 0.8]})
    'label'
    >>> truth_column({"reference": [0.31, 0.29], "forest": [0.21, 0.20]}) is None
    True
    """
    for name, values in columns.items():
        others = {other: cells for other, cells in columns.items() if other != name}
        if _plain(name) in CERTAIN_NAMES and others:
            return name
        if _plain(name) not in POSSIBLE_NAMES:
            continue
        truth = _values(values)
        named = [cells for other, cells in others.items() if _plain(other).startswith(_PREDICTED)]
        if named or sum(_are_labels_of(truth, _values(cells)) for cells in others.values()) >= 2:
            return name
    return None


def model_columns(columns: Mapping[str, Any]) -> list[str]:
    """Return the columns of a table, without that of the truth, that hold predictions.

    If some have names such as ``pred_a`` or ``proba_b``, only these. Numbers of rows such as
    ``id`` hold no predictions.

    Examples
    --------
    >>> model_columns({"id": [1, 2], "a": [0, 1], "b": [1, 1]})
    ['a', 'b']
    >>> model_columns({"pred_a": [0, 1], "pred_b": [1, 1], "age": [31, 44]})
    ['pred_a', 'pred_b']
    """
    named = [name for name in columns if _plain(name).startswith(_PREDICTED)]
    if len(named) > 1:
        return named
    return [name for name, cells in columns.items() if not _is_identifier(name, cells)]


def _is_identifier(name: str, cells: Any) -> bool:
    """Return whether a column is named like an identifier and differs in every row."""
    plain = _plain(name)
    if not (plain in _IDENTIFIERS or plain.endswith("_id") or plain.startswith("unnamed")):
        return False
    return len(_values(cells)) == len(np.asarray(cells, dtype=object))


def refuse_predictions(table: Table, columns: Sequence[str]) -> None:
    """Raise an error if these columns of a table hold predictions and true values, not losses."""
    if not any(_plain(name) in CERTAIN_NAMES | POSSIBLE_NAMES for name in columns):
        return
    truth = truth_column({name: table.text(name) for name in columns})
    if truth is None:
        return
    file = shlex.quote(table.source) if table.from_file else "predictions.csv"
    frame = repr(table.source) if table.from_file else "frame"
    raise TableError(
        f"{table.source}: the column {truth!r} looks like true values and the others like "
        f"predictions: 'bestofk order {file} --truth {shlex.quote(truth)}' or "
        f"bk.order_predictions({truth!r}, {frame}) compares them; name the columns of the "
        "learners with ",
        use(learners=[name for name in columns if name != truth][:2]),
        " if they hold losses.",
    )


def _plain(name: object) -> str:
    return str(name).strip().lower().replace(" ", "_").replace("-", "_")


def _values(cells: Any) -> set[str]:
    """Return the distinct cells as text; whole numbers without a fraction."""
    return {_text(value) for value in np.asarray(cells, dtype=object).tolist()}


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _are_labels_of(truth: set[str], predicted: set[str]) -> bool:
    """Return whether a column holds some of the true labels and nothing else."""
    return len(truth) > 1 and predicted <= truth

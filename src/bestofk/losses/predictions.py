"""Recognise tables of predictions, in which a column of true values must not compete."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestofk._base.errors import TableError, use
from bestofk.data.tables.table import Table
from bestofk.losses.columns import PREDICTED, PREDICTION_ROLES, find, normal, role_of


def truth_column(columns: Mapping[str, Any]) -> str | None:
    """Return the column of true values if a table holds predictions; None if it does not.

    A column such as ``y_true`` holds the truth. One such as ``label`` or ``y`` holds it if its
    values repeat, or if another column has a name such as ``pred_a``.

    - `columns`: The columns of the table.

    Examples
    --------
    >>> truth_column({"y_true": ["a", "b", "a"], "m1": ["a", "a", "a"], "m2": ["b", "b", "a"]})
    'y_true'
    >>> truth_column({"label": [0, 1, 1], "m1": [0.2, 0.9, 0.4], "m2": [0.1, 0.7, 0.8]})
    'label'
    >>> truth_column({"class": ["setosa", "other"], "forest": [0.21, 0.20]}) is None
    True
    """
    roles = find(list(columns), PREDICTION_ROLES)
    if "truth" in roles or "label" not in roles:
        return roles.get("truth")
    name = roles["label"]
    return name if not _are_distinct(columns[name]) or any(map(_is_predicted, columns)) else None


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
    named = [name for name in columns if _is_predicted(name)]
    if len(named) > 1:
        return named
    return [name for name, cells in columns.items() if not _is_identifier(name, cells)]


def _is_predicted(name: str) -> bool:
    return normal(name).startswith(PREDICTED)


def _is_identifier(name: str, cells: Any) -> bool:
    """Return whether a column is named like an identifier and differs in every row."""
    plain = normal(name)
    named = plain in ("", "index", "uuid", "unnamed_0") or plain.endswith("_id")
    return (named or role_of(name) == "instance") and _are_distinct(cells)


def _are_distinct(cells: Any) -> bool:
    values = np.asarray(cells, dtype=object).tolist()
    return len(set(map(str, values))) == len(values)


def refuse_predictions(table: Table, columns: Sequence[str], fold: str | None) -> None:
    """Raise an error if these columns of a table hold predictions and true values, not losses.

    - `fold`: The column of folds, if there is one: then each row was predicted by the models of
      its fold, as by scikit-learn's ``cross_val_predict``.
    """
    if not find(columns, PREDICTION_ROLES):
        return
    truth = truth_column({name: table.text(name) for name in columns})
    if truth is None:
        return
    file = shlex.quote(table.source) if table.from_file else "predictions.csv"
    frame = repr(table.source) if table.from_file else "frame"
    raise TableError(
        f"{table.source}: the column {truth!r} looks like true values and the others like "
        f"predictions: 'bestofk scores {file} --truth {shlex.quote(truth)}' or "
        f"bk.compare_predictions({truth!r}, {frame}) compares them, with ",
        use(folds=fold or "COLUMN"),
        " if they come from cross_val_predict.",
    )

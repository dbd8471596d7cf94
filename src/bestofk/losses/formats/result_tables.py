"""The interface of the formats, and formats of plain tables: amlb, autorank, scmamp and Weka."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import TableError, UnknownNameError, use
from bestofk._base.formatting import shortened
from bestofk.data.tables.table import Table
from bestofk.losses.columns import LOSS_ROLES, find, normal, role_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The user's options for reading a table; None if not stated."""

    learner: str | None = None
    dataset: str | None = None
    run: str | None = None
    fold: str | None = None
    repetition: str | None = None
    instance: str | None = None
    loss: str | None = None
    metric: str | None = None
    layout: str | None = None
    higher_is_better: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolColumns:
    """A table in one of the three layouts, and the columns to read.

    - `table`: With the columns below.
    - `roles`: The column of each role (learner, dataset, run, fold, repetition, instance, loss).
    - `metric`: The metric to read if a column names several.
    - `layout`: ``"long"``, ``"wide"`` or ``"cv-results"``; None to detect it from the columns.
    - `loss_name`: The name of the numbers, if it is not that of their column.
    - `higher_is_better`: The direction of the numbers according to the tool.
    - `direction_source`: What states the direction, such as "the study".
    """

    table: Table
    roles: dict[str, str] = field(default_factory=dict)
    metric: str | None = None
    layout: str | None = None
    loss_name: str | None = None
    higher_is_better: bool | None = None
    direction_source: str = ""


def existing_path(source: Any) -> Path | None:
    """Return the source as a path if it is an existing file or folder."""
    if not isinstance(source, str | os.PathLike):
        return None
    try:
        return Path(source) if Path(source).exists() else None
    except (OSError, ValueError):  # not a valid path
        return None


def with_column(table: Table, name: str, values: Sequence[Any]) -> tuple[Table, str]:
    """Add a column under a name that is not in use; return the table and the name."""
    while name in table:
        name += "_"
    added = Table.from_columns({name: list(values)}, source=table.source)
    return replace(table, cells={**table.cells, **added.cells}), name


def only_columns(table: Table, names: Iterable[str]) -> Table:
    """Select some of the columns."""
    return replace(table, cells={name: table.cells[name] for name in dict.fromkeys(names)})


def noted(table: Table, *sentences: str) -> Table:
    """Add sentences to the account of a table."""
    return replace(table, account=(*table.account, *sentences))


def texts(table: Table, column: str) -> list[str | None]:
    """Return the cells of a column as text; None for missing cells."""
    cells: list[str | None] = table.text(column).tolist()
    return cells


def named_column(table: Table, name: str, prefixes: Sequence[str]) -> str:
    """Return the column that a user names, with or without the prefixes of the tool."""
    for prefix in ("", *prefixes):
        if prefix + name in table:
            return prefix + name
    raise UnknownNameError("column", name, table.columns, table.source)


def role_columns(table: Table, prefixes: Sequence[str]) -> dict[str, str]:
    """Return the column of each role by its name without a prefix; the first prefix first."""
    roles: dict[str, str] = {}
    for prefix in prefixes:
        named = {
            column.removeprefix(prefix): column
            for column in table.columns
            if column.startswith(prefix) and not table.missing(column).all()
        }
        by_name = find(list(named), LOSS_ROLES)
        roles = {role: named[name] for role, name in by_name.items()} | roles
    return roles


def chosen_metric(
    table: Table, known: Sequence[str], options: ReadOptions, prefix: str, what: str
) -> str:
    """Return the column of the metric: the stated one, or the only one."""
    if options.loss is not None:
        return named_column(table, options.loss, (prefix,))
    if options.metric is not None:
        if options.metric in known:
            return options.metric
        if prefix + options.metric in known:
            return prefix + options.metric
        raise UnknownNameError(
            "metric", options.metric, [name.removeprefix(prefix) for name in known], table.source
        )
    if len(known) == 1:
        return known[0]
    if not known:
        raise TableError(f"{table.source}: {what} have no metric.")
    names = [name.removeprefix(prefix) for name in known]
    raise TableError(
        f"{table.source}: {what} have {len(names)} metrics ({shortened(names, 12)}): choose one "
        "with ",
        use(metric=names[0]),
        ".",
    )


# The AutoML benchmark (amlb): task, framework, fold, metric and result


_COLUMNS = {"task", "framework", "fold", "result", "metric"}


def is_automl_benchmark(table: Table) -> bool:
    """Return whether the table has the columns of the AutoML benchmark."""
    return set(table.columns) >= _COLUMNS and "constraint" in table


def automl_benchmark_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Read the column `result`; other columns are recognised by their names."""
    note = "Results of the AutoML benchmark: frameworks are learners, tasks are data sets."
    if options.loss is not None:
        return ToolColumns(table=noted(table, note), metric=options.metric)
    return ToolColumns(table=noted(table, note), roles={"loss": "result"}, metric=options.metric)


# autorank and scmamp: wide tables with one column per learner and one row per data set


_UNNAMED = {"column_1", "unnamed_0", ""}
"""Names of the first column if row names have no title, as R and pandas write them."""


def rows_are_datasets(table: Table, options: ReadOptions) -> ToolColumns:
    """Read every row as a data set, named by the first column or numbered."""
    first = table.columns[0]
    named = options.dataset
    if named is None:
        matches = [column for column in table.columns if role_of(column) == "dataset"]
        if matches:
            named = matches[0]
        elif normal(first) in _UNNAMED or not table.is_numeric(first):
            named = first
    if named is None:
        table, named = with_column(
            table, "dataset", [str(row) for row in range(1, table.n_rows + 1)]
        )
    note = "One column per learner, one row per data set, as the format says."
    return ToolColumns(table=noted(table, note), roles={"dataset": named}, layout="wide")


# Weka's Experimenter


_KEYS = ("key_dataset", "key_run", "key_scheme")
_LOSSES = ("percent_correct", "root_mean_squared_error")
"""The default losses for classification and regression."""

_HIGHER = re.compile(r"_correct|kappa|ir_|f_measure|area_under|true_|num_true", re.IGNORECASE)
_LOWER = re.compile(r"_incorrect|_unclassified|error|false_|num_false|_time_", re.IGNORECASE)
"""Patterns of Weka's measures by direction."""


def is_weka(table: Table) -> bool:
    """Return whether the table has the keys of an experiment."""
    names = {name.lower() for name in table.columns}
    return all(key in names for key in _KEYS)


def weka_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Return the columns of an experiment.

    An experiment has the columns Key_Dataset, Key_Run, Key_Scheme, Key_Scheme_options and, with
    cross-validation, Key_Fold. A scheme with several sets of options counts as several learners.
    """
    by_name = {name.lower(): name for name in table.columns}
    loss, metric = options.loss, options.metric
    if loss is None and metric is not None and metric.lower() in by_name:
        loss, metric = by_name[metric.lower()], None
    if loss is None and metric is None:
        loss = next((by_name[name] for name in _LOSSES if name in by_name), None)
    roles = {} if loss is None else {"loss": loss}
    higher = None
    if loss is not None and (_LOWER.search(loss) or _HIGHER.search(loss)):
        higher = _LOWER.search(loss) is None
    common: dict[str, Any] = {
        "metric": metric, "higher_is_better": higher, "direction_source": f"{loss!r} of Weka",
    }  # fmt: skip
    if options.learner is not None:
        return ToolColumns(table=table, roles=roles, **common)
    table, roles["learner"] = with_column(table, "learner", _learners(table, by_name))
    note = "An experiment of Weka: learners are schemes"
    note += " with their options." if "key_scheme_options" in by_name else "."
    return ToolColumns(table=noted(table, note), roles=roles, **common)


def _learners(table: Table, by_name: dict[str, str]) -> list[str]:
    """Name the learner of each row by the shortest distinct scheme name and its options."""
    schemes = [str(cell).strip(" '\"") for cell in table.text(by_name["key_scheme"])]
    options = [""] * len(schemes)
    if "key_scheme_options" in by_name:
        options = [
            " ".join(str(cell or "").strip(" '\"").split())
            for cell in table.text(by_name["key_scheme_options"])
        ]
    whole: dict[str, list[str]] = {}
    for scheme in dict.fromkeys(schemes):
        whole.setdefault(scheme.rpartition(".")[2], []).append(scheme)
    called = {
        scheme: short if len(full) == 1 else scheme
        for short, full in whole.items()
        for scheme in full
    }
    pairs = dict.fromkeys(zip(schemes, options, strict=True))
    several = {
        scheme for scheme in called if sum(cell == scheme for cell, _ in pairs) > 1
    }  # fmt: skip
    names = {
        (scheme, option): f"{called[scheme]} {option}".strip()
        if scheme in several
        else called[scheme]
        for scheme, option in pairs
    }
    return [names[pair] for pair in zip(schemes, options, strict=True)]

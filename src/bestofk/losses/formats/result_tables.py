"""What the reader of a tool's table is asked, and what it answers: which columns to read by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import TableError, UnknownNameError
from bestofk._base.formatting import shortened
from bestofk.data.tables.table import Table
from bestofk.losses.columns import normal, role_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the user said of a table; None where nothing."""

    algorithm: str | None = None
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
    """A table in one of the three layouts, and the columns to read it by.

    Parameters
    ----------
    table : Table
        With the columns below.
    roles : dict of str to str
        By role (algorithm, dataset, run, fold, repetition, instance, loss): the column.
    metric : str or None
        Which, where a column names several.
    layout : str or None
        ``"long"``, ``"wide"`` or ``"cv-results"``; None leaves it to the columns.
    loss_name : str or None
        What the numbers are called, where their column does not say.
    higher_is_better : bool or None
        Which way the numbers point, as the tool says.
    said_by : str
        What says it, such as "the study".
    """

    table: Table
    roles: dict[str, str] = field(default_factory=dict)
    metric: str | None = None
    layout: str | None = None
    loss_name: str | None = None
    higher_is_better: bool | None = None
    direction_source: str = ""


def with_column(table: Table, name: str, values: Sequence[Any]) -> tuple[Table, str]:
    """The table with one more column, and the name that it got: one that was free."""
    while name in table:
        name += "_"
    column = Table.from_columns({name: list(values)}, source=table.source)
    return replace(table, cells={**table.cells, name: column.cells[name]}), name


def only_columns(table: Table, names: Iterable[str]) -> Table:
    """The table with some of its columns alone: no other has a role."""
    return replace(table, cells={name: table.cells[name] for name in dict.fromkeys(names)})


def noted(table: Table, *sentences: str) -> Table:
    """The table with sentences added to its account."""
    return replace(table, account=(*table.account, *sentences))


def texts(table: Table, column: str) -> list[str | None]:
    """The cells of a column as text; None where one is missing."""
    cells: list[str | None] = table.text(column).tolist()
    return cells


def named_column(table: Table, name: str, prefixes: Sequence[str]) -> str:
    """The column that a user means by `name`, which may leave out what the tool writes before."""
    for prefix in ("", *prefixes):
        if prefix + name in table:
            return prefix + name
    raise UnknownNameError("column", name, table.columns, table.source)


def role_columns(table: Table, prefixes: Sequence[str]) -> dict[str, str]:
    """By role: the column whose name, without its prefix, is the surest name of that role."""
    surest: dict[str, tuple[int, int, str]] = {}
    for at, prefix in enumerate(prefixes):
        for column in table.columns:
            if not column.startswith(prefix) or table.missing(column).all():
                continue
            match = role_of(column.removeprefix(prefix))
            if match is not None:
                role, rank = match
                surest[role] = min(surest.get(role, (99, 99, "")), (at, rank, column))
    return {role: column for role, (_, _, column) in surest.items()}


def chosen_metric(
    table: Table, known: Sequence[str], options: ReadOptions, prefix: str, what: str
) -> str:
    """The column of the metric: the one that was asked for, or the only one."""
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
        raise TableError(f"{table.source}: {what} hold no metric.")
    names = [name.removeprefix(prefix) for name in known]
    raise TableError(
        f"{table.source}: {what} have {len(names)} metrics ({shortened(names, 12)}): choose one "
        f"with metric={names[0]!r}."
    )


# Results of the AutoML benchmark (amlb): task, framework, fold, metric and result.


_COLUMNS = {"task", "framework", "fold", "result", "metric"}


def is_automl_benchmark(table: Table) -> bool:
    """The columns that its results always have."""
    return set(table.columns) >= _COLUMNS and "constraint" in table


def automl_benchmark_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """The columns are known by their names; `result` is what is compared."""
    note = "Results of the AutoML benchmark: frameworks are learners, tasks are data sets."
    if options.loss is not None:
        return ToolColumns(table=noted(table, note), metric=options.metric)
    return ToolColumns(table=noted(table, note), roles={"loss": "result"}, metric=options.metric)


# Wide tables as autorank and scmamp take them: one column per learner, one row per data set.


_NUMBERS = {"column_1", "unnamed_0", ""}
"""The first column where row names have no title, as R and pandas write them."""


def rows_are_datasets(table: Table, options: ReadOptions) -> ToolColumns:
    """Every row is a data set: by its name where the first column names it, else by its number."""
    first = table.columns[0]
    named = options.dataset
    if named is None:
        matches = [column for column in table.columns if (role_of(column) or ("",))[0] == "dataset"]
        if matches:
            named = matches[0]
        elif normal(first) in _NUMBERS or not table.is_numeric(first):
            named = first
    if named is None:
        table, named = with_column(
            table, "dataset", [str(row) for row in range(1, table.n_rows + 1)]
        )
    note = "One column per learner, one row per data set, as the format says."
    return ToolColumns(table=noted(table, note), roles={"dataset": named}, layout="wide")


# Results of Weka's Experimenter: which columns are what, and schemes named by their options.


_KEYS = ("key_dataset", "key_run", "key_scheme")
_LOSSES = ("percent_correct", "root_mean_squared_error")
"""What is compared where nothing is asked for: of classes, and of numbers."""

_HIGHER = re.compile(r"_correct|kappa|ir_|f_measure|area_under|true_|num_true", re.IGNORECASE)
_LOWER = re.compile(r"_incorrect|_unclassified|error|false_|num_false|_time_", re.IGNORECASE)
"""Which way Weka's own measures point."""


def is_weka(table: Table) -> bool:
    """The keys that every experiment has."""
    names = {name.lower() for name in table.columns}
    return all(key in names for key in _KEYS)


def weka_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Which columns to read an experiment by.

    An experiment has the columns Key_Dataset, Key_Run, Key_Scheme, Key_Scheme_options and, with
    cross-validation, Key_Fold. A scheme that was run with several options is several learners.
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
    if options.algorithm is not None:
        return ToolColumns(table=table, roles=roles, **common)
    table, roles["algorithm"] = with_column(table, "learner", _learners(table, by_name))
    note = "An experiment of Weka: learners are schemes"
    note += " with their options." if "key_scheme_options" in by_name else "."
    return ToolColumns(table=noted(table, note), roles=roles, **common)


def _learners(table: Table, by_name: dict[str, str]) -> list[str]:
    """For each row the scheme, with as much of its name and options as tells it from others."""
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

"""What the reader of a tool's table is asked, and what it answers: which columns to read by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.errors import TableError, UnknownNameError
from bestofk.losses.roles import role_of
from bestofk.tables.table import Table
from bestofk.wording import shortened

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfTable:
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
    said_by: str = ""


def with_column(table: Table, name: str, values: Sequence[Any]) -> tuple[Table, str]:
    """The table with one more column, and the name that it got: one that was free."""
    while name in table:
        name += "_"
    made = Table.from_columns({name: list(values)}, source=table.source)
    return replace(table, cells={**table.cells, name: made.cells[name]}), name


def only_columns(table: Table, names: Iterable[str]) -> Table:
    """The table with some of its columns alone: no other has a role."""
    return replace(table, cells={name: table.cells[name] for name in dict.fromkeys(names)})


def noted(table: Table, *sentences: str) -> Table:
    """The table with sentences added to its account."""
    return replace(table, account=(*table.account, *sentences))


def texts(table: Table, column: str) -> list[str | None]:
    """The cells of a column as text; None where one is missing."""
    found: list[str | None] = table.text(column).tolist()
    return found


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
            found = role_of(column.removeprefix(prefix))
            if found is not None:
                role, rank = found
                surest[role] = min(surest.get(role, (99, 99, "")), (at, rank, column))
    return {role: column for role, (_, _, column) in surest.items()}


def chosen_metric(
    table: Table, known: Sequence[str], asked: AskedOfTable, prefix: str, what: str
) -> str:
    """The column of the metric: the one that was asked for, or the only one."""
    if asked.loss is not None:
        return named_column(table, asked.loss, (prefix,))
    if asked.metric is not None:
        if asked.metric in known:
            return asked.metric
        if prefix + asked.metric in known:
            return prefix + asked.metric
        raise UnknownNameError(
            "metric", asked.metric, [name.removeprefix(prefix) for name in known], table.source
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

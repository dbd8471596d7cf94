"""Evaluations of OpenML, as ``openml.evaluations.list_evaluations`` gives them."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import numpy as np

from bestofk.errors import TableError
from bestofk.losses.formats.tool_columns import AskedOfTable, ToolColumns, noted, texts
from bestofk.losses.metric_column import one_metric
from bestofk.tables.table import Table
from bestofk.wording import counted

LOWER = re.compile(r"error|cost|time|ram_hours|entropy$")
_KEYS = {"run_id", "task_id", "flow_name", "function"}


def is_openml(table: Table) -> bool:
    """The columns that every listing has."""
    return set(table.columns) >= _KEYS and ("value" in table or "values" in table)


def higher_is_better(function: str) -> bool:
    """Which way a measure of OpenML points.

    Examples
    --------
    >>> higher_is_better("predictive_accuracy"), higher_is_better("root_mean_squared_error")
    (True, False)
    """
    return LOWER.search(function) is None


def openml_columns(table: Table, asked: AskedOfTable) -> ToolColumns:
    """Flows are learners, with their setups where they differ; tasks are data sets."""
    keep, function = one_metric(table, "function", asked.metric)
    if keep is not None:
        table = table.take(keep)
    notes = ["Evaluations of OpenML: flows are learners, tasks are data sets."]
    table = _latest_runs(table, notes)
    learners, tasks = _learners(table), _tasks(table)
    folds = _folds(table)
    columns: dict[str, list[object]] = {"learner": [], "task": [], "fold": [], function: []}
    if "repeat" in table and "fold" in table:
        told = {"repeat": "repeat", "fold": "fold", function: "value"}
        columns = {"learner": list(learners), "task": list(tasks)}
        columns |= {name: list(texts(table, column)) for name, column in told.items()}
    else:
        for row, values in enumerate(folds):
            columns["learner"] += [learners[row]] * len(values)
            columns["task"] += [tasks[row]] * len(values)
            columns["fold"] += range(1, len(values) + 1)
            columns[function] += values
        if max(map(len, folds)) == 1:
            del columns["fold"]
    made = Table.from_columns(columns, source=table.source)
    roles = {"algorithm": "learner", "dataset": "task", "loss": function}
    roles |= {role: column for role, column in (("run", "repeat"), ("fold", "fold"))
              if column in columns}  # fmt: skip
    if asked.algorithm is not None:
        raise TableError(
            f"{table.source}: algorithm cannot be chosen for evaluations of OpenML; got "
            f"{asked.algorithm!r}."
        )
    return ToolColumns(
        table=noted(made, *notes), roles=roles, layout="long", loss_name=function,
        higher_is_better=higher_is_better(function), said_by="the measure of OpenML",
    )  # fmt: skip


def _setups(table: Table) -> list[str | None]:
    return texts(table, "setup_id") if "setup_id" in table else [None] * table.n_rows


def _learners(table: Table) -> list[str]:
    """The flow, with the setup where one flow has several on a task."""
    flows, setups = texts(table, "flow_name"), _setups(table)
    if None in flows:
        row = flows.index(None)
        raise TableError(f"{table.place(row, 'flow_name')} must name the flow; the cell is empty.")
    by_flow: dict[str | None, set[str | None]] = defaultdict(set)
    for flow, setup in zip(flows, setups, strict=True):
        by_flow[flow].add(setup)
    return [
        f"{flow} (setup {setup})" if len(by_flow[flow]) > 1 else str(flow)
        for flow, setup in zip(flows, setups, strict=True)
    ]


def _tasks(table: Table) -> list[str]:
    """The data set, with the task where a data set has several."""
    tasks = texts(table, "task_id")
    names = texts(table, "data_name") if "data_name" in table else [None] * table.n_rows
    by_name: dict[str | None, set[str | None]] = defaultdict(set)
    for task, name in zip(tasks, names, strict=True):
        by_name[name].add(task)
    return [
        name if name is not None and len(by_name[name]) == 1
        else f"task {task}" if name is None
        else f"{name} (task {task})"
        for task, name in zip(tasks, names, strict=True)
    ]  # fmt: skip


def _latest_runs(table: Table, notes: list[str]) -> Table:
    """Of several runs of one flow, setup and task the one with the largest number."""
    runs = texts(table, "run_id")
    best: dict[tuple[str | None, ...], int] = {}
    flows, tasks, setups = texts(table, "flow_name"), texts(table, "task_id"), _setups(table)
    keys = list(zip(flows, setups, tasks, strict=True))
    for run, key in zip(runs, keys, strict=True):
        best[key] = max(best.get(key, -1), _number(run))
    keep = np.array(
        [_number(run) == best[key] for run, key in zip(runs, keys, strict=True)], dtype=np.bool_
    )
    gone = len({run for run, kept in zip(runs, keep, strict=True) if not kept})
    if gone:
        notes.append(
            f"{counted(gone, 'run')} left out: a later one has the same flow, setup and task."
        )
    return table.take(keep)


def _number(text: str | None) -> int:
    found = re.fullmatch(r"(\d{1,18})(?:\.0)?", text or "")
    return int(found[1]) if found else 0


def _folds(table: Table) -> list[list[object]]:
    """The values of each run by fold, where they were listed (per_fold=True); else its mean."""
    if "values" not in table or table.missing("values").all():
        if "value" not in table:
            raise TableError(f"{table.source}: there is neither a column 'value' nor 'values'.")
        return [[cell] for cell in texts(table, "value")]
    found: list[list[object]] = []
    for row, cell in enumerate(texts(table, "values")):
        try:
            values = json.loads(cell or "")
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, list) or not all(
            isinstance(one, int | float) and not isinstance(one, bool) for one in values
        ):
            raise TableError(
                f"{table.place(row, 'values')} must be an array with a number per fold; got "
                f"{str(cell)[:60]!r}."
            )
        found.append([_float(one) for one in values])
    return found


def _float(value: object) -> float | None:
    try:
        return float(str(value))
    except OverflowError:
        return None

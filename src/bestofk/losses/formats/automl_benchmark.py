"""Results of the AutoML benchmark (amlb): task, framework, fold, metric and result."""

from __future__ import annotations

from bestofk.losses.formats.tool_columns import AskedOfTable, ToolColumns, noted
from bestofk.tables.table import Table

_COLUMNS = {"task", "framework", "fold", "result", "metric"}


def is_automl_benchmark(table: Table) -> bool:
    """The columns that its results always have."""
    return set(table.columns) >= _COLUMNS and "constraint" in table


def automl_benchmark_columns(table: Table, asked: AskedOfTable) -> ToolColumns:
    """The columns are known by their names; `result` is what is compared."""
    said = "Results of the AutoML benchmark: frameworks are learners, tasks are data sets."
    if asked.loss is not None:
        return ToolColumns(table=noted(table, said), metric=asked.metric)
    return ToolColumns(table=noted(table, said), roles={"loss": "result"}, metric=asked.metric)

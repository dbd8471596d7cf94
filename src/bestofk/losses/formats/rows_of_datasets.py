"""Wide tables as autorank and scmamp take them: one column per learner, one row per data set.

Nothing in such a table says that its rows are no folds: the user does.
"""

from __future__ import annotations

from bestofk.losses.formats.tool_columns import AskedOfTable, ToolColumns, noted, with_column
from bestofk.losses.roles import normal, role_of
from bestofk.tables.table import Table

_NUMBERS = {"column_1", "unnamed_0", ""}
"""The first column where row names have no title, as R and pandas write them."""


def rows_are_datasets(table: Table, asked: AskedOfTable) -> ToolColumns:
    """Every row is a data set: by its name where the first column names it, else by its number."""
    first = table.columns[0]
    named = asked.dataset
    if named is None:
        found = [column for column in table.columns if (role_of(column) or ("",))[0] == "dataset"]
        if found:
            named = found[0]
        elif normal(first) in _NUMBERS or not table.is_numeric(first):
            named = first
    if named is None:
        table, named = with_column(
            table, "dataset", [str(row) for row in range(1, table.n_rows + 1)]
        )
    said = "One column per learner, one row per data set, as the format says."
    return ToolColumns(table=noted(table, said), roles={"dataset": named}, layout="wide")

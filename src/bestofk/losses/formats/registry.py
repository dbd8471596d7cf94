"""The registry of tables that other tools write; other packages can add entries.

The contract of an entry
------------------------
`requires` lists the columns by which the table is recognised: all of them must be there. `*` stands
for any text, and upper and lower case are equal. A format with neither `requires` nor `opens` is
used only if the user names it.

`columns` names a function ``columns(table, stated, metric)`` that returns a `ToolColumns`. `table`
is a `bestofk.data.tables.table.Table`, `stated` the user's columns by role, and `metric` the user's
metric or None. The function must not guess what a learner is: if the table does not say it, the
function raises a `TableError` that says how to name the column.

`opens` optionally names a function that receives the source of `bestofk.read_scores` and returns a
table, or None if the source is something else. It serves objects that are no tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bestofk._base.registry import Registry
from bestofk.data.tables.table import Table

_FORMATS = "bestofk.losses.formats"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolColumns:
    """A table and the columns to read.

    - `table`: With the columns below.
    - `roles`: The column of each role (learner, dataset, run, fold, score, ...).
    - `layout`: ``"long"`` or ``"wide"``.
    - `metric`: The metric to read if a column names several.
    - `loss_name`: The name of the numbers, if it is not that of their column.
    - `higher_is_better`: The direction of the numbers according to the tool, if it says so.
    """

    table: Table
    roles: Mapping[str, str]
    layout: str = "long"
    metric: str | None = None
    loss_name: str | None = None
    higher_is_better: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LossFormat:
    """The tables of one tool.

    Examples
    --------
    >>> from bestofk.losses import LOSS_FORMATS
    >>> LOSS_FORMATS["weka"].called
    "Weka's Experimenter"
    """

    name: str
    called: str
    """The name of the tool in sentences."""
    summary: str
    """The files and objects that can be read, in a line."""
    columns: str
    """``package.module:name`` of the function that returns the columns to read."""
    requires: tuple[str, ...] = ()
    """The columns that the table must have; ``*`` stands for any text."""
    opens: str = ""
    """``package.module:name`` of the function that opens objects that are no tables."""

    def matches(self, table: Table) -> bool:
        """Return whether the table has all required columns."""
        names = [name.lower() for name in table.columns]
        return all(any(fnmatchcase(name, pattern) for name in names) for pattern in self.requires)


LOSS_FORMATS: Registry[LossFormat] = Registry(
    "format of a table of losses",
    LossFormat(
        name="cv-results",
        called="scikit-learn's cv_results_",
        summary="`cv_results_` of a search, as a dictionary, a frame or a file",
        requires=("params", "split0_test_*", "mean_test_*"),
        columns=f"{_FORMATS}.scikit_learn:cv_results_columns",
    ),
    LossFormat(
        name="cross-validate",
        called="scikit-learn's cross_validate",
        summary="a dictionary of the results of `cross_validate` by learner",
        columns=f"{_FORMATS}.scikit_learn:cross_validate_columns",
        opens=f"{_FORMATS}.scikit_learn:open_cross_validate",
    ),
    LossFormat(
        name="skore",
        called="skore",
        summary="a `ComparisonReport` or `CrossValidationReport`, or a dictionary of the latter",
        columns=f"{_FORMATS}.scikit_learn:skore_columns",
        opens=f"{_FORMATS}.scikit_learn:open_skore",
    ),
    LossFormat(
        name="autogluon",
        called="AutoGluon",
        summary="`leaderboard()` frames, concatenated with a column `fold` or `dataset`",
        requires=("model", "score_val", "fit_time_marginal", "fit_order"),
        columns=f"{_FORMATS}.result_tables:autogluon_columns",
    ),
    LossFormat(
        name="tabarena",
        called="TabArena",
        summary="results for bencheval, with `method`, `task` or `dataset`, and `metric_error`",
        requires=("method", "metric_error"),
        columns=f"{_FORMATS}.result_tables:tabarena_columns",
    ),
    LossFormat(
        name="automl-benchmark",
        called="the AutoML benchmark",
        summary="`results.csv`",
        requires=("task", "framework", "fold", "result", "metric", "constraint"),
        columns=f"{_FORMATS}.result_tables:automl_benchmark_columns",
    ),
    LossFormat(
        name="weka",
        called="Weka's Experimenter",
        summary="results of an experiment as ARFF or CSV",
        requires=("key_dataset", "key_run", "key_scheme"),
        columns=f"{_FORMATS}.result_tables:weka_columns",
    ),
    LossFormat(
        name="openml",
        called="OpenML",
        summary='`list_evaluations(..., output_format="dataframe")`, as a frame or a file',
        requires=("run_id", "task_id", "flow_name", "function", "value*"),
        columns=f"{_FORMATS}.result_tables:openml_columns",
    ),
    LossFormat(
        name="mlflow",
        called="MLflow",
        summary="`mlflow.search_runs()`, as a frame or a file",
        requires=("run_id", "experiment_id", "status", "metrics.*"),
        columns=f"{_FORMATS}.tracked_runs:mlflow_columns",
    ),
    LossFormat(
        name="optuna",
        called="Optuna",
        summary="`study.trials_dataframe()`, as a frame or a file",
        requires=("number", "value*", "params_*", "state"),
        columns=f"{_FORMATS}.tracked_runs:optuna_columns",
    ),
    LossFormat(
        name="autorank",
        called="autorank and scmamp",
        summary="a wide table; `--set format=autorank` says that its rows are data sets",
        columns=f"{_FORMATS}.result_tables:rows_are_datasets",
    ),
)

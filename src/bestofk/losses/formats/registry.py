"""The registry of tables that other tools write; other packages can add entries.

The contract of an entry
------------------------
`recognise` names a function that receives a `bestofk.data.tables.table.Table` and returns whether
the tool wrote it. `columns` names a function ``columns(table, options)`` that returns a
`bestofk.losses.formats.result_tables.ToolColumns`: a table in one of the three layouts and the
columns to read. `options` (`ReadOptions`, in the same module) holds the user's options. The
function must not guess silently what a learner is: the account says it, or the function raises a
`TableError` that lists the choices.

`opens` optionally names a function that receives the source of `bestofk.read_losses` (a path to a
file or a folder, or a mapping) and returns a table, or None if this tool did not write it.
"""

from __future__ import annotations

from dataclasses import dataclass

from bestofk._base.registry import Registry

_FORMATS = "bestofk.losses.formats"


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
    reads: str
    """One line: which parts become the learner, the data set and the fold."""
    columns: str
    """``package.module:name`` of the function that returns the columns to read."""
    recognise: str = ""
    """``package.module:name`` of the function that recognises a table; empty if only the user can
    name the format."""
    opens: str = ""
    """``package.module:name`` of the function that opens sources that are no tables."""


LOSS_FORMATS: Registry[LossFormat] = Registry(
    "format of a table of losses",
    LossFormat(
        name="cv-results",
        called="scikit-learn's cv_results_",
        summary="`cv_results_` of a search, as a dictionary, a frame or a file",
        reads="one learner per row, named by its parameters; `split0_test_score`, ... are folds",
        recognise=f"{_FORMATS}.cross_validation:is_cv_results",
        columns=f"{_FORMATS}.cross_validation:cv_results_columns",
    ),
    LossFormat(
        name="cross-validate",
        called="scikit-learn's cross_validate",
        summary="a dictionary of the results of `cross_validate` by learner; also as JSON",
        reads="the keys of the dictionary are learners, the entries of `test_...` folds",
        recognise=f"{_FORMATS}.cross_validation:is_cross_validate",
        columns=f"{_FORMATS}.cross_validation:cross_validate_columns",
        opens=f"{_FORMATS}.cross_validation:open_cross_validate",
    ),
    LossFormat(
        name="weka",
        called="Weka's Experimenter",
        summary="results of an experiment as ARFF or CSV",
        reads="schemes with their options are learners; data sets, runs and folds by the keys",
        recognise=f"{_FORMATS}.result_tables:is_weka",
        columns=f"{_FORMATS}.result_tables:weka_columns",
    ),
    LossFormat(
        name="automl-benchmark",
        called="the AutoML benchmark",
        summary="`results.csv`",
        reads="frameworks are learners, tasks data sets; choose a constraint with `--where`",
        recognise=f"{_FORMATS}.result_tables:is_automl_benchmark",
        columns=f"{_FORMATS}.result_tables:automl_benchmark_columns",
    ),
    LossFormat(
        name="openml",
        called="OpenML",
        summary="`list_evaluations` as a frame or a file; a run's `description.xml` or "
        "`predictions.arff`, or a folder of runs",
        reads="flows with their setups are learners, tasks data sets; folds if they are listed",
        recognise=f"{_FORMATS}.openml:is_openml",
        columns=f"{_FORMATS}.openml:openml_columns",
        opens=f"{_FORMATS}.openml:open_openml",
    ),
    LossFormat(
        name="mlflow",
        called="MLflow",
        summary="the frame of `mlflow.search_runs`, a folder `mlruns`, or `mlflow.db`",
        reads="parent runs are learners, their child runs folds; for flat runs name the learner",
        recognise=f"{_FORMATS}.mlflow:is_mlflow",
        columns=f"{_FORMATS}.mlflow:mlflow_columns",
        opens=f"{_FORMATS}.mlflow:open_mlflow",
    ),
    LossFormat(
        name="optuna",
        called="Optuna",
        summary="`study.trials_dataframe()` as a frame or a file, or an SQLite storage",
        reads="trials with the score of each split are learners; otherwise name the learner",
        recognise=f"{_FORMATS}.optuna:is_optuna",
        columns=f"{_FORMATS}.optuna:optuna_columns",
        opens=f"{_FORMATS}.optuna:open_optuna",
    ),
    LossFormat(
        name="autorank",
        called="autorank",
        summary="a wide table; `--format autorank` says that its rows are data sets",
        reads="one column per learner, one row per data set, named or not",
        columns=f"{_FORMATS}.result_tables:rows_are_datasets",
    ),
    LossFormat(
        name="scmamp",
        called="scmamp",
        summary="a wide table; `--format scmamp` says that its rows are data sets",
        reads="one column per learner, one row per data set, named or not",
        columns=f"{_FORMATS}.result_tables:rows_are_datasets",
    ),
)

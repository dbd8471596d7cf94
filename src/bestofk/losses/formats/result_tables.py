"""Tables of results: AutoGluon, TabArena, the AutoML benchmark, Weka, OpenML and autorank."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk._base.errors import TableError, UnknownNameError, use
from bestofk._base.formatting import counted, shortened
from bestofk.data.tables.table import Table
from bestofk.losses.columns import direction_of, find, normal, one_metric
from bestofk.losses.formats.registry import ToolColumns

PLACES = ("dataset", "run", "fold")
"""The roles that a tool leaves to the names of its columns."""


def with_columns(table: Table, columns: Mapping[str, Sequence[Any]], *notes: str) -> Table:
    """Add columns, and sentences to the account."""
    added = Table.from_columns(columns, source=table.source)
    frame = table.frame.assign(**{name: added.frame[name].array for name in added.columns})
    return replace(table, frame=frame, account=(*table.account, *notes))


def texts(table: Table, column: str) -> list[str | None]:
    """Return the cells of a column as text; None for missing cells."""
    cells: list[str | None] = table.text(column).tolist()
    return cells


def distinct(names: Sequence[str | None], ids: Sequence[str | None], form: str) -> list[str]:
    """Return the names; those with several ids in a form such as ``"{0} (task {1})"``."""
    by_name: dict[str | None, set[str | None]] = defaultdict(set)
    for name, number in zip(names, ids, strict=True):
        by_name[name].add(number)
    return [
        str(name) if len(by_name[name]) == 1 else form.format(name, number).strip()
        for name, number in zip(names, ids, strict=True)
    ]


def choose_metric(table: Table, known: Sequence[str], metric: str | None) -> str:
    """Return the stated metric, or the only one."""
    if metric is not None:
        if metric not in known:
            raise UnknownNameError("metric", metric, known, table.source)
        return metric
    if not known:
        raise TableError(f"{table.source}: there is no metric with a score for each split.")
    if len(known) > 1:
        raise TableError(
            f"{table.source}: there are {len(known)} metrics ({shortened(known, 12)}): choose one "
            "with ",
            use(metric=known[0]),
            ".",
        )
    return known[0]


def row_per_fold(
    table: Table,
    keys: Mapping[str, Sequence[Any]],
    scores: Sequence[Sequence[float]],
    name: str,
    stated: Mapping[str, str],
    note: str,
) -> ToolColumns:
    """Return a long table with the keys of each row, the numbers of its folds and its scores.

    The user's columns precede the keys.
    """
    keys = {**keys, **{role: texts(table, column) for role, column in stated.items()}}
    columns = {
        key: [cell for cell, row in zip(cells, scores, strict=True) for _ in row]
        for key, cells in keys.items()
    }
    columns["fold"] = [fold + 1 for row in scores for fold in range(len(row))]
    columns[name] = [score for row in scores for score in row]
    long = Table.from_columns(columns, source=table.source)
    return ToolColumns(
        table=replace(long, account=(*table.account, note)),
        roles={**{key: key for key in keys}, "fold": "fold", "score": name},
    )


def row_per_split(
    table: Table,
    pattern: str,
    metric: str | None,
    keys: Mapping[str, Sequence[Any]],
    stated: Mapping[str, str],
    note: str,
) -> ToolColumns:
    """Return a long table from the columns whose names hold the number and metric of a split.

    In the names of scikit-learn, such as ``split0_test_score``, higher is better.
    """
    splits: dict[str, dict[int, str]] = defaultdict(dict)
    for column in table.columns:
        if match := re.fullmatch(pattern, column):
            splits[match[2] or "score"][int(match[1])] = column
    name = choose_metric(table, list(splits), metric)
    folds = [column for _, column in sorted(splits[name].items())]
    scores = np.transpose([table.numbers(column) for column in folds]).tolist()
    tool = row_per_fold(table, keys, scores, name, stated, note)
    return replace(tool, higher_is_better=True if "_test_" in folds[0] else None)


def autogluon_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read the test scores of a leaderboard, or else its validation scores; higher is better."""
    score = "score_test" if "score_test" in table else "score_val"
    name = metric or score
    if "eval_metric" in table and metric is None:
        # scores of losses are negative, so they keep the name of their column
        measures = table.levels("eval_metric").names
        if len(measures) == 1 and direction_of(measures[0]) == "score":
            name = measures[0]
    roles = {"learner": "model", "score": metric or score, **stated}
    return ToolColumns(
        table=with_columns(table, {}, f"A leaderboard of AutoGluon: {score!r} of each model."),
        roles=find(table.columns, PLACES, roles, source=table.source),
        loss_name=name,
        higher_is_better=True,
    )


def tabarena_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read the errors of methods; each task has its own metric, and all are errors."""
    if metric is not None:
        table, _ = one_metric(table, "metric", metric)
    roles = {"learner": "method", "score": "metric_error", **stated}
    return ToolColumns(
        table=with_columns(table, {}, "TabArena results: methods are learners."),
        roles=find(table.columns, PLACES, roles, source=table.source),
        loss_name=metric and f"{metric} error",
        higher_is_better=False,
    )


def automl_benchmark_columns(
    table: Table, stated: Mapping[str, str], metric: str | None
) -> ToolColumns:
    """Read frameworks as learners, tasks as data sets, and `result` in the metric of the task."""
    roles = {"learner": "framework", "dataset": "task", "fold": "fold", "metric": "metric"}
    note = "Results of the AutoML benchmark: frameworks are learners, tasks are data sets."
    return ToolColumns(
        table=with_columns(table, {}, note),
        roles={**roles, "score": "result", **stated},
        metric=metric,
    )


def rows_are_datasets(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read every row as a data set, named by a column of names or numbered."""
    named = find(table.columns, ["dataset"], stated, source=table.source).get("dataset")
    first = table.columns[0]
    # R and pandas write row names without a title
    if named is None and (
        normal(first) in ("column_1", "unnamed_0", "") or not table.is_numeric(first)
    ):
        named = first
    numbers: dict[str, list[str]] = {}
    if named is None:
        named, numbers["dataset"] = "dataset", [str(row + 1) for row in range(table.n_rows)]
    note = "One column per learner, one row per data set, as the format says."
    return ToolColumns(
        table=with_columns(table, numbers, note),
        roles={**stated, "dataset": named},
        layout="wide",
        metric=metric,
    )


# Weka's Experimenter

_WEKA_ROLES = {
    "dataset": "key_dataset", "run": "key_run", "fold": "key_fold",
    "n_train": "number_of_training_instances", "n_test": "number_of_testing_instances",
}  # fmt: skip
_HIGHER = re.compile(r"_correct|kappa|ir_|f_measure|area_under|true_")
_LOWER = re.compile(r"_incorrect|_unclassified|error|false_|_time_")


def weka_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read schemes with their options as learners, and one of the measures.

    The default measure is Percent_correct, for regression Root_mean_squared_error.
    """
    names = {name.lower(): name for name in table.columns}
    measures = [name for name in names if not name.startswith("key_")]
    default = "percent_correct" if "percent_correct" in names else "root_mean_squared_error"
    loss = choose_metric(table, measures, (metric or default).lower())
    table = with_columns(
        table,
        {"learner": _weka_learners(table, names)},
        "An experiment of Weka: learners are schemes with their options.",
    )
    roles = {role: names[name] for role, name in _WEKA_ROLES.items() if name in names}
    return ToolColumns(
        table=table,
        roles={**roles, "learner": "learner", "score": names[loss], **stated},
        higher_is_better=False if _LOWER.search(loss) else True if _HIGHER.search(loss) else None,
    )


def _weka_learners(table: Table, names: Mapping[str, str]) -> list[str]:
    """Name each learner by its scheme, and by its options if the scheme has several."""
    schemes = [str(cell).strip(" '\"") for cell in texts(table, names["key_scheme"])]
    options = [""] * len(schemes)
    if "key_scheme_options" in names:
        cells = texts(table, names["key_scheme_options"])
        options = [" ".join(str(cell or "").strip(" '\"").split()) for cell in cells]
    short = [scheme.rpartition(".")[2] for scheme in schemes]
    return distinct(distinct(short, schemes, "{1}"), options, "{0} {1}")


# OpenML evaluations

_LOWER_MEASURES = re.compile(r"error|cost|time|ram_hours|entropy$")


def openml_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read flows as learners, with their setups if they differ, and tasks as data sets."""
    table, measure = one_metric(table, "function", metric)
    table = _latest_runs(table)
    flows = texts(table, "flow_name")
    if None in flows:
        where = table.location(flows.index(None), "flow_name")
        raise TableError(f"{where} must name the flow; the cell is empty.")
    setups = texts(table, "setup_id") if "setup_id" in table else flows
    data = texts(table, "data_name") if "data_name" in table else flows
    tasks = texts(table, "task_id")
    tool = row_per_fold(
        table,
        {
            "learner": distinct(flows, setups, "{0} (setup {1})"),
            "dataset": distinct(data, tasks, "{0} (task {1})"),
        },
        _openml_scores(table),
        measure,
        stated,
        "OpenML evaluations: flows are learners, tasks are data sets.",
    )
    return replace(tool, higher_is_better=_LOWER_MEASURES.search(measure) is None)


def _latest_runs(table: Table) -> Table:
    """Keep the latest of several runs with the same flow, setup and task."""
    columns = [name for name in ("flow_name", "setup_id", "task_id") if name in table]
    keys = list(zip(*(texts(table, name) for name in columns), strict=True))
    runs = table.numbers("run_id")
    last: dict[tuple[str | None, ...], float] = {}
    for key, run in zip(keys, runs, strict=True):
        last[key] = max(last.get(key, run), run)
    keep = np.array([last[key] == run for key, run in zip(keys, runs, strict=True)], dtype=np.bool_)
    if keep.all():
        return table
    left_out = counted(len(set(runs[~keep])), "run")
    note = f"{left_out} left out: a later run has the same flow, setup and task."
    return with_columns(table.take(keep), {}, note)


def _openml_scores(table: Table) -> list[list[float]]:
    """Return the values of each run by fold if listed (per_fold=True), else its mean."""
    if "values" not in table or table.missing("values").all():
        return [[float(value)] for value in table.numbers("value")]
    scores = []
    for row, cell in enumerate(texts(table, "values")):
        try:
            scores.append([float(value) for value in json.loads(cell or "")])
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise TableError(
                f"{table.location(row, 'values')} must be an array with a number per fold; got "
                f"{str(cell)[:60]!r}."
            ) from None
    return scores

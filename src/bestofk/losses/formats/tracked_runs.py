"""Runs of MLflow and trials of Optuna, in the frames that their own functions return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from bestofk._base.errors import TableError, use
from bestofk._base.formatting import counted
from bestofk.data.tables.table import Table
from bestofk.losses.columns import find
from bestofk.losses.formats.registry import ToolColumns
from bestofk.losses.formats.result_tables import (
    PLACES,
    choose_metric,
    row_per_split,
    texts,
    with_columns,
)

_PARENT, _NAME = "tags.mlflow.parentRunId", "tags.mlflow.runName"


def _finished(table: Table, column: str, state: str, what: str) -> Table:
    """Keep the runs in the final state, and say which were left out."""
    states = [(cell or "").rpartition(".")[2] for cell in texts(table, column)]
    keep = np.array([cell == state for cell in states], dtype=np.bool_)
    if not keep.any():
        raise TableError(f"{table.source}: no {what} has the {column} {state}.")
    left_out = Counter(cell or "unknown" for cell in states if cell != state)
    notes = [
        f"{counted(count, what)} with the {column} {other} left out."
        for other, count in left_out.items()
    ]
    return with_columns(table.take(keep), {}, *notes)


def _find(
    table: Table, prefixes: tuple[str, ...], roles: tuple[str, ...], stated: Mapping[str, str]
) -> dict[str, str]:
    """Return the column of each role: as stated, else by its name without a prefix."""
    found = find(table.columns, (), stated, source=table.source)
    for prefix in prefixes:
        named = {
            column.removeprefix(prefix): column
            for column in table.columns
            if column.startswith(prefix) and not table.missing(column).any()
        }
        by_name = find(list(named), roles)
        found = {role: named[name] for role, name in by_name.items()} | found
    return found


def mlflow_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read child runs as the folds of their parent, or flat runs with a column of learners."""
    parents = dict(zip(texts(table, "run_id"), _run_names(table), strict=True))
    table = _finished(table, "status", "FINISHED", "run")
    roles, note = dict(stated), "MLflow runs: the learners are named by {!r}."
    above = texts(table, _PARENT) if _PARENT in table else [None]
    if "learner" not in stated and any(above):
        table = table.take(np.array([run is not None for run in above], dtype=np.bool_))
        learners = [parents.get(run) or run for run in above if run is not None]
        table = with_columns(table, {"learner": learners})
        roles["learner"] = "learner"
        note = "MLflow runs: parent runs are learners, their child runs folds."
    known = [
        column.removeprefix("metrics.")
        for column in table.columns
        if column.startswith("metrics.") and not table.missing(column).all()
    ]
    score = choose_metric(table, known, metric) if "score" not in stated else stated["score"]
    roles.setdefault("score", f"metrics.{score}")
    roles = _find(table, ("params.", "tags."), ("learner", *PLACES), roles)
    if "learner" not in roles:
        raise TableError(
            f"{table.source}: no run has child runs, and no parameter names the learners: name the "
            "column that does with ",
            use(columns={"learner": _NAME}),
            ".",
        )
    _refuse_repeated(table, roles, "runs", "mlflow.log_param('fold', 0)")
    return ToolColumns(
        table=with_columns(table, {}, note.format(roles["learner"])), roles=roles, loss_name=score
    )


def _refuse_repeated(table: Table, roles: Mapping[str, str], what: str, call: str) -> None:
    """Raise if several runs have the same learner and place: they may be settings, not folds."""
    keys = [texts(table, roles[role]) for role in ("learner", *PLACES) if role in roles]
    (key, count), *_ = Counter(zip(*keys, strict=True)).most_common(1)
    if count > 1:
        raise TableError(
            f"{table.source}: nothing numbers the {count} {what} of learner {key[0]!r}: store the "
            f"fold in each ({call}), or name the column that numbers the folds with ",
            use(columns={"fold": "NAME"}),
            ".",
        )


def _run_names(table: Table) -> list[str | None]:
    return texts(table, _NAME if _NAME in table else "run_id")


def optuna_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read trials with the score of each split as learners, or the values of named learners."""
    table = _finished(table, "state", "COMPLETE", "trial")
    if "learner" in stated:
        values = [name for name in table.columns if name == "value" or name.startswith("values_")]
        loss = stated.get("score") or choose_metric(table, values, metric)
        roles = {**stated, "score": loss}
        roles = _find(table, ("user_attrs_", "params_"), PLACES, roles)
        _refuse_repeated(table, roles, "trials", "trial.set_user_attr('fold', 0)")
        return ToolColumns(table=table, roles=roles)
    if not any(name.startswith(("user_attrs_split", "user_attrs_fold")) for name in table.columns):
        raise TableError(
            f"{table.source}: the trials have one value each, so nothing can be compared: store "
            "the score of every fold in the trial (trial.set_user_attr('split0_test_score', "
            "score))."
        )
    return row_per_split(
        table,
        r"user_attrs_(?:split|fold)_?(\d+)(?:_test)?_?(.*)",
        metric,
        {"learner": _trial_names(table)},
        stated,
        "Optuna trials: each is a learner, named by its parameters, with the scores of its folds.",
    )


def _trial_names(table: Table) -> list[str]:
    """Name each trial by its parameters, and by its number if they are not unique."""
    params = sorted(column for column in table.columns if column.startswith("params_"))
    settings = [
        ", ".join(
            f"{column.removeprefix('params_')}={cell}"
            for column, cell in zip(params, row, strict=True)
            if cell is not None
        )
        for row in zip(*(texts(table, column) for column in params), strict=True)
    ]
    count = Counter(settings)
    return [
        name if name and count[name] == 1 else f"{name} (trial {number})".strip()
        for name, number in zip(settings, texts(table, "number"), strict=True)
    ]

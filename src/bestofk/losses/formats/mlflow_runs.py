"""Runs of MLflow: parent runs are learners and child runs folds; of flat runs the user says.

The columns are those of ``mlflow.search_runs``: ``run_id``, ``status``, ``start_time``,
``metrics.NAME``, ``params.NAME``, ``tags.NAME``; ``tags.mlflow.parentRunId`` tells child runs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from bestofk.errors import TableError
from bestofk.losses.formats.tool_columns import (
    AskedOfTable,
    ToolColumns,
    chosen_metric,
    named_column,
    noted,
    only_columns,
    role_columns,
    texts,
    with_column,
)
from bestofk.tables.table import Table
from bestofk.wording import counted, joined, shortened

METRIC, PARAM, TAG = "metrics.", "params.", "tags."
PARENT, NAME = "tags.mlflow.parentRunId", "tags.mlflow.runName"
_PREFIXES = (PARAM, TAG, METRIC)
_ROLES = ("dataset", "run", "fold", "repetition", "instance")
_START = "start_time"
_SEARCH = re.compile(r"metrics\.(?:rank|std)_test_")


def is_mlflow(table: Table) -> bool:
    """The columns that ``search_runs`` always writes, and a metric or a parameter."""
    return {"run_id", "experiment_id", "status"} <= set(table.columns) and any(
        column.startswith((METRIC, PARAM)) for column in table.columns
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Runs:
    """The runs of a table with their parents."""

    table: Table
    parent: tuple[int | None, ...]
    """For each row the row of its parent; -1 where the parent is not in the table."""
    name: tuple[str, ...]

    def inherited(self, column: str) -> list[str | None]:
        """The cells of a column, of the parent where a run has none."""
        own = texts(self.table, column)
        return [
            own[at] if cell is None and at is not None and at >= 0 else cell
            for cell, at in zip(own, self.parent, strict=True)
        ]


def mlflow_columns(table: Table, asked: AskedOfTable) -> ToolColumns:
    """Which columns to read runs of MLflow by."""
    runs = _runs(table)
    parents = {at for at in runs.parent if at is not None}
    leaf = np.array([row not in parents for row in range(table.n_rows)], dtype=np.bool_)
    nested = any(at is not None for at in runs.parent)
    ended = np.array([state in (None, "FINISHED") for state in texts(table, "status")], np.bool_)
    if nested and asked.algorithm is None:
        children = np.array([at is not None for at in runs.parent], dtype=np.bool_)
        keep = children & leaf
    else:
        keep = leaf
    notes = [_left_out(table, keep & ~ended)]
    keep &= ended
    if not keep.any():
        raise TableError(f"{table.source}: no run of MLflow came to its end (status FINISHED).")
    columns = _metrics(table.take(keep))
    loss = chosen_metric(table, columns, asked, METRIC, "the runs of MLflow")
    roles = {"loss": loss} | _other_roles(runs, keep, asked)
    if asked.algorithm is not None:
        who = _asked_learners(runs, asked.algorithm)
        notes.append(f"Learners are what {asked.algorithm!r} says of the runs.")
    elif nested:
        _refuse_search(runs, keep, loss, roles)
        who = _parents(runs)
        notes.append("Runs of MLflow: parent runs are learners, their child runs folds.")
    else:
        column = _flat_learner(runs, keep)
        who = runs.inherited(column)
        notes.append(f"Runs of MLflow without parents: learners are what {column!r} says.")
    made = _with_roles(runs, roles)
    made, learner = with_column(made, "learner", [name or "" for name in who])
    roles["algorithm"] = learner
    if "" in np.array([name or "" for name in who])[keep]:
        nameless = int(np.flatnonzero(keep & (np.array([n or "" for n in who]) == ""))[0])
        raise TableError(
            f"{table.place(nameless)}: nothing says which learner the run {runs.name[nameless]!r} "
            "is of."
        )
    if nested and asked.algorithm is None:
        made, roles = _numbered(runs, made, roles, keep, asked)
    elif asked.fold == _START:
        made, roles = _by_start(made, roles, keep)
    _refuse_experiments(made.take(keep), roles)
    made, keep = _latest(runs, made, roles, keep, notes)
    made = only_columns(made.take(keep), roles.values())
    made = noted(made, *(note for note in notes if note))
    return ToolColumns(table=made, roles=roles, layout="long", loss_name=loss.removeprefix(METRIC))


def _runs(table: Table) -> _Runs:
    ids = {run: row for row, run in enumerate(texts(table, "run_id")) if run is not None}
    above: list[int | None] = [None] * table.n_rows
    if PARENT in table:
        above = [
            None if one is None else ids.get(one, -1) for one in texts(table, PARENT)
        ]  # fmt: skip
    names = texts(table, NAME) if NAME in table else texts(table, "run_id")
    fallback = texts(table, "run_id")
    named = tuple(
        one or other or f"run {row + 1}"
        for row, (one, other) in enumerate(zip(names, fallback, strict=True))
    )
    return _Runs(table=table, parent=tuple(above), name=named)


def _left_out(table: Table, rows: np.ndarray) -> str:
    states = Counter(state for state, out in zip(texts(table, "status"), rows, strict=True) if out)
    if not states:
        return ""
    words = joined([f"{count} {state}" for state, count in states.items()])
    return f"Left out, since they did not end well: {counted(int(rows.sum()), 'run')} ({words})."


def _metrics(table: Table) -> list[str]:
    """The metrics that some of the runs have."""
    return [
        column
        for column in table.columns
        if column.startswith(METRIC)
        and not column.startswith(f"{METRIC}system/")
        and not table.missing(column).all()
    ]


def _other_roles(runs: _Runs, keep: np.ndarray, asked: AskedOfTable) -> dict[str, str]:
    """The columns of data sets, runs and folds: those asked for, else parameters so called."""
    found = role_columns(runs.table, (PARAM, TAG))
    roles = {role: column for role, column in found.items() if role in _ROLES}
    for role in _ROLES:
        given = getattr(asked, role)
        if given is not None and not (role == "fold" and given == _START):
            roles[role] = named_column(runs.table, given, _PREFIXES)
    whole = {}
    for role, column in roles.items():
        cells = [cell for cell, kept in zip(runs.inherited(column), keep, strict=True) if kept]
        if all(cell is not None for cell in cells) or getattr(asked, role) is not None:
            whole[role] = column
    if asked.fold == _START:
        whole.pop("fold", None)
    return whole


def _asked_learners(runs: _Runs, name: str) -> list[str | None]:
    return runs.inherited(named_column(runs.table, name, _PREFIXES))


def _parents(runs: _Runs) -> list[str | None]:
    """For each row the name of its parent, or the parent's id where it is not in the table."""
    ids = texts(runs.table, PARENT)
    return [
        None if at is None else (runs.name[at] if at >= 0 else own)
        for at, own in zip(runs.parent, ids, strict=True)
    ]


def _flat_learner(runs: _Runs, keep: np.ndarray) -> str:
    """The parameter or tag that is called as learners are; else nothing is guessed."""
    found = role_columns(runs.table.take(keep), (PARAM, TAG)).get("algorithm")
    if found is not None:
        return found
    kept = runs.table.take(keep)
    offered = [
        column
        for column in kept.columns
        if column.startswith((PARAM, TAG))
        and not column.startswith(f"{TAG}mlflow.")
        and 1 < len(kept.levels(column).names) < kept.n_rows
    ]
    if NAME in kept:
        offered.append(NAME)
    choose = f" ({shortened(list(map(repr, offered)), 8)})" if offered else ""
    example = offered[0] if offered else NAME
    raise TableError(
        f"{runs.table.source}: no run has child runs, and no parameter is called as learners are: "
        f"say what tells learners apart{choose} with algorithm={example!r}."
    )


def _refuse_search(runs: _Runs, keep: np.ndarray, loss: str, roles: dict[str, str]) -> None:
    """Child runs that are the settings of a search, which folds are not."""
    kept = runs.table.take(keep)
    search = [c for c in kept.columns if _SEARCH.match(c) and not kept.missing(c).all()]
    if search or loss.startswith(f"{METRIC}mean_test_"):
        raise TableError(
            f"{kept.source}: the child runs are candidates of a search (they have "
            f"{(search or [loss])[0].removeprefix(METRIC)!r}), not folds: read the file "
            "cv_results.csv among the artifacts of the parent run instead."
        )
    above = [at for at, kept_ in zip(runs.parent, keep, strict=True) if kept_]
    for column in kept.columns:
        if not column.startswith(PARAM) or column in roles.values():
            continue
        by_parent: dict[int | None, set[str | None]] = defaultdict(set)
        for at, cell in zip(above, texts(kept, column), strict=True):
            by_parent[at].add(cell)
        if any(len(cells) > 1 for cells in by_parent.values()):
            raise TableError(
                f"{kept.source}: the child runs of one parent differ in {column!r}, so that they "
                "may be settings of a search and not folds: if that column numbers the folds, pass "
                f"fold={column!r}, else say what tells learners apart with algorithm=..."
            )


def _with_roles(runs: _Runs, roles: dict[str, str]) -> Table:
    """The table with cells of parents where their children have none."""
    table = runs.table
    for role, column in list(roles.items()):
        if role == "loss":
            continue
        cells = runs.inherited(column)
        if cells != texts(table, column):
            table, roles[role] = with_column(table, column, cells)
    return table


def _numbered(
    runs: _Runs, table: Table, roles: dict[str, str], keep: np.ndarray, asked: AskedOfTable
) -> tuple[Table, dict[str, str]]:
    """Folds by a parameter, by the names of the child runs, or by their start if asked."""
    if "fold" in roles or "instance" in roles:
        return table, roles
    if asked.fold == _START:
        return _by_start(table, roles, keep)
    groups: dict[int | None, list[str]] = defaultdict(list)
    for row in np.flatnonzero(keep):
        groups[runs.parent[row]].append(_number_in(runs.name[row]))
    sets = [sorted(group) for group in groups.values()]
    if all(group == sets[0] for group in sets) and all(
        len(set(group)) == len(group) and "" not in group for group in sets
    ):
        numbers = [_number_in(name) for name in runs.name]
        table, roles["fold"] = with_column(table, "fold", numbers)
        return noted(table, "Folds by the numbers at the ends of the child runs' names."), roles
    raise TableError(
        f"{table.source}: nothing numbers the child runs: log the fold of each as a parameter "
        "(mlflow.log_param('fold', 0)), or pass fold='start_time' to count them in the order in "
        "which they began."
    )


def _number_in(name: str) -> str:
    """The number at the end of the name of a child run: fold_3, svm-3."""
    found = re.search(r"(\d{1,6})\W*$", name)
    return str(int(found[1])) if found else ""


def _by_start(
    table: Table, roles: dict[str, str], keep: np.ndarray
) -> tuple[Table, dict[str, str]]:
    if _START not in table:
        raise TableError(f"{table.source}: there is no column 'start_time' to count folds by.")
    starts = texts(table, _START)
    groups: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    others = [texts(table, column) for role, column in roles.items() if role != "loss"]
    for row in np.flatnonzero(keep):
        groups[tuple(cells[row] for cells in others)].append(int(row))
    number = [""] * table.n_rows
    for rows in groups.values():
        for turn, at in enumerate(sorted(rows, key=lambda at: (_time(starts[at]), at)), start=1):
            number[at] = str(turn)
    table, roles["fold"] = with_column(table, "fold", number)
    return noted(table, "Folds are counted in the order in which the runs began."), roles


def _time(start: str | None) -> tuple[int, str]:
    text = start or ""
    return (len(text), text) if text.isdecimal() else (0, text)


def _refuse_experiments(kept: Table, roles: dict[str, str]) -> None:
    if "dataset" in roles:
        return
    names = kept.levels("experiment_id").names
    if len(names) > 1:
        raise TableError(
            f"{kept.source}: the runs are of {len(names)} experiments: keep one with "
            f"where={{'experiment_id': {names[0]!r}}}, or pass dataset='experiment_id' if each is "
            "a data set."
        )


def _latest(
    runs: _Runs, table: Table, roles: dict[str, str], keep: np.ndarray, notes: list[str]
) -> tuple[Table, np.ndarray]:
    """Of parents of one name, on one data set, the latest."""
    if "fold" not in roles or _START not in table:
        return table, keep
    cells = [
        texts(table, roles[role]) for role in ("algorithm", "dataset", "run", "fold", "repetition")
        if role in roles
    ]  # fmt: skip
    starts = texts(table, _START)
    parents: dict[tuple[str | None, ...], set[int | None]] = defaultdict(set)
    for row in np.flatnonzero(keep):
        parents[tuple(column[row] for column in cells)].add(runs.parent[row])
    several = {one for each in parents.values() if len(each) > 1 for one in each}
    if not several or None in several:
        return table, keep
    groups: dict[tuple[str | None, ...], set[int]] = defaultdict(set)
    sets = texts(table, roles["dataset"]) if "dataset" in roles else [None] * table.n_rows
    who = texts(table, roles["algorithm"])
    for row in np.flatnonzero(keep):
        at = runs.parent[row]
        if at is not None and at in several:
            groups[who[row], sets[row]].add(at)
    gone: set[int] = set()
    for (learner, _), ats in groups.items():
        if len(ats) > 1 and -1 not in ats:
            last = max(ats, key=lambda at: _time(starts[at]))
            gone |= ats - {last}
            notes.append(
                f"{counted(len(ats), 'parent run')} of learner {learner!r}: the latest counts."
            )
    return table, keep & np.array([at not in gone for at in runs.parent], dtype=np.bool_)

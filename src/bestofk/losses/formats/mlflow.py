"""MLflow runs: parent runs are learners and child runs folds; for flat runs the user says.

The columns are those of ``mlflow.search_runs``: ``run_id``, ``status``, ``start_time``,
``metrics.NAME``, ``params.NAME``, ``tags.NAME``; child runs have ``tags.mlflow.parentRunId``.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.errors import TableError, use
from bestofk._base.formatting import counted, joined, shortened
from bestofk.data.tables.limits import check_cells
from bestofk.data.tables.table import Table
from bestofk.losses.formats.result_tables import (
    ReadOptions,
    ToolColumns,
    chosen_metric,
    existing_path,
    named_column,
    noted,
    only_columns,
    role_columns,
    texts,
    with_column,
)
from bestofk.losses.formats.sqlite_tables import is_sqlite, sqlite_tables, unfinished_journal

METRIC, PARAM, TAG = "metrics.", "params.", "tags."
PARENT, NAME = "tags.mlflow.parentRunId", "tags.mlflow.runName"
_PREFIXES = (PARAM, TAG, METRIC)
_ROLES = ("dataset", "run", "fold", "repetition", "instance")
_START = "start_time"
_SEARCH = re.compile(r"metrics\.(?:rank|std)_test_")


def is_mlflow(table: Table) -> bool:
    """Return whether the table has the columns of ``search_runs``."""
    return {"run_id", "experiment_id", "status"} <= set(table.columns) and any(
        column.startswith((METRIC, PARAM)) for column in table.columns
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Runs:
    """The runs of a table with their parents."""

    table: Table
    parent: tuple[int | None, ...]
    """For each row the row of its parent; -1 if the parent is not in the table."""
    name: tuple[str, ...]

    def inherited(self, column: str) -> list[str | None]:
        """Return the cells of a column; those of the parent if a run has none."""
        cells = texts(self.table, column)
        return [
            cells[at] if cell is None and at is not None and at >= 0 else cell
            for cell, at in zip(cells, self.parent, strict=True)
        ]


def mlflow_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Return the columns of MLflow runs."""
    runs = _runs(table)
    parents = {at for at in runs.parent if at is not None}
    leaf = np.array([row not in parents for row in range(table.n_rows)], dtype=np.bool_)
    nested = any(at is not None for at in runs.parent)
    ended = np.array([state in (None, "FINISHED") for state in texts(table, "status")], np.bool_)
    if nested and options.learner is None:
        children = np.array([at is not None for at in runs.parent], dtype=np.bool_)
        keep = children & leaf
    else:
        keep = leaf
    notes = [_left_out(table, keep & ~ended)]
    keep &= ended
    if not keep.any():
        raise TableError(f"{table.source}: no MLflow run has finished (status FINISHED).")
    columns = _metrics(table.take(keep))
    loss = chosen_metric(table, columns, options, METRIC, "the runs of MLflow")
    roles = {"loss": loss} | _other_roles(runs, keep, options)
    if options.learner is not None:
        learners = _asked_learners(runs, options.learner)
        notes.append(f"The learners are named by {options.learner!r}.")
    elif nested:
        _refuse_search(runs, keep, loss, roles)
        learners = _parents(runs)
        notes.append("MLflow runs: parent runs are learners, their child runs folds.")
    else:
        column = _flat_learner(runs, keep)
        learners = runs.inherited(column)
        notes.append(f"MLflow runs without parents: the learners are named by {column!r}.")
    names = np.array([name or "" for name in learners])
    selected = _with_roles(runs, roles)
    selected, roles["learner"] = with_column(selected, "learner", names.tolist())
    nameless = np.flatnonzero(keep & (names == ""))
    if len(nameless):
        row = int(nameless[0])
        raise TableError(f"{table.location(row)}: the run {runs.name[row]!r} names no learner.")
    if nested and options.learner is None:
        selected, roles = _numbered(runs, selected, roles, keep, options)
    elif options.fold == _START:
        selected, roles = _by_start(selected, roles, keep)
    _refuse_experiments(selected.take(keep), roles)
    selected, keep = _latest(runs, selected, roles, keep, notes)
    selected = only_columns(selected.take(keep), roles.values())
    selected = noted(selected, *(note for note in notes if note))
    return ToolColumns(
        table=selected, roles=roles, layout="long", loss_name=loss.removeprefix(METRIC)
    )


def _runs(table: Table) -> _Runs:
    ids = {run: row for row, run in enumerate(texts(table, "run_id")) if run is not None}
    above: list[int | None] = [None] * table.n_rows
    if PARENT in table:
        above = [
            None if name is None else ids.get(name, -1) for name in texts(table, PARENT)
        ]  # fmt: skip
    names = texts(table, NAME) if NAME in table else texts(table, "run_id")
    fallback = texts(table, "run_id")
    named = tuple(
        name or run_id or f"run {row + 1}"
        for row, (name, run_id) in enumerate(zip(names, fallback, strict=True))
    )
    return _Runs(table=table, parent=tuple(above), name=named)


def _left_out(table: Table, rows: np.ndarray) -> str:
    states = Counter(state for state, out in zip(texts(table, "status"), rows, strict=True) if out)
    if not states:
        return ""
    listing = joined([f"{count} {state}" for state, count in states.items()])
    return f"Left out, as they did not finish: {counted(int(rows.sum()), 'run')} ({listing})."


def _metrics(table: Table) -> list[str]:
    """Return the metrics that some of the runs have."""
    return [
        column
        for column in table.columns
        if column.startswith(METRIC)
        and not column.startswith(f"{METRIC}system/")
        and not table.missing(column).all()
    ]


def _other_roles(runs: _Runs, keep: np.ndarray, options: ReadOptions) -> dict[str, str]:
    """Return the columns of data sets, runs and folds: as stated, else by parameter names."""
    guesses = role_columns(runs.table, (PARAM, TAG))
    roles = {role: column for role, column in guesses.items() if role in _ROLES}
    for role in _ROLES:
        column = getattr(options, role)
        if column is not None and not (role == "fold" and column == _START):
            roles[role] = named_column(runs.table, column, _PREFIXES)
    whole = {}
    for role, column in roles.items():
        cells = [
            cell for cell, keep_row in zip(runs.inherited(column), keep, strict=True) if keep_row
        ]
        if all(cell is not None for cell in cells) or getattr(options, role) is not None:
            whole[role] = column
    if options.fold == _START:
        whole.pop("fold", None)
    return whole


def _asked_learners(runs: _Runs, name: str) -> list[str | None]:
    return runs.inherited(named_column(runs.table, name, _PREFIXES))


def _parents(runs: _Runs) -> list[str | None]:
    """Return the name of each row's parent, or its id if the parent is not in the table."""
    ids = texts(runs.table, PARENT)
    return [
        None if at is None else (runs.name[at] if at >= 0 else parent_id)
        for at, parent_id in zip(runs.parent, ids, strict=True)
    ]


def _flat_learner(runs: _Runs, keep: np.ndarray) -> str:
    """Return the parameter or tag with the name of a learner column; else raise an error."""
    column = role_columns(runs.table.take(keep), (PARAM, TAG)).get("learner")
    if column is not None:
        return column
    table = runs.table.take(keep)
    offered = [
        column
        for column in table.columns
        if column.startswith((PARAM, TAG))
        and not column.startswith(f"{TAG}mlflow.")
        and 1 < len(table.levels(column).names) < table.n_rows
    ]
    if NAME in table:
        offered.append(NAME)
    choose = f" ({shortened(list(map(repr, offered)), 8)})" if offered else ""
    example = offered[0] if offered else NAME
    raise TableError(
        f"{runs.table.source}: no run has child runs, and no parameter names the learners: say "
        f"what distinguishes the learners{choose} with ",
        use(learner=example),
        ".",
    )


def _refuse_search(runs: _Runs, keep: np.ndarray, loss: str, roles: dict[str, str]) -> None:
    """Raise if the child runs are the settings of a search instead of folds."""
    table = runs.table.take(keep)
    search = [c for c in table.columns if _SEARCH.match(c) and not table.missing(c).all()]
    if search or loss.startswith(f"{METRIC}mean_test_"):
        raise TableError(
            f"{table.source}: the child runs are candidates of a search (they have "
            f"{(search or [loss])[0].removeprefix(METRIC)!r}), not folds: read the file "
            "cv_results.csv among the artifacts of the parent run instead."
        )
    above = [at for at, keep_row in zip(runs.parent, keep, strict=True) if keep_row]
    for column in table.columns:
        if not column.startswith(PARAM) or column in roles.values():
            continue
        by_parent: dict[int | None, set[str | None]] = defaultdict(set)
        for at, cell in zip(above, texts(table, column), strict=True):
            by_parent[at].add(cell)
        if any(len(cells) > 1 for cells in by_parent.values()):
            raise TableError(
                f"{table.source}: the child runs of one parent differ in {column!r}, so they may "
                "be settings of a search instead of folds: if that column numbers the folds, pass ",
                use(fold=column),
                ", else say what distinguishes the learners with ",
                use(learner=...),
            )


def _with_roles(runs: _Runs, roles: dict[str, str]) -> Table:
    """Fill empty cells of child runs with those of their parents."""
    table = runs.table
    for role, column in list(roles.items()):
        if role == "loss":
            continue
        cells = runs.inherited(column)
        if cells != texts(table, column):
            table, roles[role] = with_column(table, column, cells)
    return table


def _numbered(
    runs: _Runs, table: Table, roles: dict[str, str], keep: np.ndarray, options: ReadOptions
) -> tuple[Table, dict[str, str]]:
    """Number the folds by a parameter, by the names of the child runs, or by their start."""
    if "fold" in roles or "instance" in roles:
        return table, roles
    if options.fold == _START:
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
        note = "The folds are numbered by the last numbers in the names of the child runs."
        return noted(table, note), roles
    raise TableError(
        f"{table.source}: the child runs have no fold numbers: log the fold of each as a parameter "
        "(mlflow.log_param('fold', 0)), or pass ",
        use(fold=_START),
        " to number them by their start.",
    )


def _number_in(name: str) -> str:
    """Return the number at the end of the name of a child run: fold_3, svm-3."""
    match = re.search(r"(\d{1,6})\W*$", name)
    return str(int(match[1])) if match else ""


def _by_start(
    table: Table, roles: dict[str, str], keep: np.ndarray
) -> tuple[Table, dict[str, str]]:
    if _START not in table:
        raise TableError(f"{table.source}: there is no column 'start_time' to number the folds by.")
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
    return noted(table, "The folds are numbered in the order in which the runs started."), roles


def _time(start: str | None) -> tuple[int, str]:
    text = start or ""
    return (len(text), text) if text.isdecimal() else (0, text)


def _refuse_experiments(table: Table, roles: dict[str, str]) -> None:
    if "dataset" in roles:
        return
    names = table.levels("experiment_id").names
    if len(names) > 1:
        raise TableError(
            f"{table.source}: the runs belong to {len(names)} experiments: select one with ",
            use(where={"experiment_id": names[0]}),
            ", or pass ",
            use(dataset="experiment_id"),
            " if each is a data set.",
        )


def _latest(
    runs: _Runs, table: Table, roles: dict[str, str], keep: np.ndarray, notes: list[str]
) -> tuple[Table, np.ndarray]:
    """Keep the latest of several parents with the same name and data set."""
    if "fold" not in roles or _START not in table:
        return table, keep
    cells = [
        texts(table, roles[role]) for role in ("learner", "dataset", "run", "fold", "repetition")
        if role in roles
    ]  # fmt: skip
    starts = texts(table, _START)
    parents: dict[tuple[str | None, ...], set[int | None]] = defaultdict(set)
    for row in np.flatnonzero(keep):
        parents[tuple(column[row] for column in cells)].add(runs.parent[row])
    several = {parent for each in parents.values() if len(each) > 1 for parent in each}
    if not several or None in several:
        return table, keep
    groups: dict[tuple[str | None, ...], set[int]] = defaultdict(set)
    sets = texts(table, roles["dataset"]) if "dataset" in roles else [None] * table.n_rows
    who = texts(table, roles["learner"])
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
                f"{counted(len(ats), 'parent run')} of learner {learner!r}: the latest is used."
            )
    return table, keep & np.array([at not in gone for at in runs.parent], dtype=np.bool_)


# Stores of MLflow: a folder ``mlruns``, or the SQLite database of MLflow 3


_STATES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_META = "meta.yaml"
_STEPPED = "metrics with several steps"
_MAX_FILES = 500_000
_MAX_FILE_BYTES = 1 << 16
_BYTES_PER_FILE = 32
"""Typical size of the file of a parameter, tag or metric."""
Run = dict[str, Any]


def open_mlflow(source: Any) -> Table | None:
    """Read the runs of a folder ``mlruns`` (or its parent), or of ``mlflow.db``."""
    path = existing_path(source)
    if path is None:
        return None
    if path.is_dir():
        for inner in (path, path / "mlruns"):
            if _is_store(inner):
                runs = list(_folder_runs(inner))
                # every run and every value is a file
                file_size = _BYTES_PER_FILE * sum(map(len, runs))
                return _table(runs, f"{inner.resolve().name}", file_size=file_size)
        base = path / "mlflow.db"
        return open_mlflow(base) if base.is_file() else None
    if not is_sqlite(path):
        return None
    with sqlite_tables(path) as tables:
        if not {"runs", "latest_metrics", "params", "tags"} <= tables.names:
            return None
        table = _table(_sqlite_runs(tables), path.name, file_size=tables.file_size)
    unread = unfinished_journal(path)
    return noted(table, unread) if unread else table


def _table(runs: list[Run], source: str, *, file_size: int) -> Table:
    if not runs:
        raise TableError(f"{source}: there are no MLflow runs.")
    runs.sort(key=lambda run: str(run["start_time"]))
    stepped = sorted({name for run in runs for name in run.pop(_STEPPED, ())})
    names = list(dict.fromkeys(name for run in runs for name in run))
    check_cells(source, file_size=file_size, rows=len(runs), columns=len(names))
    table = Table.from_columns(
        {name: [run.get(name) for run in runs] for name in names}, source=source
    )
    if stepped:
        table = noted(
            table,
            f"Only the last step of {shortened([repr(name) for name in stepped], 4)} was read, as "
            "in MLflow itself: steps may be training epochs, so they are not read as folds; log "
            "every fold as a child run.",
        )
    return table


def _is_store(folder: Path) -> bool:
    """Return whether the folder contains experiments with runs."""
    try:
        return any(folder.glob(f"*/{_META}")) and any(folder.glob(f"*/*/{_META}"))
    except OSError:
        return False


def _folder_runs(folder: Path) -> Iterator[Run]:
    count = 0
    for experiment in sorted(folder.iterdir()):
        if experiment.name.startswith(".") or not (experiment / _META).is_file():
            continue
        description = _meta(experiment / _META)
        for run_folder in sorted(experiment.iterdir()):
            if not (run_folder / _META).is_file():
                continue
            meta = _meta(run_folder / _META)
            if "run_id" not in meta and "run_uuid" not in meta:
                continue
            if meta.get("lifecycle_stage") == "deleted":
                continue
            run: Run = {
                "run_id": meta.get("run_id") or meta.get("run_uuid"),
                "experiment_id": meta.get("experiment_id") or experiment.name,
                "experiment_name": description.get("name"),
                "status": _STATES.get(meta.get("status", ""), meta.get("status")),
                "start_time": meta.get("start_time"),
                "end_time": meta.get("end_time"),
            }
            for part, prefix in (("params", PARAM), ("tags", TAG), ("metrics", METRIC)):
                for name, path in _files(run_folder / part):
                    count += 1
                    if count > _MAX_FILES:
                        raise TableError(f"{folder.name}: more than {_MAX_FILES} files of runs.")
                    if part == "metrics":
                        run[prefix + name], several = _latest_value(path)
                        run.setdefault(_STEPPED, []).extend([name] if several else [])
                    else:
                        run[prefix + name] = _text(path).strip()
            if meta.get("run_name"):
                run.setdefault(f"{TAG}mlflow.runName", meta["run_name"])
            yield run


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield names, which may contain slashes, and their files, without following symlinks."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(parent, name)
            if not path.is_symlink() and path.is_file():
                yield path.relative_to(folder).as_posix(), path


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        raise TableError(f"{path.name} cannot be read: {error.strerror or error}.") from None


def _meta(path: Path) -> Mapping[str, str]:
    """Read the plain ``key: value`` entries of a ``meta.yaml``; others are not needed."""
    entries = {}
    for line in _text(path).splitlines():
        key, colon, value = line.partition(": ")
        if colon and key.isidentifier():
            value = value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1].replace("''", "'")
            entries[key] = value
    return entries


def _latest_value(path: Path) -> tuple[float | None, bool]:
    """Return the last value of a metric, as MLflow shows it, and whether it has steps.

    Each line has a time, a value and a step.
    """
    steps = set()
    best: tuple[int, int, float] | None = None
    for number, line in enumerate(_text(path).splitlines(), start=1):
        parts = line.split()
        if not parts:
            continue
        try:
            time, value = int(parts[0]), float(parts[1])
            step = int(parts[2]) if len(parts) > 2 else 0
        except (IndexError, ValueError):
            raise TableError(
                f"metric {path.name!r}: line {number} must be a time, a value and a step; got "
                f"{line[:60]!r}."
            ) from None
        steps.add(step)
        if best is None or (step, time, value) >= best:
            best = (step, time, value)
    return (None if best is None or best[2] != best[2] else best[2]), len(steps) > 1


def _sqlite_runs(tables: Any) -> list[Run]:
    names = {}
    if "experiments" in tables.names:
        names = dict(tables.rows("experiments", "experiment_id", "name"))
    runs: dict[str, Run] = {}
    for run, name, experiment, status, start, end, stage in tables.rows(
        "runs", "run_uuid", "name", "experiment_id", "status", "start_time", "end_time",
        "lifecycle_stage",
    ):  # fmt: skip
        if stage == "deleted":
            continue
        runs[run] = {
            "run_id": str(run), "experiment_id": str(experiment),
            "experiment_name": names.get(experiment), "status": status,
            "start_time": None if start is None else str(start),
            "end_time": None if end is None else str(end),
            f"{TAG}mlflow.runName": name or None,
        }  # fmt: skip
    for key, value, is_nan, run in tables.rows(
        "latest_metrics", "key", "value", "is_nan", "run_uuid"
    ):
        if run in runs:
            number = isinstance(value, int | float) and not is_nan
            runs[run][f"{METRIC}{key}"] = float(value) if number else None
    for key, step, run in tables.rows("latest_metrics", "key", "step", "run_uuid"):
        if run in runs and step:
            runs[run].setdefault(_STEPPED, []).append(key)
    for table, prefix in (("params", PARAM), ("tags", TAG)):
        for key, value, run in tables.rows(table, "key", "value", "run_uuid"):
            if run in runs:
                runs[run][f"{prefix}{key}"] = None if value is None else str(value)
    return list(runs.values())

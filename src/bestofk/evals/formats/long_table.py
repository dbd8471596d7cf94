"""Any table with one row per learner, item and epoch: CSV, TSV, JSONL, Parquet.

The columns are found by their names or named: learner, task, item, cluster, epoch, score, cost,
latency, status, tokens_in, tokens_out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, BestOfKError, TableError, UnknownNameError
from bestofk._base.formatting import joined, shortened
from bestofk.data.tables.named_columns import ColumnSelection, read_named_columns
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Levels, Table
from bestofk.evals.evals import AskedOfLogs, nothing_asked_for
from bestofk.evals.rows import NAN, STATUSES, EvalRows, number_of
from bestofk.evals.sources import Source, without_copies
from bestofk.losses.columns import normal

ROLES: dict[str, tuple[str, ...]] = {
    "learner": ("learner", "model", "model_name", "model_id", "agent", "system", "provider",
                "algorithm", "variant", "method", "llm", "engine"),
    "item": ("item", "item_id", "sample_id", "question_id", "instance_id", "doc_id", "example_id",
             "problem_id", "case_id", "test_id", "sample", "question", "instance", "example",
             "problem", "id", "case"),
    "score": ("score", "correct", "is_correct", "accuracy", "acc", "passed", "pass", "success",
              "resolved", "exact_match", "value", "result", "reward", "grade"),
    "task": ("task", "task_name", "dataset", "benchmark", "subset", "subject", "category"),
    "epoch": ("epoch", "trial", "attempt", "repeat", "repetition", "run", "seed", "sample_index"),
    "cluster": ("cluster", "cluster_id", "passage", "passage_id", "group", "repo", "repository",
                "template"),
    "cost": ("cost", "cost_usd", "price", "total_cost", "usd"),
    "latency": ("latency", "latency_s", "seconds", "duration", "time", "working_time"),
    "status": ("status", "outcome"),
    "tokens_in": ("tokens_in", "input_tokens", "prompt_tokens"),
    "tokens_out": ("tokens_out", "output_tokens", "completion_tokens"),
}  # fmt: skip
"""The names by which a column is known, the surest first."""
AMOUNTS = ("cost", "latency", "tokens_in", "tokens_out")
_NEEDED = ("learner", "item", "score")
_NO_SCORE = (STATUSES.index("error"), STATUSES.index("missing"))
_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq")
_SUFFIXES = (*_TABLES, ".jsonl", ".ndjson", ".json")
_WORDS = {
    "ok": "scored", "success": "scored", "done": "scored", "completed": "scored",
    "failed": "error", "failure": "error", "timeout": "limit", "truncated": "limit",
    "nan": "unscored", "none": "unscored", "skipped": "missing",
}  # fmt: skip


def is_long_table(source: Source) -> bool:
    """A named table, or one in a folder whose columns have the names of the roles."""
    name = source.path.name.lower().removesuffix(".gz")
    if not name.endswith(_SUFFIXES):
        return False
    if source.named and name.endswith(_TABLES) and source.size and not source.is_binary:
        # what is missing is said by name
        return True
    try:
        return set(_NEEDED) <= set(_roles(_columns(source), {}))
    except TableError:
        return False


def spoken(role: str) -> str:
    """The word for a role: the learners of a log are models."""
    return "model" if role == "learner" else role


def _columns(source: Source) -> Sequence[str]:
    if source.head[:4] == b"PAR1":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return list(pq.read_schema(source.path).names)
        except (pa.ArrowException, OSError):
            return []
    if source.head[:2] == b"\x1f\x8b":
        return read_table(source.path).columns
    if source.keys:
        return list(source.keys)
    first = re.split(r"[\r\n]", source.text_head.lstrip(), maxsplit=1)[0]
    mark = max(",;\t|", key=first.count)
    return [cell.strip().strip('"') for cell in first.split(mark)]


def _roles(columns: Sequence[str], given: dict[str, str]) -> dict[str, str]:
    found = dict(given)
    plain = {normal(column): column for column in reversed(columns)}
    for role, names in ROLES.items():
        if role in found:
            continue
        for name in names:
            column = plain.get(name)
            if column is not None and column not in found.values():
                found[role] = column
                break
    return found


def read_long_table(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of tables."""
    sources = without_copies(sources, rows.note)
    tasks: set[str] = set()
    for source in sources:
        quick = read_named_columns(source.path, partial(_columns_to_read, asked=asked))
        try:
            if quick is not None:
                _read(quick, asked, rows, tasks)
                continue
        except BestOfKError:
            # the same again, with the line of what is wrong
            quick = None
        _read(read_table(source.path), asked, rows, tasks)
    if asked.task and not len(rows):
        if not tasks:
            raise TableError(
                f"The table has no column of tasks, so that task {asked.task[0]!r} cannot be "
                "taken: name it, such as columns={'task': 'NAME'} (on the command line --column "
                "task=NAME), or leave out the task."
            )
        raise nothing_asked_for(asked.task, sorted(tasks), "task", "the table")


def _columns_to_read(columns: tuple[str, ...], *, asked: AskedOfLogs) -> ColumnSelection:
    """Those of the roles."""
    roles = _asked_roles(columns, "", asked)
    numbers = [roles[role] for role in (*AMOUNTS, "epoch") if role in roles]
    score = roles["score"]
    names = [column for column in roles.values() if column not in (*numbers, score)]
    return ColumnSelection(names, numbers, [score])


def _read(table: Table, asked: AskedOfLogs, rows: EvalRows, tasks: set[str]) -> None:
    roles = _asked_roles(table.columns, table.source, asked)
    rows.account += [sentence for sentence in table.account if sentence not in rows.account]
    rows.note(
        f"{table.source}: "
        + joined([f"{spoken(role)} from {column!r}" for role, column in roles.items()])
        + "."
    )
    rows.metric(roles["score"])
    learners, items = table.levels(roles["learner"]), table.levels(roles["item"])
    for role, levels in (("learner", learners), ("item", items)):
        if (levels.codes < 0).any():
            row = int((levels.codes < 0).argmax())
            raise TableError(
                f"{table.location(row, roles[role])} must name the {spoken(role)}; it is empty."
            )
    task = table.levels(roles["task"]) if "task" in roles else None
    cluster = table.levels(roles["cluster"]) if "cluster" in roles else None
    scores = _scores(table, roles["score"])
    epochs = _epochs(table, roles.get("epoch"))
    status = _statuses(table, roles.get("status"), "status" in asked.columns, rows)
    amounts = {role: table.numbers(roles[role]) for role in AMOUNTS if role in roles}
    task_names = [*(task.names if task is not None else ("task",))]
    tasks.update(task_names if task is not None else ())
    task_codes = task.codes if task is not None else np.zeros(table.n_rows, dtype=np.int64)
    if (task_codes < 0).any():
        task_names.append("task")
        task_codes = np.where(task_codes < 0, len(task_names) - 1, task_codes)
    wanted = np.array([asked.wants_task(name) for name in task_names], dtype=bool)
    keep: Any = slice(None) if wanted.all() else wanted[task_codes]
    if not wanted.all() and not keep.any():
        return
    who = np.array([rows.learner(name) for name in learners.names], dtype=np.int32)
    if len(task_names) == 1:
        place, pairs = items.codes, np.arange(len(items.names))
    else:
        place, pairs = pd.factorize(task_codes[keep] * len(items.names) + items.codes[keep])
    codes = np.empty(len(pairs), dtype=np.int32)
    at_task, at_item = np.divmod(pairs, len(items.names))
    for task_code in np.unique(at_task).tolist():
        here = np.flatnonzero(at_task == task_code)
        names = [items.names[i] for i in at_item[here].tolist()]
        codes[here] = rows.items_of(task_names[task_code], names)
    if cluster is not None:
        _set_clusters(cluster, keep, place, pairs, items.names, task_names, rows, table)
    rows.extend(
        who[learners.codes[keep]],
        codes[place],
        epoch=None if epochs is None else epochs[keep],
        score=(_without(np.isin(status, _NO_SCORE), scores) if status.any() else scores)[keep],
        status=status[keep],
        **{
            role: _without(~((values >= 0) & np.isfinite(values)), values)[keep]
            for role, values in amounts.items()
        },
    )


def _without(where: Any, values: Floats) -> Floats:
    """The values with NaN where that holds."""
    return np.where(where, NAN, values) if where.any() else values


def _set_clusters(
    cluster: Levels,
    keep: Any,
    place: Any,
    pairs: Any,
    items: Sequence[str],
    tasks: Sequence[str],
    rows: EvalRows,
    table: Table,
) -> None:
    """Tell `rows` the cluster of every item, which is one."""
    groups = cluster.codes[keep]
    known = groups >= 0
    found = np.unique(np.stack([place[known], groups[known]]), axis=1)
    for at, group in found.T.tolist():
        at_task, at_item = divmod(int(pairs[at]), len(items))
        rows.item(tasks[at_task], items[at_item], cluster=cluster.names[group], where=table.source)


def _asked_roles(columns: tuple[str, ...], source: str, asked: AskedOfLogs) -> dict[str, str]:
    given: dict[str, str] = {}
    for role, column in asked.columns.items():
        if role not in ROLES:
            raise UnknownNameError("role of a column", role, [spoken(name) for name in ROLES])
        if column not in columns:
            raise UnknownNameError("column", column, columns, source)
        given[role] = column
    if asked.cluster is not None:
        if asked.cluster not in columns:
            raise UnknownNameError("column", asked.cluster, columns, source)
        given["cluster"] = asked.cluster
    if asked.metric and "score" not in given:
        found = next((name for name in asked.metric if name in columns), None)
        if found is None:
            raise UnknownNameError("column", asked.metric[0], columns, source)
        given["score"] = found
    if len(set(given.values())) < len(given):
        raise ArgumentError(f"columns must be one for each role; got {given!r:.200}.")
    roles = _roles(columns, given)
    absent = [spoken(role) for role in _NEEDED if role not in roles]
    if absent:
        raise TableError(
            f"{source}: no column for {joined(absent)} among "
            f"{shortened([repr(c) for c in columns], 12)}; name it, such as "
            f"columns={{{absent[0]!r}: 'NAME'}} (on the command line --column {absent[0]}=NAME); "
            "tables with one row per fold or data set are for 'bestofk order'."
        )
    if asked.cluster is None:
        roles.pop("cluster", None)
    return roles


def _scores(table: Table, column: str) -> Any:
    """Numbers, with booleans as text; NaN where a cell is empty."""
    numbers = _numbers(table, column)
    if numbers is not None:
        return numbers
    text = table.text(column)
    found = np.full(table.n_rows, NAN)
    known: dict[str, float | None] = {}
    for row, cell in enumerate(text):
        if cell is None:
            continue
        if cell not in known:
            known[cell] = number_of(cell)
        value = known[cell]
        if value is None:
            again = " (the header again: keep one where files are joined)" if cell == column else ""
            raise TableError(
                f"{table.location(row, column)} must be a number, or true or false; got "
                f"{cell!r:.60}{again}."
            )
        found[row] = value
    return found


def _epochs(table: Table, column: str | None) -> Any:
    """Epochs from 1: numbers as they are, else each name is a number."""
    if column is None:
        return None
    values = _numbers(table, column)
    if (
        values is not None
        and np.isfinite(values).all()
        and (np.floor(values) == values).all()
        and np.abs(values).max(initial=0) < 1 << 30
    ):
        epochs = values.astype(np.int32)
        epochs -= min(int(epochs.min(initial=1)), 1) - 1
        return epochs
    return table.levels(column).codes + 2


def _numbers(table: Table, column: str) -> Floats | None:
    """The column as numbers; None where a cell is none."""
    try:
        return table.numbers(column)
    except TableError:
        return None


def _statuses(
    table: Table, column: str | None, named: bool, rows: EvalRows
) -> npt.NDArray[np.int8]:
    """Codes of the statuses; all scored where no column tells."""
    scored = np.zeros(table.n_rows, dtype=np.int8)
    if column is None:
        return scored
    levels = table.levels(column)
    codes = np.zeros(len(levels.names) + 1, dtype=np.int8)
    for at, name in enumerate(levels.names):
        word = _WORDS.get(name.lower(), name.lower())
        if word not in STATUSES:
            said = f"must be one of {', '.join(STATUSES)}; got {name!r:.40}"
            if named:
                row = int((levels.codes == at).argmax())
                raise TableError(f"{table.location(row, column)} {said}.")
            rows.note(f"Column {column!r} was not taken as the status, which {said}.")
            return scored
        codes[at] = STATUSES.index(word)
    return codes[levels.codes]

"""Any table with one row per learner, item and epoch: CSV, TSV, JSONL, Parquet.

A table without a column of learners holds one learner, named after the file. bestofk finds the
columns by their names, or the user names them: learner, task, item, cluster, epoch, score, cost,
latency, status, tokens_in, tokens_out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, BestOfKError, TableError, UnknownNameError, use
from bestofk._base.formatting import joined, shortened
from bestofk.data.tables.named_columns import ColumnSelection, read_named_columns
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Levels, Table
from bestofk.evals.query import LogQuery, pick_name, unknown_name
from bestofk.evals.rows import NAN, STATUSES, EvalRows, all_different, number_of
from bestofk.evals.sources import Source, without_copies
from bestofk.losses.columns import direction_of, normal
from bestofk.losses.doubts import plain_cells

ROLES: dict[str, tuple[str, ...]] = {
    "learner": ("learner", "model", "model_name", "model_id", "agent", "system", "provider",
                "algorithm", "variant", "method", "llm", "engine"),
    "item": ("item", "item_id", "question_id", "instance_id", "doc_id", "example_id",
             "problem_id", "case_id", "test_id", "prompt_id", "query_id", "input_id", "trace_id",
             "question", "instance", "example", "problem", "case", "prompt", "query", "task_id",
             "sample_id", "sample", "id", "idx", "index"),
    "score": ("score", "correct", "is_correct", "accuracy", "acc", "passed", "pass", "success",
              "resolved", "exact_match", "value", "result", "reward", "grade"),
    "task": ("task", "task_name", "dataset", "benchmark", "subset", "subject", "category",
             "task_id"),
    "epoch": ("epoch", "trial", "attempt", "repeat", "repetition", "rep", "run", "seed",
              "sample_index", "sample_idx", "sample_number", "sample_no", "sample_num",
              "generation", "generation_id", "completion_id", "attempt_id", "trial_id", "sample_id",
              "sample"),
    "metric": ("metric", "metric_name", "score_name", "scorer", "evaluator", "measure",
               "criterion", "name"),
    "cluster": ("cluster", "cluster_id", "passage", "passage_id", "group", "repo", "repository",
                "template"),
    "cost": ("cost", "cost_usd", "price", "total_cost", "usd"),
    "latency": ("latency", "latency_s", "seconds", "duration", "time", "working_time"),
    "status": ("status", "outcome"),
    "tokens_in": ("tokens_in", "input_tokens", "prompt_tokens"),
    "tokens_out": ("tokens_out", "output_tokens", "completion_tokens"),
}  # fmt: skip
"""Column names of each role, the most specific first."""
_SAMPLES = ("sample", "sample_id", "sample_index", "sample_idx", "sample_number", "sample_no",
            "sample_num")  # fmt: skip
"""Names of columns that hold items, or the answers to an item if another column names items."""
_SURE_SCORES = ("score", "correct", "is_correct", "accuracy", "passed", "pass", "success", "f1")
"""Columns that are scores, if a table has several of them."""
_METRIC_VALUES = ("score", "value", "result", "grade")
"""Score columns whose name does not say the metric, so that another column may."""
AMOUNTS = ("cost", "latency", "tokens_in", "tokens_out")
_REQUIRED = ("item", "score")
_UNSCORABLE = (STATUSES.index("error"), STATUSES.index("missing"))
_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq")
_SUFFIXES = (*_TABLES, ".jsonl", ".ndjson", ".json")
_STATUS_SYNONYMS = {
    "ok": "scored", "success": "scored", "done": "scored", "completed": "scored",
    "failed": "error", "failure": "error", "timeout": "limit", "truncated": "limit",
    "nan": "unscored", "none": "unscored", "skipped": "missing",
}  # fmt: skip


def is_long_table(source: Source) -> bool:
    """Return whether the file is a named table, or has columns with the names of the roles."""
    name = source.path.name.lower().removesuffix(".gz")
    if not name.endswith(_SUFFIXES):
        return False
    if source.named and name.endswith(_TABLES) and source.size and not source.is_binary:
        # the reader names missing columns
        return True
    try:
        required = _REQUIRED if source.named else ("learner", *_REQUIRED)
        return set(required) <= set(_roles(_columns(source), {}))
    except TableError:
        return False


def public_role(role: str) -> str:
    """Return the public name of a role: the learners of a log are models."""
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
    delimiter = max(",;\t|", key=first.count)
    return [cell.strip().strip('"') for cell in first.split(delimiter)]


def _roles(columns: Sequence[str], named: dict[str, str]) -> dict[str, str]:
    """Return the column of each role, those that the user named first."""
    roles = dict(named)
    plain = {normal(column): column for column in reversed(columns)}
    for role, names in ROLES.items():
        if role in roles:
            continue
        for name in names:
            column = plain.get(name)
            if column is not None and column not in roles.values():
                roles[role] = column
                break
    if "metric" not in named and normal(roles.get("score", "")) not in _METRIC_VALUES:
        # a column of metrics belongs to a column of numbers without a name of its own
        roles.pop("metric", None)
    return roles


def read_long_table(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of tables."""
    import pyarrow as pa

    sources = without_copies(sources, rows.note)
    tasks: set[str] = set()
    for source in sources:
        _read_file(source.path, query, rows, tasks)
    # pyarrow keeps the memory of tables that are not used any more
    pa.default_memory_pool().release_unused()
    if query.task and not len(rows):
        if not tasks:
            raise TableError(
                f"The table has no column of tasks, so task {query.task[0]!r} cannot be selected: "
                "name it, such as ",
                use(columns={"task": "NAME"}),
                ", or omit the task.",
            )
        raise unknown_name(query.task, sorted(tasks), "task", "the table")


def _read_file(path: Path, query: LogQuery, rows: EvalRows, tasks: set[str]) -> None:
    quick = read_named_columns(path, partial(_columns_to_read, query=query))
    try:
        if quick is not None:
            _read(quick, query, rows, tasks)
            return
    except BestOfKError:
        # read again with the slower reader, whose errors name the line
        pass
    _read(plain_cells(read_table(path)), query, rows, tasks, whole=True)


def _columns_to_read(columns: tuple[str, ...], *, query: LogQuery) -> ColumnSelection:
    """Return the columns of the roles."""
    roles = _checked_roles(columns, "", query)
    numbers = [roles[role] for role in (*AMOUNTS, "epoch") if role in roles]
    score = roles["score"]
    names = [column for column in roles.values() if column not in (*numbers, score)]
    return ColumnSelection(names, numbers, [score])


def _read(
    table: Table, query: LogQuery, rows: EvalRows, tasks: set[str], *, whole: bool = False
) -> None:
    """Read a table; `whole` says that it has all columns of the file."""
    roles = _checked_roles(table.columns, table.source, query)
    _refuse_unclear_items(table, roles, query)
    table, metric = _one_metric(table, roles, query)
    learners = table.levels(roles["learner"]) if "learner" in roles else _only(table, roles)
    _refuse_unclear_repeats(table, roles, whole=whole)
    rows.account += [sentence for sentence in table.account if sentence not in rows.account]
    rows.note(
        f"{table.source}: "
        + joined([f"{public_role(role)} from {column!r}" for role, column in roles.items()])
        + "."
    )
    rows.metric(metric)
    if _unclear_direction(table, roles, metric):
        rows.unclear_metrics.add(metric)
    items = table.levels(roles["item"])
    for role, levels in (("learner", learners), ("item", items)):
        if (levels.codes < 0).any():
            row = int((levels.codes < 0).argmax())
            raise TableError(
                f"{table.location(row, roles[role])} must name the {public_role(role)}; it is "
                "empty."
            )
    task = table.levels(roles["task"]) if "task" in roles else None
    cluster = table.levels(roles["cluster"]) if "cluster" in roles else None
    scores = _scores(table, roles["score"])
    epochs = _epochs(table, roles.get("epoch"))
    status = _statuses(table, roles.get("status"), "status" in query.columns, rows)
    amounts = {role: table.numbers(roles[role]) for role in AMOUNTS if role in roles}
    task_names = [*(task.names if task is not None else ("task",))]
    tasks.update(task_names if task is not None else ())
    task_codes = task.codes if task is not None else np.zeros(table.n_rows, dtype=np.int64)
    if (task_codes < 0).any():
        task_names.append("task")
        task_codes = np.where(task_codes < 0, len(task_names) - 1, task_codes)
    selected = np.array([query.wants_task(name) for name in task_names], dtype=bool)
    keep: Any = slice(None) if selected.all() else selected[task_codes]
    if not selected.all() and not keep.any():
        return
    learner_codes = np.array([rows.learner(name) for name in learners.names], dtype=np.int32)
    if len(task_names) == 1:
        pair_index, pairs = items.codes, np.arange(len(items.names))
    else:
        # pairs of task and item
        pair_index, pairs = pd.factorize(task_codes[keep] * len(items.names) + items.codes[keep])
    codes = np.empty(len(pairs), dtype=np.int32)
    pair_task, pair_item = np.divmod(pairs, len(items.names))
    for task_code in np.unique(pair_task).tolist():
        of_task = np.flatnonzero(pair_task == task_code)
        names = [items.names[i] for i in pair_item[of_task].tolist()]
        codes[of_task] = rows.items_of(task_names[task_code], names)
    if cluster is not None:
        _set_clusters(cluster, keep, pair_index, pairs, items.names, task_names, rows, table)
    rows.extend(
        learner_codes[learners.codes[keep]],
        codes[pair_index],
        epoch=None if epochs is None else epochs[keep],
        score=(_masked(np.isin(status, _UNSCORABLE), scores) if status.any() else scores)[keep],
        status=status[keep],
        **{
            role: _masked(~((values >= 0) & np.isfinite(values)), values)[keep]
            for role, values in amounts.items()
        },
    )


def _only(table: Table, roles: dict[str, str]) -> Levels:
    """Return one learner with the name of the file; raise if an item has several answers."""
    answers = [table.levels(roles[role]).codes for role in ("task", "item", "epoch")
               if role in roles]  # fmt: skip
    if len(np.unique(np.stack(answers), axis=1).T) < table.n_rows:
        raise _absent_columns(["model"], table.columns, table.source)
    name = Path(table.source).name.removesuffix(".gz").rpartition(".")[0]
    return Levels(names=(name,), codes=np.zeros(table.n_rows, dtype=np.int64))


def _refuse_unclear_items(table: Table, roles: dict[str, str], query: LogQuery) -> None:
    """Raise if the values do not show which of two columns names the items.

    Numbers of samples that repeat within each item are epochs. Samples that belong to one item each
    may be items themselves, in groups.
    """
    item, epoch = roles["item"], roles.get("epoch")
    if epoch is None or {"item", "epoch"} & set(query.columns) or normal(epoch) not in _SAMPLES:
        return
    items, samples = table.levels(item), table.levels(epoch)
    pairs = len(np.unique(items.codes.astype(np.int64) * (len(samples.names) + 1) + samples.codes))
    own = pairs == len(samples.names) and pairs > len(items.names)
    many = normal(item) == "task_id" and len(samples.names) > len(items.names)
    if own or many:
        raise TableError(
            f"{table.source}: the items may be {item!r} ({len(items.names)}) or {epoch!r} "
            f"({len(samples.names)}): pass ",
            use(columns={"item": item, "epoch": epoch}),
            f" if {epoch!r} numbers the answers to each {item!r}, or ",
            use(columns={"item": epoch, "task": item}),
            f" if each {epoch!r} is an item.",
        )


def _refuse_unclear_repeats(table: Table, roles: dict[str, str], *, whole: bool) -> None:
    """Raise if a column without a role distinguishes the answers of a model to an item."""
    if "epoch" in roles:
        return
    named = [table.levels(roles[role]) for role in ("learner", "task", "item") if role in roles]
    cells, span = np.zeros(table.n_rows, dtype=np.int64), 1
    for levels in named:
        # an empty cell has the code -1
        cells *= len(levels.names) + 1
        cells += levels.codes
        cells += 1
        span *= len(levels.names) + 1
    if span < 1 << 62 and all_different(cells, span):
        return
    if not whole:
        raise TableError("the other columns are needed")
    for column in table.columns:
        if column in roles.values() or 2 * len(table.cells[column].unique()) > table.n_rows:
            continue
        levels = table.levels(column)
        if len(pd.unique(cells * (len(levels.names) + 1) + levels.codes)) < table.n_rows:
            continue
        raise TableError(
            f"{table.source}: models have several answers to an item, which the column {column!r} "
            "distinguishes: pass ",
            use(columns={"epoch": column}),
            " to average them, or ",
            use(columns={"task": column}),
            " ",
            use(task=levels.names[0]),
            " to select one.",
        )


def _one_metric(table: Table, roles: dict[str, str], query: LogQuery) -> tuple[Table, str]:
    """Return the rows of one metric if a column names metrics, and the name of the metric."""
    column = roles.get("metric")
    if column is None:
        return table, roles["score"]
    levels = table.levels(column)
    names = levels.names
    if not query.metric and len(names) > 1:
        names_of_answer = [roles[role] for role in ("learner", "item") if role in roles]
        cells = zip(*(table.levels(name).codes.tolist() for name in names_of_answer),
                    levels.codes.tolist(), strict=True)  # fmt: skip
        by_cell: dict[tuple[int, ...], set[int]] = {}
        for *answer, metric in cells:
            by_cell.setdefault(tuple(answer), set()).add(metric)
        if all(len(each) == 1 for each in by_cell.values()) and column not in query.columns:
            # the column does not distinguish scores of one answer: it is no column of metrics
            roles.pop("metric")
            return table, roles["score"]
    name = pick_name(query.metric, names, what="metric", where=f"{table.source}, {column!r},")
    if name is None:
        raise unknown_name(query.metric, names, "metric", table.source)
    return table.take(levels.codes == names.index(name)), name


def _unclear_direction(table: Table, roles: dict[str, str], metric: str) -> bool:
    """Return whether only the user can know the direction: an unknown name, or graded values."""
    if direction_of(metric) in ("loss", "score") or normal(metric) == "score":
        return False
    scores = _scores(table, roles["score"])
    known = scores[np.isfinite(scores)]
    return normal(metric) not in ROLES["score"] or not np.isin(known, (0.0, 1.0)).all()


def _masked(mask: Any, values: Floats) -> Floats:
    """Return the values with NaN under the mask."""
    return np.where(mask, NAN, values) if mask.any() else values


def _set_clusters(
    cluster: Levels,
    keep: Any,
    pair_index: Any,
    pairs: Any,
    items: Sequence[str],
    tasks: Sequence[str],
    rows: EvalRows,
    table: Table,
) -> None:
    """Set the cluster of every item."""
    groups = cluster.codes[keep]
    known = groups >= 0
    combinations = np.unique(np.stack([pair_index[known], groups[known]]), axis=1)
    for pair, group in combinations.T.tolist():
        task, item = divmod(int(pairs[pair]), len(items))
        rows.item(tasks[task], items[item], cluster=cluster.names[group], where=table.source)


def _checked_roles(columns: tuple[str, ...], source: str, query: LogQuery) -> dict[str, str]:
    """Return the column of each role, or raise an error that names what is missing."""
    named: dict[str, str] = {}
    for role, column in query.columns.items():
        if role not in ROLES:
            raise UnknownNameError("role of a column", role, [public_role(name) for name in ROLES])
        if column not in columns:
            raise UnknownNameError("column", column, columns, source)
        named[role] = column
    if query.cluster is not None:
        if query.cluster not in columns:
            raise UnknownNameError("column", query.cluster, columns, source)
        named["cluster"] = query.cluster
    by_rows = query.metric and "metric" in _roles(columns, named)
    if query.metric and "score" not in named and not by_rows:
        metric = next((name for name in query.metric if name in columns), None)
        if metric is None:
            raise UnknownNameError("column", query.metric[0], columns, source)
        named["score"] = metric
    if len(set(named.values())) < len(named):
        raise ArgumentError(f"columns must be different for each role; got {named!r:.200}.")
    roles = _roles(columns, named)
    scores = [column for column in columns if normal(column) in _SURE_SCORES]
    if "score" not in named and not query.metric and len(scores) > 1:
        raise TableError(
            f"{source}: {joined(list(map(repr, scores)))} may each be the score: choose one with ",
            use(metric=scores[0]),
            ".",
        )
    absent = [public_role(role) for role in _REQUIRED if role not in roles]
    if absent:
        raise _absent_columns(absent, columns, source)
    if query.cluster is None:
        roles.pop("cluster", None)
    return roles


def _absent_columns(roles: Sequence[str], columns: Sequence[str], source: str) -> TableError:
    return TableError(
        f"{source}: no column for {joined(roles)} among "
        f"{shortened([repr(c) for c in columns], 12)}; name it, such as ",
        use(columns={roles[0]: "NAME"}),
        "; for tables with one row per fold or data set use 'bestofk order'.",
    )


def _scores(table: Table, column: str) -> Any:
    """Return numbers, also of booleans as text; NaN for an empty cell."""
    numbers = _numbers(table, column)
    if numbers is not None:
        return numbers
    text = table.text(column)
    scores = np.full(table.n_rows, NAN)
    known: dict[str, float | None] = {}
    for row, cell in enumerate(text):
        if cell is None:
            continue
        if cell not in known:
            known[cell] = number_of(cell)
        value = known[cell]
        if value is None:
            again = " (the header again: keep one when you join files)" if cell == column else ""
            raise TableError(
                f"{table.location(row, column)} must be a number, or true or false; got "
                f"{cell!r:.60}{again}."
            )
        scores[row] = value
    return scores


def _epochs(table: Table, column: str | None) -> Any:
    """Return epochs from 1: numbers as they are, else one number for each name."""
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
    """Return the column as numbers; None if a cell is not a number."""
    try:
        return table.numbers(column)
    except TableError:
        return None


def _statuses(
    table: Table, column: str | None, named: bool, rows: EvalRows
) -> npt.NDArray[np.int8]:
    """Return the codes of the statuses; all scored without a column."""
    scored = np.zeros(table.n_rows, dtype=np.int8)
    if column is None:
        return scored
    levels = table.levels(column)
    codes = np.zeros(len(levels.names) + 1, dtype=np.int8)
    for level, name in enumerate(levels.names):
        status = _STATUS_SYNONYMS.get(name.lower(), name.lower())
        if status not in STATUSES:
            requirement = f"must be one of {', '.join(STATUSES)}; got {name!r:.40}"
            if named:
                row = int((levels.codes == level).argmax())
                raise TableError(f"{table.location(row, column)} {requirement}.")
            rows.note(f"Column {column!r} was not used as the status, which {requirement}.")
            return scored
        codes[level] = STATUSES.index(status)
    return codes[levels.codes]

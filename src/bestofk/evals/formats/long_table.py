"""Any table with one row per learner, item and epoch: CSV, TSV, JSON, JSONL, Parquet.

A table without a column of learners holds one learner, named after the file. bestofk finds the
columns by their names, or the user names them: learner, task, item, cluster, epoch, score, cost,
latency, status, tokens_in, tokens_out. Values within objects have dotted names. A table without
columns of learners and of scores may be wide: one row per item, and one column per learner.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import (
    Advice,
    ArgumentError,
    BestOfKError,
    BestOfKWarning,
    TableError,
    UnknownNameError,
    use,
)
from bestofk._base.formatting import joined, shortened
from bestofk.data.cells import Levels
from bestofk.data.tables.arrow_files import ColumnSelection, parquet_names, read_named_columns
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.evals.query import LogQuery, pick_name, unknown_name
from bestofk.evals.rows import NAN, STATUSES, EvalRows, all_different, matches, number_of
from bestofk.evals.sources import Source, without_copies
from bestofk.losses.columns import EVAL_ROLES, direction_of, find, normal

_SAMPLES = ("sample", "sample_id", "sample_index", "sample_idx", "sample_number", "sample_no",
            "sample_num")  # fmt: skip
"""Names of columns that hold items, or the answers to an item if another column names items."""
_CONTENTS = ("question", "prompt", "query", "problem", "input", "inputs", "user_input", "request")
"""Names of columns that hold the content of an item."""
_ANSWERS = ("answer", "response", "output", "outputs", "completion", "prediction", "generation",
            "actual_output", "model_response", "reference", "ground_truth", "expected_output",
            "retrieved_contexts", "contexts")  # fmt: skip
"""Columns of a table about one model, whose columns of numbers are metrics."""
_CONTAINERS = ("scores", "feedback", "metrics_data", "evaluations", "score", "metric", "metrics")
"""Objects that hold scores by the name of the metric, the most specific first."""
_SURE_SCORES = ("score", "correct", "is_correct", "accuracy", "acc", "passed", "pass", "success",
                "exact_match", "f1")  # fmt: skip
"""Columns that are scores, if a table has several of them."""
_METRIC_VALUES = ("score", "value", "result", "grade")
"""Score columns whose name does not say the metric, so that another column may."""
AMOUNTS = ("cost", "latency", "tokens_in", "tokens_out")
_REQUIRED = ("item", "score")
_MEANS = ("mean", "average", "avg", "overall", "mean_score", "average_score", "overall_score",
          "macro_average", "macro_avg", "micro_average", "micro_avg")  # fmt: skip
"""Names of rows that summarise the items."""
_MAYBE_MEAN = re.compile("mean|average|avg|overall", re.IGNORECASE)
_UNSCORABLE = (STATUSES.index("error"), STATUSES.index("missing"))
_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq")
_JSON = (".jsonl", ".ndjson", ".json")
_SUFFIXES = (*_TABLES, *_JSON)
_STATUS_SYNONYMS = {
    "ok": "scored", "success": "scored", "done": "scored", "completed": "scored",
    "failed": "error", "failure": "error", "timeout": "limit", "truncated": "limit",
    "nan": "unscored", "none": "unscored", "skipped": "missing",
}  # fmt: skip


def is_long_table(source: Source) -> bool:
    """Return whether the file is a named table, or has columns with the names of the roles."""
    name = source.path.name.lower().removesuffix(".gz")
    if source.named and name.endswith(".xlsx") and source.size:
        return True
    if not name.endswith(_SUFFIXES):
        return False
    if source.named and name.endswith(_TABLES) and source.size and not source.is_binary:
        # the reader names missing columns
        return True
    try:
        if _has_scores(_columns(source), named=source.named):
            return True
        # rows within an object, or values within the objects of a row
        return name.endswith(_JSON) and _has_scores(
            read_table(source.path, nested=True).columns, named=source.named
        )
    except TableError:
        return False


def _has_scores(columns: Sequence[str], *, named: bool) -> bool:
    """Return whether there are columns of items and of scores; for a named file, of other cells."""
    roles = _roles(columns, {})
    return "item" in roles and (
        "score" in roles or bool(_metric_columns(columns)) or (named and len(columns) > 2)
    )


def public_role(role: str) -> str:
    """Return the public name of a role: the learners of a log are models."""
    return "model" if role == "learner" else role


def _columns(source: Source) -> Sequence[str]:
    if source.head[:4] == b"PAR1":
        return parquet_names(source.path)
    if source.head[:2] == b"\x1f\x8b":
        return read_table(source.path).columns
    if source.keys:
        return list(source.keys)
    first = re.split(r"[\r\n]", source.text_head.lstrip(), maxsplit=1)[0]
    delimiter = max(",;\t|", key=first.count)
    return [cell.strip().strip('"') for cell in first.split(delimiter)]


def _roles(columns: Sequence[str], named: dict[str, str]) -> dict[str, str]:
    """Return the column of each role, those that the user named first."""
    objects = _objects_of(columns)
    free = [
        column
        for column in columns
        # the text of an object can name an item
        if (column not in objects or normal(column) in EVAL_ROLES["item"])
        and column not in named.values()
    ]
    roles = {
        **named,
        **find(free, {role: names for role, names in EVAL_ROLES.items() if role not in named}),
    }
    if "metric" not in named and normal(roles.get("score", "")) not in _METRIC_VALUES:
        # a column of metrics belongs to a column of numbers without a name of its own
        roles.pop("metric", None)
    return roles


def _objects_of(columns: Sequence[str]) -> set[str]:
    """Return the columns whose values are in other columns, such as ``a`` of ``a.b``."""
    before = {column[:at] for column in columns for at, sign in enumerate(column) if sign == "."}
    return before & set(columns)


def _metric_columns(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that hold scores by the name of their metric.

    Examples
    --------
    >>> _metric_columns(["id", "scores.Factuality", "exact/value", "metricsData.A.score"])
    {'exact': 'exact/value', 'Factuality': 'scores.Factuality'}
    """
    metrics = {
        match[1]: column
        for column in columns
        if (match := re.fullmatch(r"(.+?)(?:/v\d+)?/(?:score|value)", column))
    }
    for container in _CONTAINERS:
        groups: dict[str, list[str]] = {}
        for column in columns:
            parts = column.split(".")
            at = next((i for i, part in enumerate(parts[:-1]) if normal(part) == container), None)
            if at is not None:
                groups.setdefault(parts[at + 1], []).append(column)
        for name, group in groups.items():
            scores = [column for column in group if column.endswith((".score", ".value"))]
            if len(group) == 1 or scores:
                metrics.setdefault(name, (scores or group)[0])
        if metrics:
            break
    return metrics


def _metric_name(column: str, columns: Sequence[str]) -> str:
    """Return the name of the metric whose scores a column holds."""
    names = [name for name, each in _metric_columns(columns).items() if each == column]
    return names[0] if names else column


def read_long_table(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of tables."""
    sources = _without_copies(sources, query, rows)
    query = _with_shared_items(sources, query, rows)
    tasks: set[str] = set()
    names = _file_names(sources)
    for source, name in zip(sources, names, strict=True):
        rows.model = source.model
        quick = read_named_columns(source.path, partial(_columns_to_read, query=query))
        try:
            if quick is not None:
                _read(quick, query, rows, tasks, name=name)
                continue
        except BestOfKError:
            # read again with the slower reader, whose errors name the line
            pass
        table = read_table(source.path, nested=True)
        _read(table, query, rows, tasks, whole=True, name=name)
    rows.model = None
    if query.task and not len(rows):
        if not tasks:
            raise TableError(
                f"The table has no column of tasks, so task {query.task[0]!r} cannot be selected: "
                "name it, such as ",
                use(columns={"task": "NAME"}),
                ", or omit the task.",
            )
        raise unknown_name(query.task, sorted(tasks), "task", "the table")


def read_frames(frames: Mapping[str, Any], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of data frames by model; the model ``""`` is in a column of the frame."""
    for model, frame in frames.items():
        table = Table.from_frame(frame, source=f"the data frame of {model!r}" if model else
                                 "the data frame")  # fmt: skip
        rows.model = model or None
        _read(table, query, rows, set(), whole=True)
    rows.model = None


def _without_copies(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> Sequence[Source]:
    """Skip copies of files whose rows name the model; without that, equal files are two models."""
    copies = [source for source in sources if source.model is None and "learner" in
              _roles(_columns(source), dict(query.columns))]  # fmt: skip
    originals = set(map(id, without_copies(copies, rows.note)))
    return [source for source in sources if source not in copies or id(source) in originals]


def _file_names(sources: Sequence[Source]) -> list[str]:
    """Return a name for each file: without its suffix, or of its folder if that is not unique."""
    forms = ([source.stem for source in sources],
             [source.path.resolve().parent.name for source in sources],
             [source.path.name for source in sources])  # fmt: skip
    counted = [(names, Counter(names)) for names in forms]
    paths = [str(source.path) for source in sources]
    return [
        next((names[k] for names, count in counted if count[names[k]] == 1), paths[k])
        for k in range(len(sources))
    ]


def _with_shared_items(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> LogQuery:
    """Name the column of the items if the first one by name differs from file to file.

    Many tools give every run new numbers, so that two runs share no number, or share numbers of
    different questions.
    """
    if "item" in query.columns or len(sources) < 2:
        return query
    first = sources[0]
    second = next((each for each in sources[1:] if each.stem != first.stem), sources[1])
    candidates = [column for column in _item_columns(_columns(first), query)
                  if column in _columns(second)]  # fmt: skip
    if len(candidates) < 2 and not _is_json(first):
        return query
    tables = [_item_table(source, query) for source in (first, second)]
    if any("learner" in _roles(table.columns, dict(query.columns)) for table in tables):
        return query
    candidates = [column for column in _item_columns(tables[0].columns, query)
                  if column in tables[1]]  # fmt: skip
    if not candidates:
        return query
    names = {column: [table.text(column).tolist() for table in tables] for column in candidates}
    shared = [column for column, (one, two) in names.items() if {*one} & {*two} - {None}]
    content = next((column for column in shared if normal(column) in _CONTENTS), None)
    if content is not None and shared[0] != content:
        one, two = (dict(zip(names[shared[0]][k], names[content][k], strict=True)) for k in (0, 1))
        if any(two.get(name, text) != text for name, text in one.items()):
            shared = [content]
    if not shared or shared[0] == candidates[0]:
        return query
    rows.note(
        f"Items are paired by {shared[0]!r}, because {candidates[0]!r} differs from file to file."
    )
    return replace(query, columns={**query.columns, "item": shared[0]})


def _is_json(source: Source) -> bool:
    return source.path.name.lower().removesuffix(".gz").endswith(_JSON)


def _item_columns(columns: Sequence[str], query: LogQuery) -> list[str]:
    """Return the columns that may name the items, the first by name first."""
    plain = {normal(column): column for column in reversed(columns)}
    used = {*query.columns.values(), query.cluster, *query.metric}
    return [plain[name] for name in EVAL_ROLES["item"] if name in plain and plain[name] not in used]


def _item_table(source: Source, query: LogQuery) -> Table:
    """Return the columns that may name the items."""

    def choose(columns: tuple[str, ...]) -> ColumnSelection:
        return ColumnSelection(_item_columns(columns, query), [])

    return read_named_columns(source.path, choose) or read_table(source.path, nested=True)


def _columns_to_read(columns: tuple[str, ...], *, query: LogQuery) -> ColumnSelection:
    """Return the columns of the roles."""
    roles = _checked_roles(columns, "", query)
    numbers = [roles[role] for role in (*AMOUNTS, "epoch") if role in roles]
    score = roles["score"]
    names = [column for column in roles.values() if column not in (*numbers, score)]
    return ColumnSelection(names, numbers, [score])


def _read(
    table: Table,
    query: LogQuery,
    rows: EvalRows,
    tasks: set[str],
    *,
    whole: bool = False,
    name: str = "",
) -> None:
    """Read a table; `whole` says that it has all columns of the file.

    `name` is that of the model if no column names the models.
    """
    roles = _checked_roles(table.columns, table.source, query, table if whole else None)
    if "score" not in roles:
        _read_wide(table, roles, query, rows, tasks)
        return
    _refuse_unclear_items(table, roles, query)
    table, metric = _one_metric(table, roles, query)
    metric = _metric_name(metric, table.columns)
    table = _without_means(_with_names(table, roles), roles["item"], rows)
    _share_items(table, roles, query, whole=whole)
    learners = (
        table.levels(roles["learner"]) if "learner" in roles else _only(table, roles, rows, name)
    )
    _refuse_unclear_repeats(table, roles, whole=whole)
    rows.account += [sentence for sentence in table.account if sentence not in rows.account]
    rows.note(
        f"{table.source}: "
        + joined([f"{public_role(role)} from {column!r}" for role, column in roles.items()])
        + "."
    )
    rows.metric(metric)
    if "usd" in normal(roles.get("cost", "")):
        rows.currency = "USD"
    scores = _scores(table, roles["score"])
    if _unclear_direction(scores, metric):
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
    epochs = _epochs(table, roles.get("epoch"))
    status = _statuses(table, roles.get("status"), "status" in query.columns, rows)
    amounts = {role: table.numbers(roles[role]) for role in AMOUNTS if role in roles}
    task_names = [*(task.names if task is not None else ("task",))]
    tasks.update(task_names if task is not None else ())
    task_codes = task.codes if task is not None else np.broadcast_to(np.int32(0), table.n_rows)
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
        import pandas as pd

        cells = task_codes[keep].astype(np.int64) * len(items.names) + items.codes[keep]
        pair_index, pairs = pd.factorize(cells)
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


def _without_means(table: Table, item: str, rows: EvalRows) -> Table:
    """Leave out the rows of means of all items, and say so."""
    levels = table.levels(item)
    summary = np.array(
        [_MAYBE_MEAN.search(name) is not None and normal(name) in _MEANS for name in levels.names],
        dtype=bool,
    )
    if not summary.any() or summary.all():
        return table
    names = [name for name, means in zip(levels.names, summary, strict=True) if means]
    sentence = f"{table.source}: left out, as they are means of the items: {joined(names)}."
    rows.note(sentence)
    warnings.warn(BestOfKWarning(sentence), stacklevel=2)
    return table.take(~(summary[levels.codes] & (levels.codes >= 0)))


def _with_names(table: Table, roles: dict[str, str]) -> Table:
    """Skip rows without item and score, such as a summary, and rows of parts of an answer."""
    empty = (table.levels(roles["item"]).codes < 0) & table.missing(roles["score"])
    if "is_root" in table:
        # a trace has a root, which has the scores, and the spans below it
        empty |= (table.text("is_root") == "False") & table.missing(roles["score"])
    return table.take(~empty) if empty.any() and not empty.all() else table


def _share_items(table: Table, roles: dict[str, str], query: LogQuery, *, whole: bool) -> None:
    """Choose another column of items if each item of the first belongs to one learner only."""
    if "learner" not in roles or "item" in query.columns:
        return

    def shared(column: str) -> bool:
        items, learners = table.levels(column), table.levels(roles["learner"])
        one = np.empty(len(items.names) + 1, dtype=np.int32)
        one[items.codes] = learners.codes
        return len(learners.names) < 2 or bool((one[items.codes] != learners.codes).any())

    if shared(roles["item"]):
        return
    if not whole:
        raise TableError("the other columns are needed")
    used = [column for role, column in roles.items() if role != "item"]
    for column in _item_columns(table.columns, query):
        if column not in used and shared(column):
            roles["item"] = column
            return


def _only(table: Table, roles: dict[str, str], rows: EvalRows, name: str) -> Levels:
    """Return one learner with the name of the file; raise if an item has several answers."""
    answers = [table.levels(roles[role]).codes for role in ("task", "item", "epoch")
               if role in roles]  # fmt: skip
    if rows.model is None and (
        not table.from_file or len(np.unique(np.stack(answers), axis=1).T) < table.n_rows
    ):
        raise _absent_columns(
            ["model"],
            table.columns,
            table.source,
            ", or pass ",
            use(models={"NAME": "FILE"}),
            " if the file is one model that answered its items several times",
        )
    return Levels(names=(name or "model",), codes=np.zeros(table.n_rows, dtype=np.int32))


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
    columns = [(levels.codes, len(levels.names)) for levels in named]
    if all_different(columns):
        return
    if not whole:
        raise TableError("the other columns are needed")
    for column in table.columns:
        if (
            column in roles.values()
            or 2 * len(np.unique(table.levels(column).codes)) > table.n_rows
        ):
            continue
        levels = table.levels(column)
        if not all_different([*columns, (levels.codes, len(levels.names))]):
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
        # models with different metrics are not comparable, but a name may be that of the model
        by_item = normal(column) != "name"
        for *answer, metric in cells:
            by_cell.setdefault(tuple(answer[-1:] if by_item else answer), set()).add(metric)
        if all(len(each) == 1 for each in by_cell.values()) and column not in query.columns:
            # the column does not distinguish scores of one item: it is no column of metrics
            roles.pop("metric")
            return table, roles["score"]
    name = pick_name(query.metric, names, what="metric", where=f"{table.source}, {column!r},")
    if name is None:
        raise unknown_name(query.metric, names, "metric", table.source)
    return table.take(levels.codes == names.index(name)), name


def _unclear_direction(scores: Floats, metric: str) -> bool:
    """Return whether only the user can know the direction: an unknown name, or graded values."""
    metric = metric.rpartition(".")[2]
    if direction_of(metric) in ("loss", "score") or normal(metric) == "score":
        return False
    known = scores[np.isfinite(scores)]
    return normal(metric) not in EVAL_ROLES["score"] or not np.isin(known, (0.0, 1.0)).all()


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


def _checked_roles(
    columns: tuple[str, ...], source: str, query: LogQuery, table: Table | None = None
) -> dict[str, str]:
    """Return the column of each role, or raise an error that names what is missing.

    A whole `table` may be wide, without a column of scores.
    """
    named: dict[str, str] = {}
    metrics = _metric_columns(columns)
    for role, column in query.columns.items():
        if role not in EVAL_ROLES:
            raise UnknownNameError(
                "role of a column", role, [public_role(name) for name in EVAL_ROLES]
            )
        if column not in columns:
            raise UnknownNameError("column", column, columns, source)
        named[role] = column
    if query.cluster is not None:
        if query.cluster not in columns:
            raise UnknownNameError("column", query.cluster, columns, source)
        named["cluster"] = query.cluster
    by_rows = query.metric and "metric" in _roles(columns, named)
    if query.metric and "score" not in named and not by_rows:
        metric = next((name for name in query.metric if name in (*columns, *metrics)), None)
        if metric is None:
            raise UnknownNameError(
                "metric" if metrics else "column", query.metric[0], metrics or columns, source
            )
        named["score"] = metric if metric in columns else metrics[metric]
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
    if "score" not in roles and metrics:
        roles["score"] = metrics[pick_name((), metrics, what="metric", where=source) or ""]
    if "score" not in roles and table is not None and "learner" not in roles:
        numbers = _number_columns(table, roles, query)
        if len(numbers) > 1 and not _is_one_model(table, numbers):
            return roles
        if numbers and "item" in roles:
            pick_name((), numbers, what="metric", where=source)
            roles["score"] = numbers[0]
    absent = [public_role(role) for role in _REQUIRED if role not in roles]
    if absent:
        raise _absent_columns(absent, columns, source)
    if query.cluster is None:
        roles.pop("cluster", None)
    return roles


def _number_columns(table: Table, roles: dict[str, str], query: LogQuery) -> list[str]:
    """Return the columns without a role that hold numbers or booleans."""
    numbers = []
    for column in table.columns:
        if column in roles.values():
            continue
        if matches(column, query.exclude):
            query.excluded.add(column)
            continue
        try:
            if np.isfinite(_scores(table, column)).any():
                numbers.append(column)
        except TableError:
            continue
    return numbers


def _is_one_model(table: Table, numbers: Sequence[str]) -> bool:
    """Return whether columns of numbers are metrics of one model, not models."""
    others = {normal(column) for column in table.columns}
    return bool(others & set(_ANSWERS)) or any(
        direction_of(column) is not None for column in numbers
    )


def _read_wide(
    table: Table, roles: dict[str, str], query: LogQuery, rows: EvalRows, tasks: set[str]
) -> None:
    """Read a table with one row per item and one column per learner."""
    models = _number_columns(table, roles, query)
    scores = {column: _scores(table, column) for column in models}
    binary = [column for column in models if np.nanmax(np.abs(scores[column])) <= 1]
    if binary and len(binary) < len(models):
        other = next(column for column in models if column not in binary)
        raise TableError(
            f"{table.source}: the column {other!r} has numbers up to {np.nanmax(scores[other]):g}, "
            f"and {binary[0]!r} has none above 1, so they are not scores of two models: pass ",
            use(exclude=other),
            " if it is not a model.",
        )
    item = roles.get("item") or next(
        (column for column in table.columns if column not in (*models, *roles.values())
         and len(table.levels(column).names) == table.n_rows), None
    )  # fmt: skip
    levels = None if item is None else table.levels(item)
    names = [str(row + 1) for row in range(table.n_rows)] if levels is None else [
        levels.names[code] if code >= 0 else "" for code in levels.codes
    ]  # fmt: skip
    if "" in names or (len({*names}) < len(names) and "task" not in roles):
        row = names.index("") if "" in names else next(
            row for row, name in enumerate(names) if name in names[:row])  # fmt: skip
        raise TableError(
            f"{table.location(row, item)} must name the item, each once; got {names[row]!r:.60}."
        )
    task = table.levels(roles["task"]) if "task" in roles else None
    stem = Path(table.source).name.removesuffix(".gz").rpartition(".")[0] or "task"
    row_tasks = [stem] * table.n_rows if task is None else [
        task.names[code] if code >= 0 else stem for code in task.codes
    ]  # fmt: skip
    tasks.update(row_tasks)
    rows.account += [sentence for sentence in table.account if sentence not in rows.account]
    rows.note(
        f"{table.source}: a model in each of the columns {joined(list(map(repr, models)))}; "
        f"items from {'the numbers of the rows' if item is None else repr(item)}."
    )
    metric = "score"
    values = np.unique(np.concatenate(list(scores.values())))
    if not any(set(values[np.isfinite(values)]) <= {0.0, right} for right in (1.0, 100.0)):
        metric = stem if direction_of(stem) in ("loss", "score") else metric
        rows.unclear_metrics |= {metric} - {stem}
    rows.metric(metric)
    clusters = None if query.cluster is None else table.levels(query.cluster)
    for row, (name, each) in enumerate(zip(names, row_tasks, strict=True)):
        if not query.wants_task(each):
            continue
        cluster = None
        if clusters is not None and clusters.codes[row] >= 0:
            cluster = clusters.names[clusters.codes[row]]
        code = rows.item(each, name, cluster=cluster, where=table.source)
        for column in models:
            rows.add(rows.learner(column), code, score=float(scores[column][row]))


def _absent_columns(
    roles: Sequence[str], columns: Sequence[str], source: str, *advice: str | Advice
) -> TableError:
    return TableError(
        f"{source}: no column for {joined(roles)} among "
        f"{shortened([repr(c) for c in columns], 12)}; name it, such as ",
        use(columns={roles[0]: "NAME"}),
        *advice,
        "; for tables with one row per fold or data set use 'bestofk scores'.",
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

"""Tables of scores: one row per model, item and epoch, or one column per model.

A long table has columns for the item and the score, and one for the model unless each file is one
model. A wide table has one row per item and one column of scores per model. bestofk finds columns
by their names; the user names the others. Values within objects have dotted names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import (
    BestOfKError,
    TableError,
    UnknownNameError,
    use,
)
from bestofk._base.formatting import joined, shortened
from bestofk.data.cells import Levels
from bestofk.data.tables.arrow_files import ColumnSelection, read_named_columns
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.evals.query import RATED, LogQuery, higher_by_name, is_rating, pick_metric
from bestofk.evals.rows import (
    AMOUNTS,
    GROUPS,
    NAN,
    STATUSES,
    EvalRows,
    all_different,
    matches,
    number_of,
    only_means,
)
from bestofk.evals.sources import Source, file_names, is_copy
from bestofk.losses.columns import EVAL_ROLES, direction_of, find, normal

_CONTENTS = ("question", "prompt", "query", "problem", "input", "inputs", "user_input", "request")
"""Names of columns that hold the content of an item."""
_ANSWERS = ("answer", "response", "output", "outputs", "completion", "prediction", "generation",
            "actual_output", "model_response", "reference", "ground_truth", "expected_output",
            "retrieved_contexts", "contexts")  # fmt: skip
"""Columns of a table about one model, whose columns of numbers are metrics."""
_ERRORS = ("error", "error_message", "exception")
"""Columns whose texts say that a sample failed."""
_CONTAINERS = ("scores", "feedback", "evaluations", "score", "metric", "metrics")
"""Objects that hold scores by the name of the metric."""
_SURE_SCORES = ("score", "correct", "is_correct", "accuracy", "acc", "passed", "pass", "success",
                "exact_match", "f1")  # fmt: skip
_METRIC_VALUES = ("score", "value", "result", "grade")
"""Score columns whose name does not say the metric, so that another column may."""
_ITEM, _MODEL, _SCORE = " item", " model", " score"
"""Columns of a wide table after it was made long."""
HEAD_ROWS = 1000
"""Rows that show which columns are metrics."""
_UNSCORABLE = (STATUSES.index("error"), STATUSES.index("missing"))
_STATUS_SYNONYMS = {
    "ok": "scored", "success": "scored", "done": "scored", "completed": "scored",
    "failed": "error", "failure": "error", "timeout": "limit", "truncated": "limit",
    "nan": "unscored", "none": "unscored", "skipped": "missing",
}  # fmt: skip


def read_tables(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of tables; without a column of models each file is one model."""
    names = dict(zip(sources, file_names(sources), strict=True))
    by_size: dict[int, list[Source]] = {}
    errors: list[BestOfKError] = []
    for source in sources:
        rows.stated_model = source.model
        try:
            reader = _reader(source, query, rows, names[source])
        except BestOfKError as error:
            if source.named:
                raise
            # a folder may hold other tables, too
            errors.append(error)
            continue
        if "model" in reader.roles and is_copy(source, by_size):
            rows.note(f"{source.name} is a copy of another file and was skipped.")
            continue
        reader.write()
    rows.stated_model = None
    if errors and len(errors) == len(sources):
        raise errors[0]
    for each in errors:
        rows.note(f"Skipped: {each}", shown=True)


def _reader(source: Source, query: LogQuery, rows: EvalRows, name: str) -> _Reader:
    """Read the columns that are needed, or the whole table if these do not suffice."""
    table = read_named_columns(source.path, partial(_columns_to_read, query=query))
    if table is not None:
        try:
            reader = _Reader(table, query, rows, name, whole=False)
            head = [*islice(source.document(rows.note), HEAD_ROWS)]
            reader.note_other_metrics(
                Table.from_columns({name: [row[name] for row in head] for name in head[0]})
            )
            return reader
        except BestOfKError:
            # the slower reader's errors name the line
            pass
    return _Reader(read_table(source.path, nested=True), query, rows, name, whole=True)


def read_frames(frames: Mapping[str, Any], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of data frames by model; the model ``""`` is in a column of the frame."""
    for model, frame in frames.items():
        source = f"the data frame of {model!r}" if model else "the data frame"
        rows.stated_model = model or None
        _Reader(Table.from_frame(frame, source=source), query, rows, "", whole=True).write()
    rows.stated_model = None


def _columns_to_read(columns: tuple[str, ...], *, query: LogQuery) -> ColumnSelection:
    """Return the columns of the roles."""
    roles = _roles(columns, "", query)
    numbers = [roles[role] for role in (*AMOUNTS, "epoch") if role in roles]
    score = roles["score"]
    names = [column for column in roles.values() if column not in (*numbers, score)]
    content = _content(columns, roles)
    more = [*_shared_keys(columns, roles, query), *([content] if content else [])]
    more += [column for column in columns if normal(column) in _ERRORS]
    return ColumnSelection([*names, *dict.fromkeys(more)], numbers, [score])


def _content(columns: Sequence[str], roles: Mapping[str, str]) -> str | None:
    """Return the content of the items if each file is one model, which may number them itself."""
    if "model" in roles:
        return None
    free = [column for column in columns if column not in roles.values()]
    return next((column for column in free if normal(column) in _CONTENTS), None)


def _shared_keys(columns: Sequence[str], roles: Mapping[str, str], query: LogQuery) -> list[str]:
    """Return the columns that items may share: a document, or the text of a question."""
    if query.cluster is not None:
        return []
    free = [column for column in columns if column not in roles.values()]
    keys = [column for column in free if normal(column) in GROUPS]
    return keys + [column for column in free if normal(column) in _CONTENTS]


# The columns


def _roles(
    columns: Sequence[str], source: str, query: LogQuery, table: Table | None = None
) -> dict[str, str]:
    """Return the column of each role; a whole `table` may be wide, without a column of scores."""
    named = dict(query.columns)
    if query.cluster is not None:
        named["cluster"] = query.cluster
    for role in named:
        if role not in EVAL_ROLES:
            raise UnknownNameError("role of a column", role, EVAL_ROLES)
    objects = {column[:at] for column in columns for at, sign in enumerate(column) if sign == "."}
    plain = [
        column
        for column in columns
        # the text of an object can name an item
        if column in named.values() or column not in objects or normal(column) in EVAL_ROLES["item"]
    ]
    roles = find(plain, EVAL_ROLES, named, source=source)
    if "metric" not in named and normal(roles.get("score", "")) not in _METRIC_VALUES:
        # a column of metrics belongs to a column of numbers without a name of its own
        roles.pop("metric", None)
    if "score" not in named and "metric" not in roles:
        scores = _score_columns(columns, roles, source, query, table)
        roles = {role: column for role, column in roles.items() if role != "score"}
        if scores:
            column = scores[str(pick_metric((), scores, source))]
            roles = {role: each for role, each in roles.items() if each != column}
            roles["score"] = column
    if query.cluster is None:
        roles.pop("cluster", None)
    absent = [role for role in ("item", "score") if role not in roles]
    if absent and ("score" in roles or table is None or not _model_columns(table, roles, query)):
        raise _absent_columns(absent, columns, source)
    return roles


def _score_columns(
    columns: Sequence[str],
    roles: Mapping[str, str],
    source: str,
    query: LogQuery,
    table: Table | None,
) -> dict[str, str]:
    """Return the columns that may be the score, by metric; none for a table with models."""
    within = _containers(columns)
    if query.metric:
        known = {column: column for column in columns} | within
        chosen = next((known[name] for name in query.metric if name in known), None)
        if chosen is None:
            free = {role: column for role, column in roles.items() if role != "score"}.values()
            others = [column for column in columns if column not in free]
            raise query.unknown_metric(within or others or columns, source)
        return {chosen: chosen}
    sure = [column for column in columns if normal(column) in _SURE_SCORES]
    by_name = sure or [column for role, column in roles.items() if role == "score"]
    candidates = {column: column for column in by_name} or within
    if not candidates and table is not None and "model" not in roles and "item" in roles:
        is_wide = bool(_model_columns(table, roles, query))
        numbers = [] if is_wide else _number_columns(table, roles, query)
        candidates = {column: column for column in numbers}
    if table is None or len(candidates) < 2:
        return candidates
    codes: Any = np.zeros(table.n_rows, dtype=np.int32)
    if "model" in roles:
        codes = table.levels(roles["model"]).codes
    # a mean of a whole model is no score
    scores = {name: _known_scores(table, column) for name, column in candidates.items()}
    varying = [name for name, values in scores.items() if not only_means(values, codes)]
    return {name: candidates[name] for name in varying} or candidates


def _containers(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns within objects of scores, by the name of their metric.

    Examples
    --------
    >>> _containers(["id", "scores.Factuality", "scores.Style"])
    {'Factuality': 'scores.Factuality', 'Style': 'scores.Style'}
    """
    metrics: dict[str, str] = {}
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


def _number_columns(table: Table, roles: Mapping[str, str], query: LogQuery) -> list[str]:
    """Return the columns without a role that hold numbers or words such as yes and no."""
    numbers = []
    for column in table.columns:
        if column in roles.values():
            continue
        if matches(column, query.exclude):
            query.excluded.add(column)
            continue
        if not np.isnan(_known_scores(table, column)).all():
            numbers.append(column)
    return numbers


def _known_scores(table: Table, column: str) -> Floats:
    """Return the scores of a column, all NaN if a cell is not one."""
    try:
        return _scores(table, column)
    except TableError:
        return np.full(table.n_rows, NAN)


def _model_columns(table: Table, roles: Mapping[str, str], query: LogQuery) -> list[str]:
    """Return the columns of numbers if they are models, not metrics of one model."""
    numbers = _number_columns(table, roles, query)
    others = {normal(column) for column in table.columns}
    if "model" in roles or min(len(numbers), table.n_rows) < 2 or others & set(_ANSWERS):
        return []
    return numbers if all(direction_of(column) is None for column in numbers) else []


def _absent_columns(roles: Sequence[str], columns: Sequence[str], source: str) -> TableError:
    return TableError(
        f"{source}: no column for {joined(roles)} among "
        f"{shortened([repr(c) for c in columns], 12)}; name it, such as ",
        use(columns={roles[0]: "NAME"}),
        *(() if roles[0] != "model" else (", or pass ", use(models={"NAME": "FILE"}))),
        "; for tables with one row per fold or data set use 'bestofk scores'.",
    )


# The cells


class _Reader:
    """One table; `name` is that of the model if no column names the models."""

    def __init__(
        self, table: Table, query: LogQuery, rows: EvalRows, name: str, *, whole: bool
    ) -> None:
        self.query, self.rows, self.name = query, rows, name
        self.roles = _roles(table.columns, table.source, query, table if whole else None)
        self.is_wide = "score" not in self.roles
        if self.is_wide:
            table, self.roles = _long(table, self.roles, query, rows)
        self.content = _content(table.columns, self.roles)
        self.metric = self.roles["score"]
        self.table = self._of_one_metric(table)
        if not self.is_wide:
            self._check(whole)
            if whole:
                self.note_other_metrics(table.take(np.arange(table.n_rows) < HEAD_ROWS))

    def _of_one_metric(self, table: Table) -> Table:
        """Return the rows of one metric if a column names metrics."""
        column = self.roles.get("metric")
        if self.is_wide:
            stem = Path(table.source).name.removesuffix(".gz").rpartition(".")[0]
            self.metric = stem if direction_of(stem) in ("loss", "score") else "score"
            return table
        if column is None:
            by_column = {each: name for name, each in _containers(table.columns).items()}
            self.metric = by_column.get(self.metric, self.metric)
            return table
        levels = table.levels(column)
        where = f"{table.source}, {column!r},"
        name = pick_metric(self.query.metric, levels.names, where)
        if name is None:
            raise self.query.unknown_metric(levels.names, table.source)
        self.metric = name
        self.rows.other_metrics.update((each, None) for each in levels.names if each != name)
        return table.take(levels.codes == levels.names.index(name))

    def note_other_metrics(self, head: Table) -> None:
        """Note the columns that are metrics by their names, or by the scale of their numbers.

        - `head`: The first rows, with all columns.
        """
        if "metric" in self.roles:
            return
        names = {column: name for name, column in _containers(head.columns).items()}
        scores = _scores(head, self.roles["score"])
        ends = np.nanmin(scores, initial=0.0), np.nanmax(scores, initial=1.0)
        for column in _number_columns(head, self.roles, self.query):
            values = _scores(head, column)
            on_scale = ends[0] <= np.nanmin(values) and np.nanmax(values) <= ends[1]
            rating = is_rating(values[np.isfinite(values)]) and RATED & {*normal(column).split("_")}
            if on_scale or rating or column in names or higher_by_name(column) is not None:
                self.rows.other_metrics[names.get(column, column)] = None

    def _check(self, whole: bool) -> None:
        """Raise if the roles do not fit the cells."""
        table, roles = self.table, self.roles
        for role in ("model", "item"):
            if role in roles and (missing := table.levels(roles[role]).codes < 0).any():
                raise TableError(
                    f"{table.location(int(missing.argmax()), roles[role])} must name the "
                    f"{role}; it is empty."
                )
        if "epoch" in roles:
            return
        named = [table.levels(roles[role]) for role in ("model", "task", "item") if role in roles]
        columns = [(levels.codes, len(levels.names)) for levels in named]
        several = not all_different(columns)
        if several and not whole:
            raise TableError("the other columns are needed")
        if "model" in roles or self.rows.stated_model is not None:
            if several:
                self._refuse_unclear_repeats(columns)
        elif several or not table.from_file:
            raise _absent_columns(["model"], table.columns, table.source)

    def _refuse_unclear_repeats(self, columns: list[tuple[Any, int]]) -> None:
        """Raise if a column without a role distinguishes the answers of a model to an item."""
        table = self.table
        for column in [each for each in table.columns if each not in self.roles.values()]:
            levels = table.levels(column)
            size = len(levels.names)
            if 2 * size <= table.n_rows and all_different([*columns, (levels.codes, size)]):
                raise TableError(
                    f"{table.source}: models have several answers to an item, which the column "
                    f"{column!r} distinguishes: pass ",
                    use(columns={"epoch": column}),
                    " to average them, or ",
                    use(columns={"task": column}),
                    " ",
                    use(task=levels.names[0]),
                    " to select one.",
                )

    def write(self) -> None:
        """Write the rows."""
        table, roles, rows = self.table, self.roles, self.rows
        for sentence in table.account:
            rows.note(sentence)
        if not self.is_wide:
            parts = [f"{role} from {column!r}" for role, column in roles.items()]
            rows.note(f"{table.source}: {joined(parts)}.")
        scores = _scores(table, roles["score"])
        rows.metric(self.metric)
        rows.metrics_of_tables.add(self.metric)
        if self.is_wide and self.metric == "score":
            rows.unnamed_metric = self.metric
        if "usd" in normal(roles.get("cost", "")):
            rows.currency = "USD"
        models = table.levels(roles["model"]) if "model" in roles else Levels(
            np.zeros(table.n_rows, dtype=np.int32), (self.name or "model",))  # fmt: skip
        status = _statuses(table, roles.get("status"), "status" in self.query.columns, rows)
        amounts = {role: table.numbers(roles[role]) for role in AMOUNTS if role in roles}
        items, keep = self._items(table.levels(roles["item"]))
        if not len(items):
            return
        codes = np.array([rows.model(name) for name in models.names], dtype=np.int32)
        epochs = _epochs(table, roles["epoch"]) if "epoch" in roles else None
        masked = _masked(np.isin(status, _UNSCORABLE), scores) if status.any() else scores
        rows.extend(
            codes[models.codes[keep]],
            items,
            epoch=None if epochs is None else epochs[keep],
            score=masked[keep],
            status=status[keep],
            **{
                role: _masked(~((values >= 0) & np.isfinite(values)), values)[keep]
                for role, values in amounts.items()
            },
        )

    def _items(self, items: Levels) -> tuple[Any, Any]:
        """Return the codes of the items of the tasks to read, and the rows of these."""
        table, roles, rows = self.table, self.roles, self.rows
        task = table.levels(roles["task"]) if "task" in roles else None
        names = ["task"] if task is None else [*task.names]
        codes = np.broadcast_to(np.int32(0), table.n_rows) if task is None else task.codes
        if (codes < 0).any():
            names.append("task")
            codes = np.where(codes < 0, len(names) - 1, codes)
        rows.seen_tasks.update(dict.fromkeys(names if task is not None else ()))
        selected = np.array([self.query.wants_task(name) for name in names], dtype=bool)
        keep: Any = slice(None) if selected.all() else selected[codes]
        if not selected.any():
            return np.empty(0, dtype=np.int32), keep
        if len(names) == 1:
            pair_of_row, pairs = items.codes, np.arange(len(items.names))
        else:
            import pandas as pd

            cells = codes[keep].astype(np.int64) * len(items.names) + items.codes[keep]
            pair_of_row, pairs = pd.factorize(cells)
        found = np.empty(len(pairs), dtype=np.int32)
        pair_task, pair_item = np.divmod(pairs, len(items.names))
        for code in np.unique(pair_task).tolist():
            own = np.flatnonzero(pair_task == code)
            found[own] = rows.items_of(names[code], [items.names[i] for i in pair_item[own]])

        def pairs_with(column: str) -> tuple[list[int], list[str]]:
            values = table.levels(column)
            groups = values.codes[keep]
            known = groups >= 0
            of_pair, groups = np.unique(np.stack([pair_of_row[known], groups[known]]), axis=1)
            return found[of_pair].tolist(), [values.names[group] for group in groups]

        if "cluster" in roles:
            rows.set_clusters(*pairs_with(roles["cluster"]), table.source)
        if self.content is not None:
            advice = use(columns={"item": self.content})
            rows.check_contents(*pairs_with(self.content), table.source, advice)
        for column in _shared_keys(table.columns, roles, self.query):
            values = table.levels(column).codes[keep]
            of_pair = np.full(len(pairs), -1, dtype=np.int64)
            of_pair[pair_of_row] = values
            if (values >= 0).all() and (of_pair[pair_of_row] == values).all():
                rows.note_repeats(column, of_pair[np.unique(pair_of_row)].tolist())
        return found[pair_of_row], keep


def _long(
    table: Table, roles: dict[str, str], query: LogQuery, rows: EvalRows
) -> tuple[Table, dict[str, str]]:
    """Return a table with one column per model as one with a row per item and model."""
    models = _model_columns(table, roles, query)
    scores = {column: _scores(table, column) for column in models}
    top = {column: float(np.nanmax(np.abs(scores[column]))) for column in models}
    small = [name for name in models if top[name] <= 1.0 and higher_by_name(name) is not False]
    odd = next((name for name in models if name not in small), None) if small else None
    if odd is not None:
        raise TableError(
            f"{table.source}: the column {odd!r} has numbers up to {top[odd]:.3g}, unlike "
            f"{small[0]!r}, so they do not look like scores of two models: pass ",
            use(exclude=odd),
            " if it is not a model.",
        )
    item = roles.get("item")
    columns: dict[str, Any] = {
        name: table.cells(name) for name in table.columns if name not in models
    }
    if item is None:
        columns[_ITEM] = [str(k + 1) for k in range(table.n_rows)]
    else:
        levels = table.levels(item)
        count = np.bincount(levels.codes[levels.codes >= 0], minlength=1)
        wrong = (levels.codes < 0) | ((count[levels.codes] > 1) & ("task" not in roles))
        if wrong.any():
            raise TableError(
                f"{table.location(int(wrong.argmax()), item)} must name the item, each once."
            )
    rows.note(
        f"{table.source}: a model in each of the columns {joined(list(map(repr, models)))}; "
        f"items from {'the numbers of the rows' if item is None else repr(item)}."
    )
    import pandas as pd

    frame = pd.DataFrame(columns | scores, copy=False)
    frame = frame.melt(list(columns), models, var_name=_MODEL, value_name=_SCORE)
    melted = replace(Table.from_frame(frame, source=table.source), account=table.account)
    return melted, {**roles, "item": item or _ITEM, "model": _MODEL, "score": _SCORE}


def _masked(mask: Any, values: Floats) -> Floats:
    """Return the values with NaN under the mask."""
    return np.where(mask, NAN, values) if mask.any() else values


def _scores(table: Table, column: str) -> Floats:
    """Return numbers, also of words such as yes and no; NaN for an empty cell."""
    numbers = _numbers(table, column)
    if numbers is not None:
        return numbers
    levels = table.levels(column)
    values = np.full(len(levels.names) + 1, NAN)
    for code, name in enumerate(levels.names):
        value = number_of(name)
        if value is None:
            row = int((levels.codes == code).argmax())
            again = " (the header again: keep one when you join files)" if name == column else ""
            raise TableError(
                f"{table.location(row, column)} must be a number, or a word such as true, pass or "
                f"correct; got {name!r:.60}{again}."
            )
        values[code] = value
    scores: Floats = values[levels.codes]
    return scores


def _epochs(table: Table, column: str) -> Any:
    """Return epochs from 1: whole numbers as they are, else one number for each name."""
    values = _numbers(table, column)
    if values is None or not (np.abs(values) < 1 << 30).all() or (np.floor(values) != values).any():
        return table.levels(column).codes + 1
    epochs = values.astype(np.int32)
    epochs -= min(int(epochs.min(initial=1)), 1) - 1
    return epochs


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
    for name in [each for each in table.columns if normal(each) in _ERRORS and each != column]:
        levels = table.levels(name)
        # numbers, yes and no are a metric
        if all(number_of(text) is None for text in levels.names):
            scored[levels.codes >= 0] = STATUSES.index("error")
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
    return np.where(scored > 0, scored, codes[levels.codes])

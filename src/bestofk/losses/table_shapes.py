"""Recognise columns of times, spreads and summaries, and tables with the learners in rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import TableError, use
from bestofk.data.tables.table import Levels, Table
from bestofk.losses.columns import direction_of, listed, normal, role_of, split_of

# Rows in order of time


_TIME_NAMES = {
    "date", "datetime", "date_time", "timestamp", "time_stamp", "ds", "time", "year", "month",
    "week", "day", "hour", "minute", "quarter", "period", "step", "t", "cutoff", "origin",
    "forecast_origin", "year_month", "yearmonth", "time_step", "timestep", "tick",
}  # fmt: skip
_TRAINING_TIME = {"step", "epoch", "steps", "epochs", "global_step", "trainer_global_step"}
"""Columns that count the progress of training: their rows are points of a learning curve."""
_DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}(\1\d{1,2})?([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{4}-?[QW]\d{1,2}|\d{1,2}([-/.])\d{1,2}\7\d{4}( \d{1,2}:\d{2}(:\d{2})?)?"
)


def is_time_name(name: str) -> bool:
    """Return whether a column name is that of a time.

    Examples
    --------
    >>> is_time_name("Date"), is_time_name("year"), is_time_name("fit_time")
    (True, True, False)
    """
    return normal(name) in _TIME_NAMES


def _has_dates(table: Table, column: str) -> bool:
    if table.is_typed_number(column):
        return False
    first = table.raw(column)[:1].to_pylist()
    if first and first[0] and first[0].strip() and not _DATE.fullmatch(first[0].strip()):
        return False
    names = table.levels(column).names
    return len(names) > 1 and all(_DATE.fullmatch(name.strip()) for name in names)


def time_column(table: Table, roles: dict[str, str], learners: Sequence[str] | None) -> str | None:
    """Return the column that orders the rows in time; None if other columns identify the rows."""
    free = [
        column
        for column in table.columns
        if column not in roles.values() and column not in (learners or ())
    ]
    candidates = [
        column
        for column in free
        if is_time_name(column) or normal(column) in _TRAINING_TIME or _has_dates(table, column)
    ]
    if not candidates:
        return None
    identifying = ("learner", "dataset", "metric", "run", "fold", "instance", "repetition")
    codes = [table.levels(roles[role]).codes.tolist() for role in identifying if role in roles]
    if codes and len(set(zip(*codes, strict=True))) == table.n_rows:
        return None
    for column in candidates:
        times = table.levels(column).codes.tolist()
        if min(times, default=-1) < 0:
            continue
        if len(set(zip(*codes, times, strict=True))) < table.n_rows:
            continue
        if "learner" in roles:
            # times that learners do not share only say when a result was computed
            if len(set(times)) == table.n_rows and table.n_rows > 1:
                continue
        elif table.is_numeric(column) and not _is_increasing(table, column):
            continue
        return column
    return None


def _is_increasing(table: Table, column: str) -> bool:
    steps = np.diff(table.numbers(column))
    return bool((steps > 0).all() or (steps < 0).all())


def in_time_order(levels: Levels) -> Levels:
    """Sort the levels by time if they are numbers or dates of one form; else keep their order."""
    names = [name.strip() for name in levels.names]
    keys: list[tuple[float, ...]]
    try:
        keys = [(float(name),) for name in names]
    except ValueError:
        keys = [tuple(map(float, re.findall(r"\d+(?:\.\d+)?", name)[:7])) for name in names]
        if not all(_DATE.fullmatch(name) for name in names) or len(set(map(len, keys))) > 1:
            return levels
        if re.match(r"\d{1,2}[-/.]", names[0]):
            # the day and the month come first; which of them is first cannot be known
            return levels
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return Levels(rank[levels.codes], tuple(levels.names[i] for i in order))


def refuse_learning_curve(table: Table, column: str, roles: dict[str, str]) -> None:
    """Raise if the column counts the steps of training."""
    if normal(column) not in _TRAINING_TIME:
        return
    start = (
        f"{table.source}: the column {column!r} counts steps of training, so the rows are points "
        "of learning curves and not independent results: "
    )
    if {"run", "fold", "dataset"} & set(roles):
        last = in_time_order(table.levels(column)).names[-1]
        raise TableError(start, "compare one step, such as ", use(where={column: last}), ".")
    raise TableError(
        start,
        "one run of each learner cannot be tested; give the final result of several runs (columns "
        "learner, seed and score), or pass ",
        use(design="time"),
        " if the rows are a series of results of finished models.",
    )


# Columns of spreads, ranks, sizes and times next to those of the learners


_ASIDE_WORDS = (
    r"std|stddev|std_?dev|stdev|sd|sem|se|stderr|std_?err|var|variance|ci|ci_?low(?:er)?|"
    r"ci_?up(?:per)?|ci_?high|low(?:er)?|upper|high|min|max|rank|ranks|n|count|time|fit_?time|"
    r"seconds|duration|p|pvalue|p_value|error_?bar|iqr"
)
_MEAN_WORDS = r"mean|avg|average"
_AFTER = re.compile(rf"(.+?)_+(?:{_ASIDE_WORDS})")
_BEFORE = re.compile(rf"(?:{_ASIDE_WORDS})_+(.+)")
_MEAN_AFTER = re.compile(rf"(.+?)_+(?:{_MEAN_WORDS})")
_MEAN_BEFORE = re.compile(rf"(?:{_MEAN_WORDS})_+(.+)")
_ALONE = re.compile(
    rf"(?:mean_|avg_|average_|std_|test_|train_|score_)*(?:{_ASIDE_WORDS}|fit_time|score_time|"
    r"runtime|train_time|training_time|predict_time|inference_time|memory|ram|"
    r"(?:(?:n|num|number_of|total|active)_)?(?:params|parameters|size)(?:_(?:[bm]|in_[bm]|billions?|"
    r"millions?|gb|mb))?|(?:g|t)?flops|macs|context(?:_(?:length|window|size))?|"
    r"(?:co2|price|cost)(?:_\w+)?|likes|downloads|hub_\w+|(?:(?:n|num|number_of)_)?(?:rows|samples|features|classes|instances|examples|attributes|"
    r"observations|columns)|best|winner|oracle|upper_bound|improvement|gain|delta|diff|difference|"
    r"significant|significance|"
    r"best_method|best_model|notes?|comments?|rank_test_score)"
)
_SUMMARY = re.compile(
    r"(?:(?:grand|overall|macro|micro|weighted|arithmetic|geometric|geo|total)_)?"
    r"(?:average|avg|mean|means|median|std|sd|stdev|stddev|sem|rank|ranks|overall|total|sum|"
    r"gmean|geomean)"
    r"(?:_(?:std|sd|rank|ranks|ranking|score|scores|accuracy|error|loss|all|value|over_all|"
    r"overall|performance))*"
    r"|win(?:s)?(?:_tie(?:s)?_loss(?:es)?)?|w_t_l|w_d_l|wins_losses|all|count|min|max|"
    r"friedman(?:_\w+)?|p_value|pvalue|p|best_count"
)


def is_summary(name: str) -> bool:
    """Return whether the name of a row or column is that of a summary.

    Examples
    --------
    >>> is_summary("Avg. rank"), is_summary("Average"), is_summary("W/T/L"), is_summary("iris")
    (True, True, True, False)
    """
    return bool(_SUMMARY.fullmatch(normal(name)))


def are_summaries(names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return `is_summary` of many names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    summary = np.zeros(len(names), dtype=np.bool_)
    # most of many names have a digit, which no other summary has
    may_be = pc.match_substring_regex(pa.array(names, pa.string()), "^[^0-9]*$|(?i:friedman)")
    for k in np.flatnonzero(may_be.to_numpy(zero_copy_only=False)).tolist():
        summary[k] = is_summary(names[k])
    return summary


def _base_of(name: str) -> str | None:
    """Return the learner whose spread, rank or size a column holds, by its name."""
    plain = normal(name)
    for pattern in (_AFTER, _BEFORE):
        match = pattern.fullmatch(plain)
        if match:
            return match[1]
    return None


def _mean_of(name: str) -> str | None:
    plain = normal(name)
    for pattern in (_MEAN_AFTER, _MEAN_BEFORE):
        match = pattern.fullmatch(plain)
        if match:
            return match[1]
    return None


def without_aside_columns(
    table: Table, columns: Sequence[str]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Separate the columns of learners from those of their spreads, ranks, sizes and times.

    - `names`: The name of the learner by column.
    - `left_out`: The other columns by the reason.
    """
    plain = {normal(column): column for column in columns}
    bases = {*plain, *(mean for column in columns if (mean := _mean_of(column)))}
    spreads, asides, summaries, train = [], [], [], []
    others: list[str] = []
    for column in columns:
        base = _base_of(column)
        word = normal(column)
        if base is not None and (base in bases or _mean_of(base) is not None):
            spreads.append(column)
        elif is_summary(column) and not _is_learner(table, column, columns):
            summaries.append(column)
        elif _ALONE.fullmatch(word):
            asides.append(column)
        elif re.match(r"(?:mean_|std_)?train(?:ing)?_", word):
            train.append(column)
        else:
            others.append(column)
    if len(others) < 2:
        # too few learners would be left: the names mean something else
        spreads_only = [column for column in columns if column not in spreads]
        if not spreads or len(spreads_only) < 2:
            return {column: column for column in columns}, {}
        others, asides, summaries, train = spreads_only, [], [], []
    names = {column: column for column in others}
    if spreads:
        shorter = {column: _without_mean(column) for column in others}
        if len(set(shorter.values())) == len(others):
            names = shorter
    reasons = {
        "spreads, ranks or sizes of a learner": spreads,
        "summaries": summaries,
        "no learners by their names": asides,
        "training scores": train,
    }
    return names, {reason: found for reason, found in reasons.items() if found}


def _is_learner(table: Table, column: str, columns: Sequence[str]) -> bool:
    """Return whether a column such as ``mean`` is a learner: it is no mean of the others."""
    if normal(column) not in ("mean", "median", "average", "min", "max", "all"):
        return False
    others = [c for c in columns if c != column and not is_summary(c) and table.is_numeric(c)]
    if len(others) < 2 or not table.is_numeric(column):
        return False
    values = np.stack([table.numbers(c) for c in others])
    own = table.numbers(column)
    known = np.isfinite(own) & np.isfinite(values).all(axis=0)
    summaries = [
        np.mean(values[:, known], axis=0), np.median(values[:, known], axis=0),
        np.min(values[:, known], axis=0), np.max(values[:, known], axis=0),
    ]  # fmt: skip
    scale = float(np.abs(own[known]).max(initial=0.0)) or 1.0
    return all(float(np.abs(own[known] - one).max(initial=0.0)) > 0.01 * scale for one in summaries)


def _without_mean(column: str) -> str:
    """Return ``svm`` for ``svm_mean`` and ``mean_svm``."""
    match = re.fullmatch(
        rf"(?:({_MEAN_WORDS})[ _.-]+(.+)|(.+?)[ _.-]+({_MEAN_WORDS}))", column, re.I
    )
    return column if match is None else (match[2] or match[3]).strip(" (")


# Learners in rows and data sets in columns


_LEARNER_WORDS = re.compile(
    r"(?:^|_)(?:svm|svc|svr|linear_?svc|rf|random_?forest|forest|knn|\d+_?nn|logistic|logreg|lr|"
    r"lda|qda|nb|naive_?bayes|gaussian_?nb|bayes|tree|cart|c4_?5|j48|xgb|xgboost|lgbm|lightgbm|"
    r"catboost|gbm|gbdt|boosting|ada_?boost|mlp|ridge|lasso|elastic_?net|cnn|rnn|lstm|bert|"
    r"resnet\w*|vit\w*|gpt\w*|llama\w*|claude\w*|mistral\w*|gemini\w*|qwen\w*|baseline|ours|"
    r"proposed|dummy|ols|gp|gaussian_process|tabpfn|automl|ensemble|transformer|arima|ets|prophet|"
    r"naive|theta)(?:_|$|\d)"
)


def _learner_like(names: Iterable[str]) -> int:
    return sum(bool(_LEARNER_WORDS.search(normal(name))) for name in names)


def learners_in_rows(table: Table, roles: dict[str, str], *, stated: bool) -> Table | None:
    """Return the table with one column per learner if its rows are learners; else None.

    The rows are learners if a column names learners, each once, and no other column is a metric or
    has a role. Raise an error if the names of the rows look like learners but no title says so.
    """
    column = roles.get("learner")
    others = [c for c in table.columns if c != column]
    if column is None:
        first = table.columns[0] if table.columns else None
        if first is None or table.is_typed_number(first) or table.numeric_share(first) >= 0.5:
            if stated:
                raise TableError(
                    f"{table.source}: no column names the learners (columns: "
                    f"{listed(table.columns[:12])}): name it with ",
                    use(learner=...),
                )
            return None
        if first in roles.values() and not stated:
            return None
        column, others = first, list(table.columns[1:])
        if not stated:
            if set(roles) - {"dataset"} or any(map(split_of, others)):
                return None
            labels = table.levels(column).names
            rows = _learner_like(labels)
            like_rows = rows > 1 and rows > _learner_like(others)
            few_rows = len(labels) < len(others) and role_of(column) is None
            if is_time_name(column) or _has_dates(table, column) or not (like_rows or few_rows):
                return None
            raise TableError(
                f"{table.source}: cannot tell whether the rows ({listed(labels[:2])}, ...) or the "
                f"columns ({listed(others[:2])}, ...) are the learners: pass ",
                use(layout="learners-in-rows"),
                " if each row is a learner, or ",
                use(layout="wide"),
                " if each column is one.",
            )
    names = table.levels(column)
    numeric = [c for c in others if not table.missing(c).all() and table.numeric_share(c) >= 0.5]
    data = [
        c for c in numeric
        if stated or (role_of(c) is None and direction_of(c) is None and split_of(c) is None)
    ]  # fmt: skip
    if stated:
        data = [c for c in numeric if c not in roles.values() or role_of(c) is None]
    once = len(names.names) == table.n_rows
    if not stated:
        sets = [c for c in data if not is_summary(c)]
        if not once or len(sets) < 2 or len(data) < len(numeric) or _learner_like(sets) > 0:
            return None
    elif not once:
        raise TableError(
            f"{table.source}: with the learners in rows, column {column!r} must name each of them "
            "once."
        )
    if not data:
        raise TableError(f"{table.source}: no column holds the numbers of a data set.")
    kept, left_out = without_aside_columns(table, data)
    reasons = "spreads, ranks or sizes of a learner", "no learners by their names"
    spreads = [column for reason in reasons for column in left_out.get(reason, [])]
    data = [c for c in data if c not in spreads]
    text = {c: table.text(c).tolist() for c in data}
    learners = table.text(column).tolist()
    if any(label is None for label in learners):
        row = [label is None for label in learners].index(True)
        raise TableError(f"{table.location(row, column)} must name the learner; the cell is empty.")
    turned: dict[str, list[object]] = {"dataset": [kept.get(c, c) for c in data]}
    for row, label in enumerate(learners):
        turned[str(label).strip()] = [text[c][row] for c in data]
    notes = [f"The rows are learners ({column!r}) and the columns are data sets."]
    if spreads:
        notes.append(f"Left out, as they are spreads, ranks or sizes: {listed(spreads[:12])}.")
    whole = Table.from_columns(turned, source=table.source)
    return replace(whole, account=(*table.account, *notes))

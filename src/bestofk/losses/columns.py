"""Interpret the names of learners, splits and columns: roles, metrics and directions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError, use

if TYPE_CHECKING:
    from bestofk.data.tables.table import Table


def battle_columns(columns: Sequence[str]) -> dict[str, str] | None:
    """Return the columns of a table of battles by role; None if one is absent."""
    roles = find(columns, BATTLE_ROLES)
    return roles if len(roles) == len(BATTLE_ROLES) else None


def holds_battles(table: Table) -> bool:
    """Return whether a table holds battles between pairs of models, which have no losses.

    Fractions in the first column are scores of a learner with its name.
    """
    roles = battle_columns(table.columns)
    if roles is None:
        return False
    first = roles["model_a"]
    return not (table.is_numeric(first) and (table.numbers(first) % 1 > 0).any())


def holds_intervals(table: Table, roles: Mapping[str, str]) -> bool:
    """Return whether a table holds intervals of losses, in the columns low and high."""
    if "learner" not in roles or not {"low", "high"} <= set(table.columns):
        return False
    free = [c for c in table.columns if c not in roles.values() and table.is_numeric(c)]
    return set(free) == {"low", "high"}


# Names of splits: split0_test_score, fold1, accuracy_fold_3, cv2


_SPLIT = re.compile(
    r"(?:(.+?)[ _.:-])?(?:cv[ _-]?)?(?:fold|split|cv)[ _.:-]?(\d{1,6})(?:[ _.:-](.+))?",
    re.IGNORECASE,
)
_TRAINING = re.compile(r"(?:^|_)(?:train|training|time)(?:_|$)", re.IGNORECASE)


class Split(NamedTuple):
    """The number in the name of a split, and the metric, which is empty if the name has none."""

    number: int
    metric: str


def split_of(name: str) -> Split | None:
    """Parse the name of a split; return None for other names.

    Examples
    --------
    >>> split_of("split0_test_f1")
    Split(number=0, metric='test_f1')
    >>> split_of("Fold 3").number, split_of("accuracy_fold2").metric
    (3, 'accuracy')
    >>> split_of("svm"), split_of("split0_train_score"), split_of("folded1")
    (None, None, None)
    """
    match = _SPLIT.fullmatch(name.strip())
    if match is None or (match[1] and match[3]):
        return None
    metric = re.sub("^cv$", "", match[1] or match[3] or "")
    return None if _TRAINING.search(metric) else Split(int(match[2]), metric)


def splits_among(names: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """Return (number, name) by metric of the names of splits.

    Return nothing if a metric has only one split, or two splits of the same number.
    """
    by_metric: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        split = split_of(name)
        if split is not None:
            by_metric.setdefault(split.metric, []).append((split.number, name))
    for splits in by_metric.values():
        if len(splits) < 2 or len({number for number, _ in splits}) < len(splits):
            return {}
    return {metric: sorted(splits) for metric, splits in by_metric.items()}


# Names of columns: their role, and whether higher is better


Direction = Literal["loss", "score", "unknown"]

ROLES: dict[str, tuple[str, ...]] = {
    "learner": (
        "learner", "algorithm", "classifier", "estimator", "model", "method", "system", "algo",
        "regressor", "predictor", "scheme", "approach", "technique", "clf", "pipeline", "framework",
    ),
    "dataset": (
        "dataset", "data_set", "data", "datasets", "task", "problem", "benchmark", "domain",
        "database",
    ),
    "run": (
        "run", "repeat", "rep", "seed", "random_state", "random_seed", "runs", "trial",
        "iteration", "iter",
    ),
    "fold": ("fold", "split", "cv", "folds", "cv_fold", "cv_split", "fold_number", "splits"),
    "repetition": ("repetition", "repetitions", "replicate", "replication"),
    "instance": (
        "instance", "item", "example", "question", "id", "sample", "case", "observation", "row",
        "instance_number",
    ),
    "metric": ("metric", "measure", "scorer", "criterion", "score_name", "scoring"),
    "n_train": (
        "n_train", "train_size", "n_training", "ntrain", "training_size", "size_train",
    ),
    "n_test": (
        "n_test", "test_size", "n_testing", "ntest", "testing_size", "size_test",
    ),
    "time": (
        "date", "datetime", "date_time", "timestamp", "ds", "year", "quarter", "month", "week",
        "day", "hour", "period", "t", "cutoff", "origin", "forecast_origin", "year_month",
    ),
    "index": (
        "column_1", "unnamed_0", "", "#", "index", "idx", "level_0", "no", "nr", "step", "epoch",
    ),
    "design": ("design", "design_kind"),
    "stratified": ("stratified",),
    "n_groups": ("n_groups",),
    "loss_name": ("loss_name",),
}  # fmt: skip
"""The names of columns by role, the most reliable first."""

LOSS_ROLES = tuple(ROLES)
"""The roles of columns in a table of losses, in the order in which they claim a column."""

STATED_ROLES = (
    "learner", "dataset", "run", "fold", "repetition", "instance", "score", "metric", "time",
    "n_train", "n_test",
)  # fmt: skip
"""The roles that a user can give to the columns of a table of losses."""

EVAL_ROLES: dict[str, tuple[str, ...]] = {
    "model": (
        *ROLES["learner"], "model_name", "model_id", "agent", "provider", "variant", "llm",
        "engine", "hyperparameters_model", "metadata_model", "experiment_name",
    ),
    "item": (
        "item", "item_id", "question_id", "instance_id", "doc_id", "example_id", "problem_id",
        "case_id", "test_id", "prompt_id", "query_id", "input_id", "dataset_item_id",
        "dataset_record_id", "experiment_item_id", "trace_id", "question", "instance", "example",
        "problem", "case", "prompt", "query", "task_id", "sample_id", "sample", "id", "idx",
        "index", "input", "inputs", "user_input", "request",
    ),
    "score": (
        "score", "correct", "is_correct", "accuracy", "acc", "passed", "pass", "success",
        "resolved", "exact_match", "value", "result", "reward", "grade", "rating",
    ),
    "task": (
        "task", "task_name", "dataset", "benchmark", "subset", "subject", "category", "task_id",
        "doc_task_name",
    ),
    "epoch": (
        "epoch", "trial", "attempt", "repeat", "repetition", "rep", "run", "seed", "sample_index",
        "sample_idx", "sample_number", "sample_no", "sample_num", "generation", "generation_id",
        "completion_id", "attempt_id", "trial_id", "sample_id", "sample",
    ),
    "metric": (*ROLES["metric"], "metric_name", "evaluator"),
    "cluster": (
        "cluster", "cluster_id", "passage", "passage_id", "group", "repo", "repository", "template",
    ),
    "cost": ("cost", "cost_usd", "price", "total_cost", "usd", "token_cost"),
    "latency": (
        "latency", "latency_s", "seconds", "duration", "time", "working_time", "execution_time",
        "completion_time",
    ),
    "status": ("status", "outcome"),
    "tokens_in": ("tokens_in", "input_tokens", "prompt_tokens"),
    "tokens_out": ("tokens_out", "output_tokens", "completion_tokens"),
}  # fmt: skip
"""The columns of a table of evaluations."""
BATTLE_ROLES: dict[str, tuple[str, ...]] = {
    "model_a": ("model_a", "generator_1", "model_1", "left"),
    "model_b": ("model_b", "generator_2", "model_2", "right"),
    "winner": ("g1_winner", "winner", "preference"),
}
"""The columns of battles between pairs of models; AlpacaEval, MT-bench and evalica have their own
names."""
DEPENDENT_BATTLES = ("question_id", "prompt", "prompt_id", "conversation_id", "judge", "user")
"""Columns of battles whose repeated values suggest clusters."""
PRINTED_ROLES: dict[str, tuple[str, ...]] = {
    "learner": (*ROLES["learner"], "name"),
    "sd": ("sd", "std", "standard_deviation"),
}
"""Columns of a printed table other than the scores."""
PREDICTION_ROLES: dict[str, tuple[str, ...]] = {
    "truth": (
        "y_true", "ytrue", "y_test", "truth", "true_label", "true_value", "ground_truth",
        "groundtruth", "gold_label", "target", "actual",
    ),
    "label": ("label", "labels", "y", "true", "gold", "class"),
}  # fmt: skip
"""The columns of true values, which no learner is called, and those that may hold them."""
PREDICTED = ("pred", "prob", "yhat", "y_hat", "y_pred", "score_", "forecast")
"""Beginnings of the names of columns that hold predictions."""

_LOSS_WORDS = {
    "loss", "losses", "error", "errors", "err", "error_rate", "mse", "rmse", "mae", "mape",
    "log_loss", "logloss", "cross_entropy", "brier", "perplexity", "ppl", "wer", "cer", "nll",
    "deviance", "hinge", "regret", "risk", "cost", "rmsle", "mean_squared_error",
    "mean_absolute_error", "squared_error", "absolute_error", "misclassification", "wrong",
    "percent_incorrect", "zero_one", "zero_one_loss", "0_1_loss", "hamming_loss", "crps",
    "root_mean_squared_error", "max_error", "mistakes", "ece", "rank",
}  # fmt: skip
_SCORE_WORDS = {
    "accuracy", "acc", "auc", "auroc", "auprc", "roc_auc", "f1", "fscore", "f_score", "f_measure",
    "precision", "recall", "r2", "kappa", "mcc", "bleu", "rouge", "meteor", "map", "ndcg", "ap",
    "balanced_accuracy", "average_precision", "sensitivity", "specificity", "correct", "mrr",
    "percent_correct", "exact_match", "em", "matthews_corrcoef", "cohen_kappa", "jaccard", "iou",
    "dice", "explained_variance", "likelihood", "log_likelihood", "reward", "return", "hits",
    "area_under_roc", "gini", "top_1", "top1", "top_5", "top5", "chrf", "win_rate", "pass",
    "f2", "fbeta", "tpr", "tnr", "g_mean", "gmean", "correlation", "pearson", "spearman",
    "rewards", "accuracies", "accuracy_score", "success", "success_rate", "wins",
    "answer_correctness", "answer_relevancy", "answer_relevance", "context_precision",
    "context_recall", "correctness", "factual_correctness", "factuality", "faithfulness",
    "groundedness", "helpfulness", "relevance", "relevancy", "similarity",
}  # fmt: skip
_OPEN_WORDS = {
    "value", "values", "result", "results", "performance", "metric_value", "metric", "measure",
    "measurement", "estimate", "outcome", "y", "score", "scores",
}  # fmt: skip
_SCORE_FORMS = re.compile(
    r"neg_.+|(?:f1|precision|recall|accuracy|bleu|rouge|jaccard|auc|roc_auc)_.+|"
    r"(?:hits|ndcg|precision|recall)_?\d+|(?:mean_)?test_score"
)
"""Scores in several words; ``test_score`` is scikit-learn's, whose scorers are better if higher."""
_SURE_WORDS = {
    "accuracy", "accuracies", "acc", "auc", "auroc", "f1", "r2", "correct",
    "reward", "rewards", "error", "errors", "loss", "losses", "rmse", "mse", "mae", "logloss",
    "perplexity",
}  # fmt: skip
"""Words that show the direction even as part of the name of a file or a learner's column."""
_PREFIX = re.compile(r"^(?:test|mean|avg|average|median|cv|val|valid|validation|eval)_(?=.)")
_SUFFIX = re.compile(r"(?<=.)_(?:mean|avg|average|test|val|value|score|rate|name|id|pct|percent)$")


def normal(name: str) -> str:
    """Return a column name in lower case with underscores: "Error rate" is error_rate."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name.strip())
    # a name in other letters stays as it is
    return re.sub(r"[^0-9a-z]+", "_", spaced.lower()).strip("_") or spaced.lower()


def role_of(name: str) -> str | None:
    """Return the role of a column of losses by its name; None for other names."""
    return next(iter(find([name], LOSS_ROLES)), None)


def _stem(name: str) -> str:
    """Return ``model`` for ``Model name`` and ``model_id``."""
    return re.sub(r"(?<=.)_(?:name|id|idx|index|no|nr|number|num)$", "", normal(name))


def find(
    columns: Sequence[str],
    roles: Iterable[str] | Mapping[str, Sequence[str]],
    stated: Mapping[str, str] | None = None,
    *,
    source: str = "the table",
) -> dict[str, str]:
    """Return the column of each role: as stated, else by the names in `ROLES`.

    Each column has at most one role. The first of `roles` chooses first, and chooses its most
    reliable name. Roles without a column are absent.

    Parameters
    ----------
    columns : sequence of str
        The columns of the table.
    roles : iterable of str, or mapping of str to sequence of str
        The roles to look for. The names of a mapping, such as `EVAL_ROLES`, must match as they
        are; those in `ROLES` match ends such as ``_id``, too.
    stated : mapping of str to str, optional
        The user's columns by role, which may include roles without names in `ROLES`.
    source : str
        The name of the table in errors.

    Examples
    --------
    >>> find(["Model name", "fold", "accuracy"], ["learner", "dataset", "fold"])
    {'learner': 'Model name', 'fold': 'fold'}
    >>> find(["who", "fold", "accuracy"], ["learner", "fold"], {"learner": "who"})
    {'learner': 'who', 'fold': 'fold'}
    """
    found: dict[str, str] = {}
    for role, column in (stated or {}).items():
        if column not in columns:
            raise UnknownNameError("column", column, columns, source)
        for other, name in found.items():
            if name == column:
                raise ArgumentError(
                    f"{other} and {role} must be different columns; got {column!r} for both."
                )
        found[role] = column
    words = roles if isinstance(roles, Mapping) else {role: ROLES[role] for role in roles}
    by_word: dict[str, str] = {}
    for spelling in (normal,) if words is roles else (normal, _stem):
        for column in columns:
            if column not in found.values():
                by_word.setdefault(spelling(column), column)
    for role, names in words.items():
        if role not in found:
            named = (by_word[name] for name in names if name in by_word)
            free = next((column for column in named if column not in found.values()), None)
            if free is not None:
                found[role] = free
    return found


def is_seed_name(name: str) -> bool:
    """Return whether a column name is that of a seed."""
    return bool(re.search(r"(?:^|_)(?:seed|seeds|random_state)(?:_|$)", normal(name)))


def direction_of(name: str) -> Direction | None:
    """Return whether a name is a loss, a score, or may be either; None if it is no metric."""
    word = normal(name)
    while True:
        if word in _LOSS_WORDS:
            return "loss"
        if word in _SCORE_WORDS or _SCORE_FORMS.fullmatch(word):
            return "score"
        if word in _OPEN_WORDS:
            return "unknown"
        shorter = _PREFIX.sub("", word)
        if shorter == word:
            shorter = _SUFFIX.sub("", word)
        if shorter == word:
            return None
        word = shorter


def direction_within(name: str) -> tuple[Direction, str] | None:
    """Return the direction that a word in a longer name shows, and the word; None if unclear.

    Examples
    --------
    >>> direction_within("cifar_accuracy.csv"), direction_within("llm.csv")
    (('score', 'accuracy'), None)
    >>> direction_within("error_scores.csv") is None
    True
    """
    words = normal(name).split("_")
    if "log_loss" in normal(name):
        return "loss", "log_loss"
    matches = [word for word in words if word in _SURE_WORDS]
    directions = {direction_of(word) for word in matches}
    if len(directions) != 1 or (directions == {"loss"} and {"score", "scores"} & set(words)):
        return None
    direction = directions.pop()
    return None if direction is None else (direction, matches[0])


# The column and the metric of the losses in a long table


_ASIDE = re.compile(r"(?:^|_)(?:time|std|rank|train|training|size|seconds|memory|count)(?:_|$)")
_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}(?:\1\d{1,2})?|\d{1,2}([-/.])\d{1,2}\2\d{4}|\d{4}-?[QW]\d{1,2})"
    r"(?:[T ]\d{1,2}:\d{2}.*)?"
)


def is_date(text: str) -> bool:
    """Return whether a cell is a date.

    Examples
    --------
    >>> is_date("2024-01-31"), is_date("31.1.2024"), is_date("2024-Q1"), is_date("iris-2024")
    (True, True, True, False)
    """
    return bool(_DATE.fullmatch(text.strip()))


def listed(names: Iterable[str]) -> str:
    """List names in quotes, separated by commas."""
    return ", ".join(map(repr, names))


def metrics_by_dataset(table: Table, roles: dict[str, str]) -> dict[str, Direction]:
    """Return the direction of every metric if each data set has one and all are known."""
    if "dataset" not in roles:
        return {}
    metrics, sets = table.levels(roles["metric"]), table.levels(roles["dataset"])
    pairs = {*zip(sets.codes.tolist(), metrics.codes.tolist(), strict=True)}
    directions = {name: direction_of(name) for name in metrics.names}
    if len(metrics.names) < 2 or len(pairs) != len(sets.names):
        return {}
    known: dict[str, Direction] = {
        name: direction for name, direction in directions.items() if direction in ("loss", "score")
    }
    return known if len(known) == len(directions) else {}


def all_as_losses(
    table: Table, column: str, directions: dict[str, Direction], values: Floats
) -> Floats:
    """Turn scores into losses, metric by metric: 1 - score within [0, 1], else -score."""
    levels = table.levels(column)
    values = values.copy()
    for code, name in enumerate(levels.names):
        if directions[name] == "score":
            scores = values[levels.codes == code]
            known = scores[~np.isnan(scores)]
            inside = bool(len(known)) and known.min() >= 0.0 and known.max() <= 1.0
            values[levels.codes == code] = (1.0 if inside else 0.0) - scores
    return values


def one_metric(table: Table, column: str, metric: str | None) -> tuple[Table, str]:
    """Return the rows of the stated metric, or all rows if there is only one, and its name."""
    levels = table.levels(column)
    if metric is not None:
        if metric not in levels.names:
            raise UnknownNameError("metric", metric, levels.names, table.source)
        return table.take(levels.codes == levels.names.index(metric)), metric
    if len(levels.names) > 1:
        row = int((levels.codes == 1).argmax())
        raise TableError(
            f"{table.location(row, column)} is a different metric from the rows before: the column "
            f"holds {listed(levels.names[:6])}{', ...' if len(levels.names) > 6 else ''}; choose "
            "one with ",
            use(metric=levels.names[0]),
            ".",
        )
    return table, levels.names[0] if levels.names else column


def score_column(table: Table, roles: dict[str, str]) -> str:
    """Return the column of the losses or scores in a long table."""
    free = [column for column in table.columns if column not in roles.values()]
    named = [column for column in free if direction_of(column) is not None]
    candidates = [column for column in named if not _ASIDE.search(normal(column))] or named
    if "metric" in roles:
        # if a column names the metric, its values are in a column that is no metric by name
        candidates = [c for c in candidates if direction_of(c) == "unknown"] or candidates
    if not candidates:
        candidates = [
            column
            for column in free
            if table.is_numeric(column) and not _ASIDE.search(normal(column))
        ]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise TableError(
            f"{table.source}: no column holds the scores (columns: {listed(table.columns[:12])}): "
            "name it with ",
            use(columns={"score": "NAME"}),
            ".",
        )
    raise TableError(
        f"{table.source}: the columns {listed(candidates[:12])} could each hold the scores: name "
        "one with ",
        use(columns={"score": candidates[0]}),
        ".",
    )

"""What the name of a column tells: its role, and whether larger numbers are better."""

from __future__ import annotations

import re
from typing import Literal

from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.tables.table import Table

Direction = Literal["loss", "score", "unknown"]

ROLE_NAMES: dict[str, tuple[str, ...]] = {
    "algorithm": (
        "algorithm", "learner", "classifier", "estimator", "model", "method", "system", "algo",
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
        "n_train", "train_size", "n_training", "number_of_training_instances", "ntrain",
        "training_size", "size_train",
    ),
    "n_test": (
        "n_test", "test_size", "n_testing", "number_of_testing_instances", "ntest",
        "testing_size", "size_test",
    ),
    "design": ("design", "design_kind"),
    "stratified": ("stratified",),
    "n_groups": ("n_groups",),
    "loss_name": ("loss_name",),
    "part_of_rows": ("part_of_rows",),
}  # fmt: skip
"""The names by which a role is known, the surest first."""

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
    "f2", "fbeta", "tpr", "tnr", "g_mean", "gmean", "correlation", "pearson", "spearman", "score",
    "scores", "rewards", "accuracies", "accuracy_score", "success", "success_rate", "wins",
}  # fmt: skip
_OPEN_WORDS = {
    "value", "values", "result", "results", "performance", "metric_value", "metric", "measure",
    "measurement", "estimate", "outcome", "y",
}  # fmt: skip
_SURE_WORDS = {
    "accuracy", "accuracies", "acc", "auc", "auroc", "f1", "r2", "score", "scores", "correct",
    "reward", "rewards", "error", "errors", "loss", "losses", "rmse", "mse", "mae", "logloss",
    "perplexity",
}  # fmt: skip
"""Words that tell the direction even as a part of the name of a file or a learner's column."""
_PREFIX = re.compile(r"^(?:test|mean|avg|average|median|cv|val|valid|validation|eval|key)_(?=.)")
_SUFFIX = re.compile(r"(?<=.)_(?:mean|avg|average|test|val|value|score|rate|name|id|pct|percent)$")


def normal(name: str) -> str:
    """A column name in small letters, words parted by underscores: "Error rate" is error_rate."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name.strip())
    return re.sub(r"[^0-9a-z]+", "_", spaced.lower()).strip("_")


def role_of(name: str) -> tuple[str, int] | None:
    """The role that a name is known for, with how sure it is (smaller is surer)."""
    plain = normal(name)
    stripped = re.sub(r"^key_(?=.)", "", plain)
    stripped = re.sub(r"(?<=.)_(?:name|id|idx|index|no|nr|number|num)$", "", stripped)
    for word in (plain, stripped):
        for role, names in ROLE_NAMES.items():
            if word in names:
                return role, names.index(word)
    return None


def direction_of(name: str) -> Direction | None:
    """Whether the name is of a loss, of a score, of either; None where it is of neither."""
    word = normal(name)
    while True:
        if word.startswith("neg_"):
            return "score"
        for words, direction in ((_LOSS_WORDS, "loss"), (_SCORE_WORDS, "score")):
            if word in words:
                return "loss" if direction == "loss" else "score"
        if word in _OPEN_WORDS:
            return "unknown"
        head = word.split("_", 1)[0]
        if "_" in word and head in {"f1", "precision", "recall", "accuracy", "bleu", "rouge",
                                    "jaccard", "auc"}:  # fmt: skip
            return "score"
        if word.startswith("roc_auc_") or re.fullmatch(
            r"(?:hits|ndcg|precision|recall)_?\d+", word
        ):
            return "score"
        shorter = _PREFIX.sub("", word)
        if shorter == word:
            shorter = _SUFFIX.sub("", word)
        if shorter == word:
            return None
        word = shorter


def direction_within(name: str) -> tuple[Direction, str] | None:
    """The direction that a word in a longer name tells, and the word; None where none or both do.

    Examples
    --------
    >>> direction_within("cifar_accuracy.csv"), direction_within("llm.csv")
    (('score', 'accuracy'), None)
    >>> direction_within("error_scores.csv") is None
    True
    """
    words = [word for word in normal(name).split("_") if word in _SURE_WORDS]
    found = {direction_of(word) for word in words}
    if "log_loss" in normal(name):
        return "loss", "log_loss"
    if len(found) != 1:
        return None
    direction = found.pop()
    return None if direction is None else (direction, words[0])


def assign_roles(table: Table, given: dict[str, str | None]) -> dict[str, str]:
    """Column by role: those given, then those that the names tell, each column once."""
    roles: dict[str, str] = {}
    for role, column in given.items():
        if column is None:
            continue
        if column not in table.columns:
            raise UnknownNameError("column", column, table.columns, table.source)
        taken = [other for other, name in roles.items() if name == column]
        if taken:
            raise ArgumentError(
                f"{taken[0]} and {role} must be two columns; got {column!r} for both."
            )
        roles[role] = column
    surest: dict[str, tuple[int, str]] = {}
    for column in table.columns:
        found = role_of(column)
        if found is None or column in roles.values() or found[0] in roles:
            continue
        role, rank = found
        if role not in surest or rank < surest[role][0]:
            surest[role] = (rank, column)
    roles.update({role: column for role, (_, column) in surest.items()})
    return roles

"""Words of other tools for arguments, options, commands and names, and similar words."""

from __future__ import annotations

import re
from collections.abc import Iterable

SYNONYMS = {
    "learners": ("models", "model", "estimators", "estimator", "algorithms", "classifiers"),
    "learner": ("models", "model", "estimators", "estimator", "algorithms", "classifiers"),
    "data": ("x", "df", "dataset", "datasets"),
    "target": ("y", "label", "labels"),
    "truth": ("y-true", "label", "labels"),
    "cv": ("folds", "fold", "n-folds", "n-splits", "n-repeats", "plan", "test-size"),
    "design": ("cv", "plan"),
    "score": ("loss", "error", "value"),
    "scoring": ("metric", "metrics", "score", "scorer", "loss", "sort", "cost"),
    "metric": ("scoring", "score", "scorer", "loss"),
    "random-state": ("seed", "random-seed", "rng", "session-id"),
    "n-jobs": ("jobs", "workers"),
    "sample-weight": ("weight", "weights"),
    "groups": ("group", "fold-groups"),
    "cluster": ("group", "groups"),
    "column": ("categorical", "categorical-features", "drop", "exclude", "ignore"),
    "columns": ("categorical", "categorical-features", "drop", "exclude", "ignore"),
    "prefer": ("prior", "preference"),
    "control": ("baseline", "reference"),
    "rule": ("procedure", "method"),
    "rules": ("procedures",),
    "test-options": ("df", "test-arguments", "test-args"),
    "baseline": ("against", "control", "reference"),
    "instances": ("items", "n"),
    "fit-time": ("fastest", "quickest", "speed", "time"),
    "complexity": ("simplest",),
    "size": ("smallest",),
    "alpha": ("significance", "level", "p", "confidence"),
    "margin": ("delta", "tolerance", "threshold"),
    "higher-is-better": (
        "greater-is-better",
        "lower-is-better",
        "maximize",
        "maximise",
        "mode",
        "direction",
    ),
    "budget": ("time-limit", "budget-time"),
    "store": ("storage", "db", "cache"),
    "progress": ("verbose",),
    "report": ("html", "output", "out", "to"),
    "figure": ("plot", "pdf", "png"),
    "csv": ("latex", "markdown", "tex", "save"),
    "pairs": ("ranks", "p-values", "pvalues"),
    "help": ("help-all",),
    "set": ("option", "options", "setting", "settings"),
    # learners, plans, tests and rules
    "c4.5": ("j48", "cart", "decision-tree"),
    "nn": ("ibk", "ib1", "knn", "1-nn", "nearest-neighbour", "nearest-neighbor"),
    "max": ("zeror", "majority"),
    "naive-bayes": ("nb", "gaussian-nb"),
    "furia": ("jrip", "ripper"),
    "loo": ("leave-one-out", "loocv"),
    "kfold:10": ("cross-validation",),
    "holdout:0.33": ("hold-out",),
    "5x2": ("5x2cv",),
    "wilcoxon": ("signed-rank",),
    "corrected-resampled-t": ("nadeau-bengio",),
    "5x2cv-t": ("dietterich",),
    "5x2cv-f": ("alpaydin",),
    "tukey": ("hsd",),
}
"""By the word here: words of other tools. The first one that a function or list has is meant."""

_MAX_LENGTH = 120
_MAX_COMPARED = 2000
"""Comparing takes quadratic time in the length."""


def meant(word: object, known: Iterable[str], *, most: int = 3, cutoff: float = 0.5) -> list[str]:
    """Return the known words that a word stands for, or the most similar ones, best first.

    Examples
    --------
    >>> meant("seed", ["cv", "random_state"]), meant("--lerner", ["--cv", "--learner"])
    (['random_state'], ['--learner'])
    >>> meant("xyzzy", ["cv"])
    []
    """
    from difflib import get_close_matches

    typed = _plain(str(word)[:_MAX_LENGTH])
    by_word = {_plain(name): name for name in list(known)[:_MAX_COMPARED][::-1]}
    names = [typed, *(here for here, others in SYNONYMS.items() if typed in others)]
    near = [name for name in names if name in by_word][:1]
    if not near and len(typed) > 3:
        near = [name for name in by_word if name.startswith(typed)][:most]
    near = near or get_close_matches(typed, by_word, n=most, cutoff=cutoff)
    return [by_word[name] for name in near]


def _plain(word: str) -> str:
    return re.sub(r"[\s_]+", "-", word.strip().lower().lstrip("-"))

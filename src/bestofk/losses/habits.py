"""Keywords that people type from habit, for `read_losses` and `order`: what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestofk._base.errors import Part, use
from bestofk._base.habits import Habit


def _turned(value: Any, _: Mapping[str, Any]) -> Part:
    return use(higher_is_better=not value if isinstance(value, bool) else ...)


def _by_word(value: Any, _: Mapping[str, Any]) -> Part:
    """Return the direction of ``order="ascending"``, ``mode="min"`` or ``direction="maximize"``."""
    word = str(value).lower()
    if word.startswith(("max", "desc")):  # the best has the highest number
        return use(higher_is_better=True)
    return use(higher_is_better=False if word.startswith(("min", "asc")) else ...)


READING_HABITS: Mapping[str, Habit] = {
    **dict.fromkeys(("greater_is_better", "maximize", "higher_better", "larger_is_better",
                     "bigger_is_better"), "higher_is_better"),
    **dict.fromkeys(("lower_is_better", "minimize", "lower_better", "smaller_is_better",
                     "ascending", "is_loss"), _turned),
    **dict.fromkeys(("mode", "direction", "order"), _by_word),
    **dict.fromkeys(("model", "models", "learner", "classifier", "model_column",
                     "algorithm_column", "algo"), "algorithm"),
    **dict.fromkeys(("data", "task", "dataset_column", "problem", "block", "data_set"), "dataset"),
    **dict.fromkeys(("split", "cv_fold", "fold_column"), "fold"),
    **dict.fromkeys(("repeat", "seed_column"), "run"),
    **dict.fromkeys(("item", "example", "question"), "instance"),
    **dict.fromkeys(("score", "score_column", "value", "values", "val_col", "y_col"), "metric"),
    **dict.fromkeys(("plan", "cv", "splits"), "design"),
    **dict.fromkeys(("sep", "delim"), "delimiter"),
    **dict.fromkeys(("nan_policy", "na", "dropna"), use(missing="drop")),
    **dict.fromkeys(("path", "file", "filename", "filepath_or_buffer"), "the file first"),
    "columns": "learners",
}  # fmt: skip
ORDER_HABITS: Mapping[str, Habit] = {
    **READING_HABITS,
    **dict.fromkeys(("preference", "preferences", "priority"), "prefer"),
    **dict.fromkeys(("seed", "random_seed", "rng"), "random_state"),
    **dict.fromkeys(("significance", "significance_level", "sig_level", "p", "level"), "alpha"),
    **dict.fromkeys(("delta", "epsilon", "tolerance"), "margin"),
    **dict.fromkeys(("statistical_test", "approach", "force_mode"), "test"),
    **dict.fromkeys(("p_adjust", "p_adjust_method", "adjust", "padjust"), "correction"),
    **dict.fromkeys(("baseline", "reference"), "control"),
    **dict.fromkeys(("verbose", "verbosity", "progress", "plot", "width"),
                    "nothing for it: the result has explain() and plot()"),
}  # fmt: skip

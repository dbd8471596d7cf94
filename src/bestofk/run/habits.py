"""Keywords that people type from habit, for `compare`: what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from bestofk._base.errors import Part, use
from bestofk._base.habits import Habit, Replace, shown
from bestofk.decide.settings import Settings
from bestofk.run.execution import Execution


def _each(keyword: str, *names: str) -> dict[str, Habit]:
    """Return the names, each with the argument that takes the same value."""
    return dict.fromkeys(names, keyword)


def _written(value: Any) -> str:
    value = shown(value)
    return "..." if value is ... else repr(value)


def _inside(keyword: str, kind: str, option: str) -> Replace:
    """Return the option as a part of ``settings=`` or ``execution=``."""

    def replacement(value: Any, _: Mapping[str, Any]) -> Part:
        return f"{keyword}=bk.{kind}({option}={_written(value)})"

    return replacement


def _of_dataset(option: str) -> Replace:
    def replacement(value: Any, keywords: Mapping[str, Any]) -> Part:
        names = [value] if isinstance(value, str) else value
        source, reader = keywords.get("data"), "as_dataset(data, target"
        if isinstance(source, str):
            target = keywords.get("target")
            column = f", target={target!r}" if isinstance(target, str) else ""
            reader = f"read_dataset({source!r}{column}"
        return f"data=bk.{reader}, {option}={_written(names)})"

    return replacement


def _runs_of_folds(_: Any, keywords: Mapping[str, Any]) -> Part:
    """Return the plan of ``n_splits=5, n_repeats=10``."""
    folds = next((keywords[name] for name in _FOLDS if name in keywords), None)
    runs = next((keywords[name] for name in _REPEATS if name in keywords), None)
    if not isinstance(folds, int):
        folds = 10 if folds is None else None
    if folds is None or (runs is not None and not isinstance(runs, int)):
        return use(cv=...)
    return use(cv=folds) if runs is None else use(cv=f"{runs}x{folds}")


def _holdout(value: Any, _: Mapping[str, Any]) -> Part:
    return use(cv=f"holdout:{value!r}" if isinstance(value, float) and 0 < value < 1 else ...)


def _without_train(value: Any, _: Mapping[str, Any]) -> Part:
    share = round(1 - value, 6) if isinstance(value, float) and 0 < value < 1 else None
    return _holdout(share, _)


def _shows_progress(value: Any, _: Mapping[str, Any]) -> Part:
    return use(progress=bool(value))


def _hides_progress(value: Any, _: Mapping[str, Any]) -> Part:
    return use(progress=not value)


def _error_rate(value: Any, _: Mapping[str, Any]) -> Part:
    level = value if isinstance(value, float) and 0.5 < value < 1 else None
    return use(alpha=... if level is None else round(1 - level, 10))


def _stratified(value: Any, _: Mapping[str, Any]) -> Part:
    if value is False:
        return "cv=bk.plan('10x10', stratified=False)"
    return "cv=10, whose folds are shuffled and stratified by class labels"


_FOLDS = ("folds", "fold", "n_folds", "n_splits", "k", "k_folds", "kfold", "nfolds", "num_folds")
_REPEATS = ("n_repeats", "repeats", "n_runs", "runs", "n_repetitions", "num_repeats")

HABITS: Mapping[str, Habit] = {
    **_each("learners", "estimators", "estimator", "models", "model", "algorithms", "classifiers",
            "classifier", "regressors", "regressor", "clfs", "clf", "pipelines", "pipeline",
            "methods", "candidates", "include"),
    **_each("data", "X", "x", "df", "frame", "dataset", "datasets", "dataframe", "train_data",
            "features", "file", "path", "csv", "X_train", "training_data"),
    **_each("target", "y", "label", "labels", "y_true", "target_column", "target_col", "response",
            "outcome", "y_train", "label_column", "dependent"),
    **_each("cv", "plan", "splits", "splitter", "cross_validation", "split", "resampling",
            "cross_validator", "fold_strategy", "design"),
    **dict.fromkeys((*_FOLDS, *_REPEATS), _runs_of_folds),
    **_each("scoring", "metric", "metrics", "loss", "losses", "score", "scorer", "scorers",
            "eval_metric", "eval_metrics", "objective", "criterion", "sort", "measure"),
    "test_size": _holdout, "test_fraction": _holdout, "holdout": _holdout,
    "train_size": _without_train,
    **_each("groups", "group", "group_column", "group_col", "fold_groups"),
    **_each("sample_weight", "weights", "weight", "sample_weights"),
    **_each("prefer", "prior", "preference", "preferences", "priority"),
    **_each("random_state", "seed", "random_seed", "rng", "session_id"),
    **_each("n_jobs", "jobs", "workers", "n_workers", "njobs", "num_workers", "n_cores",
            "processes", "max_workers"),
    "parallel": use(n_jobs=-1), "resume": use(store="fits.db"),
    **_each("alpha", "significance", "significance_level", "sig_level", "p", "level"),
    **dict.fromkeys(("confidence", "confidence_level", "conf_level"), _error_rate),
    **_each("margin", "delta", "epsilon", "tolerance", "equivalence_margin", "min_difference"),
    **_each("test", "statistical_test", "statistic"),
    **_each("budget", "time_limit", "time_budget", "max_time", "total_time", "budget_time",
            "max_runtime_secs", "time_left_for_this_task"),
    **_each("timeout", "fit_timeout", "per_run_time_limit", "max_fit_time"),
    **dict.fromkeys(("early_stopping", "early_stop", "race", "racing"), use(stop="settled")),
    **_each("store", "storage", "db", "database", "cache", "checkpoint"),
    **dict.fromkeys(("verbose", "verbosity", "show_progress", "progress_bar"), _shows_progress),
    **dict.fromkeys(("silent", "quiet"), _hides_progress),
    **dict.fromkeys(("stratify", "stratified", "shuffle"), _stratified),
    **dict.fromkeys(("names", "labels_", "learner_names", "model_names", "estimator_names"),
                    "learners={'name': estimator, ...}, a dictionary"),
    "error_score": "execution=bk.Execution(on_failure='stop')",
    "problem_type": _inside("execution", "Execution", "task"),
    "client": _inside("execution", "Execution", "scheduler"),
    **{option.name: _inside("settings", "Settings", option.name) for option in fields(Settings)},
    **{option.name: _inside("execution", "Execution", option.name) for option in fields(Execution)},
    **{option: _of_dataset(option) for option in ("nominal", "numeric", "ignore", "keep")},
    "categorical_features": _of_dataset("nominal"), "cat_features": _of_dataset("nominal"),
    "ignore_features": _of_dataset("ignore"), "drop": _of_dataset("ignore"),
}  # fmt: skip
"""Replacement of each keyword that `compare` does not have; its own arguments never get here."""

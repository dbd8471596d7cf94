"""Turn the caller's learners, data and plan into those of an experiment, or refuse them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, RunError, use
from bestofk._base.formatting import joined
from bestofk.data.conversion import as_dataset, convert_target
from bestofk.data.dataset import DataSet
from bestofk.data.duplicates import find_duplicates, joined_groups
from bestofk.data.frames import as_pandas
from bestofk.data.row_columns import ROLES, with_row_columns
from bestofk.data.schema import MIN_ROWS_PER_CLASS, Codes, are_whole_numbers as is_whole
from bestofk.data.suspicious import suspicious_columns
from bestofk.decide.foresee import foresee
from bestofk.decide.registry import PROCEDURES
from bestofk.decide.settings import Settings
from bestofk.learners.predict import seeds_of
from bestofk.learners.preparation import steps_of
from bestofk.learners.registry import panel
from bestofk.learners.specification import named_learners
from bestofk.run.experiment import Experiment, NamedLearner, UnavailableEstimator
from bestofk.run.one_test_set import refuse_untestable
from bestofk.run.results import (
    counts_rows_alike,
    instance_design,
    is_one_test_set,
    tested_units,
)
from bestofk.splits.design import Design
from bestofk.splits.plans import Plan
from bestofk.splits.rows import QUANTILES
from bestofk.splits.splits import Splits
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

BASELINES = {"classification": "baseline", "regression": "mean-baseline"}
DUMMIES = {"classification": "DummyClassifier", "regression": "DummyRegressor"}
"""Baselines for texts and sparse rows, which the built-in ones do not take."""
"""The learner that a single learner is compared with."""


def named_estimators(learners: Any, *, task: str = "classification") -> tuple[NamedLearner, ...]:
    """Return the named estimators; the default panel if `learners` is None.

    A class stands for its estimator with default settings.
    """
    if learners is None:
        learners = panel(task)
    named = named_learners(_as_learners(learners))
    return tuple(NamedLearner.of(name, estimator) for name, estimator in named.items())


def with_baseline(
    learners: tuple[NamedLearner, ...], data: DataSet
) -> tuple[tuple[NamedLearner, ...], tuple[str, ...]]:
    """Add a baseline to a single learner; also return a note that says so."""
    if len(learners) > 1:
        return learners, ()
    (learner,) = learners
    name = BASELINES[data.task]
    if name == learner.name:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got only {name!r}."
        )
    (estimator,) = named_learners([DUMMIES[data.task] if data.whole else name]).values()
    always = "the most frequent class" if data.task == "classification" else "the mean"
    note = (
        f"{learner.name} is the only learner that you passed; {name}, which always predicts "
        f"{always}, was added to compare it with."
    )
    return (learner, NamedLearner.of(name, estimator)), (note,)


def seed_notes(learners: Sequence[NamedLearner]) -> tuple[str, ...]:
    """Say which learners have a seed that the user set, and so the same one in every fit."""
    fixed = []
    for learner in learners:
        try:
            seeds = seeds_of(learner.estimator)
        except Exception:  # any class may raise anything; its fits report it
            continue
        if any(seed is not None for seed in seeds.values()):
            fixed.append(learner.name)
    if not fixed:
        return ()
    return (
        f"You set the random_state of {joined(fixed)}: every fit uses it, so the comparison is "
        f"about {'this seed' if len(fixed) == 1 else 'these seeds'}. Without it, every fit has a "
        "seed of its own.",
    )


def _as_learners(learners: Any) -> Any:
    """Return learners in a form that `named_learners` accepts; refuse data in their position."""
    if isinstance(learners, Mapping):
        return {name: _made(value) for name, value in learners.items()}
    if isinstance(learners, str):
        return [learners]
    if hasattr(learners, "fit") and hasattr(learners, "predict"):
        return [_made(learners)]
    if isinstance(learners, DataSet) or hasattr(learners, "shape") or hasattr(learners, "columns"):
        raise ArgumentError(
            f"The learners come first; got {type(learners).__name__} in their position: write "
            "compare(learners, X, y)."
        )
    if not hasattr(learners, "__iter__"):
        raise ArgumentError(
            f"learners must be a list of names and estimators, or a mapping; got {learners!r:.80}."
        )
    return [
        (value[0], _made(value[1]))
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)
        else _made(value)
        for value in learners
    ]


def check_task(learners: Sequence[NamedLearner], datasets: Sequence[DataSet]) -> None:
    """Refuse a regressor for labels and a classifier for numbers."""
    data = datasets[0]
    for learner in learners:
        if isinstance(learner.estimator, UnavailableEstimator):
            continue
        if _is_for(learner, _OTHER_TASK[data.task]):
            raise _wrong_kind(learner.name, data)
        _refuse_text_vectorizer(learner.name, learner.estimator, data)


_OTHER_TASK = {"classification": "regression", "regression": "classification"}


def with_task_of_learners(
    datasets: tuple[DataSet, ...], learners: Sequence[NamedLearner]
) -> tuple[DataSet, ...]:
    """Read whole numbers as numbers for regressors only, and as classes for classifiers only."""
    task = _OTHER_TASK[datasets[0].task]
    if not all(_is_for(one, task) for one in learners) or not all(map(_allows_both, datasets)):
        return datasets
    numbers = task == "regression"
    return tuple(
        replace(
            data,
            y=convert_target(data.y.astype(float if numbers else int), n=data.n, task=task),
            task=task,
            target_note=f"The target is read as {'numbers' if numbers else 'classes'}, because all "
            f"learners are {'regressors' if numbers else 'classifiers'}.",
        )
        for data in datasets
    )


def _is_for(learner: NamedLearner, task: str) -> bool:
    """Return whether a learner is a classifier or a regressor, as `task` demands."""
    from sklearn.base import is_classifier, is_regressor

    try:
        check = is_classifier if task == "classification" else is_regressor
        return bool(check(learner.estimator))
    except Exception:  # a user's class may raise anything; its fits report it
        return False


def _allows_both(data: DataSet) -> bool:
    """Return whether the task was a guess, and classes would have several rows."""
    rows = np.unique(data.y).size * MIN_ROWS_PER_CLASS
    return bool(data.target_note) and rows <= data.n


def _refuse_text_vectorizer(learner: str, estimator: Any, data: DataSet) -> None:
    """Refuse a step that reads a list of texts if the data are a table: it would read the names."""
    steps = steps_of(estimator)
    first = steps[0][1] if steps else estimator
    if data.whole or not hasattr(first, "build_analyzer"):
        return
    kind, columns = type(first).__name__, data.X.columns
    texts = next((name for name in columns if hasattr(data.X[name], "cat")), columns[0])
    raise ArgumentError(
        f"{learner} begins with {kind}, which reads a list of texts, and the data are a table: "
        f"choose its column, as in ColumnTransformer([('text', {kind}(), {str(texts)!r})])."
    )


def _wrong_kind(learner: str, data: DataSet) -> ArgumentError:
    if data.task == "regression":
        values = data.y.to_numpy(dtype=float)
        is_one, holds = "a classifier", f"numbers ({len(set(values.tolist()))} different values)"
        give, other, task = "regressors", "classes", "classification"
        possible = is_whole(values)
    else:
        is_one, holds = "a regressor", f"{len(data.classes)} classes"
        give, other, task = "classifiers", "numbers", "regression"
        possible = all(_is_numeral(label) for label in data.classes.tolist())
    also = (f", or take the target as {other} with ", use(task=task)) if possible else ()
    return ArgumentError(
        f"{learner} is {is_one}, and the target of {data.name!r} holds {holds}: give {give}",
        *also,
        ".",
    )


def _is_numeral(label: Any) -> bool:
    try:
        float(label)
    except (TypeError, ValueError):
        return False
    return True


class WithoutDefaults(UnavailableEstimator):
    """Stands for a class that has no estimator with default settings; its cells fail."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return what tells it from others."""
        return {"reason": self.reason}

    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Say why not."""
        raise RunError(self.reason)

    predict = fit


def _made(given: Any) -> Any:
    if not isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "predict")):
        return given
    try:
        return given()
    except Exception as raised:
        # any class may raise anything while it is made; its name is that of its stand-in
        return type(given.__name__, (WithoutDefaults,), {})(_why_not(given, raised))


def _why_not(kind: type, raised: Exception) -> str:
    from inspect import Parameter, signature

    lacking = [
        parameter.name
        for parameter in signature(kind).parameters.values()
        if parameter.default is Parameter.empty
        and parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    if lacking:
        call = ", ".join(f"{name}=..." for name in lacking)
        many = "arguments" if len(lacking) > 1 else "an argument"
        return f"needs {many}: give {kind.__name__}({call}) instead of the class alone."
    reason = " ".join(str(raised).split())[:200]
    return f"cannot be made with default settings ({type(raised).__name__}: {reason})."


_KINDS = {"classification": "labels", "regression": "numbers"}
_FORMS = (
    "compare(learners, X, y), compare(learners, frame, 'column'), "
    "compare(learners, 'file.csv', target='column') or compare(learners, 'iris')"
)


def as_datasets(
    data: Any,
    target: Any = None,
    *,
    task: str = "auto",
    columns: Mapping[str, Any] | None = None,
) -> tuple[DataSet, ...]:
    """Return the data sets that `data` and `target` stand for; see `bestofk.compare`.

    `columns` are groups, weights and folds of their rows (see `with_row_columns`).
    """
    columns = {role: given for role, given in (columns or {}).items() if given is not None}
    data, target = _separated(as_pandas(data), as_pandas(target, "target"))
    if data is None:
        raise ArgumentError(f"data must be given: {_FORMS}.")
    several = isinstance(data, list | tuple) and len(data) > 0 and all(map(_is_source, data))
    by_name = isinstance(target, str)
    if target is not None and not (several and by_name):
        if by_name and isinstance(data, str | os.PathLike):
            return (_dataset(data, task, columns, target=target),)
        if isinstance(data, str | os.PathLike | DataSet):
            raise ArgumentError(
                f"target is {_briefly(target)} and data is a {type(data).__name__}: give one of "
                f"{_FORMS}."
            )
        # used for the length of a call, and every learner gets slices
        return (as_dataset(data, target, task=task, copy=False, **columns),)
    if hasattr(data, "columns") or hasattr(data, "shape"):
        raise ArgumentError(f"target must be given: {_with_likely_target(data)}.")
    listed = list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]
    if not listed:
        raise ArgumentError("data must hold at least one data set; got none.")
    for role, given in columns.items():
        if len(listed) > 1 and not isinstance(given, str):
            raise ArgumentError(
                f"{role} of {len(listed)} data sets must be the name of a column that they have; "
                f"got {type(given).__name__}."
            )
    datasets = tuple(
        _dataset(one, task, columns, target=target, name=f"data {number}")
        for number, one in enumerate(listed, start=1)
    )
    names = [one.name for one in datasets]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"data sets must have names of their own; got {name!r} twice.")
    if len({one.task for one in datasets}) > 1:
        kinds = ", ".join(f"{one.name!r} {_KINDS[one.task]}" for one in datasets)
        raise ArgumentError(
            f"data sets must all have labels, or all numbers to predict; got {kinds}: say ",
            use(task="classification"),
            " or ",
            use(task="regression"),
            " if the numbers allow both.",
        )
    return datasets


def _separated(data: Any, target: Any) -> tuple[Any, Any]:
    """Separate features and target of a Bunch or of a pair (X, y); a list of one column name."""
    if target is None and isinstance(data, Mapping) and {"data", "target"} <= set(data):
        return data["data"], data["target"]
    is_pair = isinstance(data, tuple) and len(data) == 2 and not any(map(_is_name, data))
    if target is None and is_pair and not any(isinstance(part, DataSet) for part in data):
        features, values = (as_pandas(part) for part in data)
        if hasattr(features, "shape") and np.ndim(values) and len(values) == features.shape[0]:
            return features, values
    if isinstance(data, Mapping) and isinstance(target, str) and target in data:
        import pandas as pd

        data = pd.DataFrame(data)
    names = [str(name) for name in getattr(data, "columns", [])]
    if isinstance(target, list | tuple) and names and set(map(str, target)) <= set(names):
        if len(target) == 1:
            return data, str(target[0])
        if len(target) != len(data):
            raise ArgumentError(
                f"target names {len(target)} columns, a multi-output target, which bestofk does "
                "not support: compare one column at a time, as in ",
                use(target=str(target[0])),
                ".",
            )
    return data, target


def _is_name(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _is_source(value: Any) -> bool:
    """Return whether a value is a whole data set instead of a row."""
    return _is_name(value) or isinstance(value, DataSet) or hasattr(value, "columns")


def _briefly(value: Any) -> str:
    return f"the column {value!r:.60}" if isinstance(value, str) else type(value).__name__


def _with_likely_target(data: Any) -> str:
    """Return the call with the column that is probably the target, or all forms of a call."""
    by_lower = {str(name).lower(): str(name) for name in getattr(data, "columns", [])}
    for word in ("class", "target", "label", "y"):
        if word in by_lower:
            return f"compare(learners, frame, {by_lower[word]!r})"
    return _FORMS


def _dataset(
    source: Any,
    task: str,
    columns: Mapping[str, Any],
    *,
    target: Any = None,
    name: str = "data",
) -> DataSet:
    if isinstance(source, DataSet):
        if target is not None:
            raise ArgumentError(
                f"target does not apply to {source.name!r}, which has one: omit it."
            )
        if task not in ("auto", source.task):
            raise ArgumentError(
                f"{source.name!r} is a data set for {source.task}; got ",
                use(task=task),
                ": omit task.",
            )
        return with_row_columns(source, **columns)
    if isinstance(source, str | os.PathLike):
        named = {role: one for role, one in columns.items() if isinstance(one, str)}
        others = {role: one for role, one in columns.items() if role not in named}
        options = {} if task == "auto" else {"task": task}
        if target is not None:
            options["target"] = target
        return with_row_columns(dataset_of(source, **options, **named), **others)
    source = as_pandas(source)
    if hasattr(source, "columns") and target is not None:
        return as_dataset(source, target, name=name, task=task, copy=False, **columns)
    raise ArgumentError(
        f"data must be data sets, files or names of embedded sets; got {source!r:.80}."
    )


def dataset_of(source: str | os.PathLike[str], **options: Any) -> DataSet:
    """Read a file, or an embedded data set if no such file exists."""
    from bestofk._base.missing_files import check_source
    from bestofk.data.embedded import DATASETS
    from bestofk.data.reading import load, read_dataset

    text = os.fspath(source)
    if text in DATASETS and not Path(text).exists():
        columns = {role: options.pop(role, None) for role in ROLES}
        if options.get("task") in (None, "auto", DATASETS[text].task):
            options.pop("task", None)
        for option, value in options.items():
            if value:
                raise ArgumentError(
                    f"{option} does not apply to {text!r}, an embedded data set whose columns and "
                    "target are known."
                )
        return with_row_columns(load(text), **columns)
    check_source(text, "file or embedded data set", "bestofk.data.embedded:DATASETS")
    return read_dataset(text, **options)


MIN_GROUPS = 10
"""Keep copies together only if at least this many different groups of rows remain."""
MAX_FOLDS_PER_GROUP = 2.0
"""Keep copies together only if no group is larger than this many folds of average size."""


def checked_rows(data: DataSet, plan: Plan | None) -> DataSet:
    """Return the data set with copies of a row in one group, and with remarks on what looks wrong.

    Copies are not independent: a test that counts them finds differences between equal learners,
    and a learner that is tested on a copy of a training row looks better than it is. Rows that are
    equal by coincidence (`bestofk.data.duplicates`) stay apart. So do copies if the plan or their
    number does not allow to keep them together; a remark then says so.
    """
    import pandas as pd

    by_time = plan is not None and plan.kind == "time"
    remarks = suspicious_columns(data, by_time=by_time)
    if remarks:  # a copy has to encode its rows again
        data = replace(data, remarks=(*data.remarks, *remarks))
    duplicates = find_duplicates(data)
    if duplicates is None:
        return data
    if duplicates.coincidental:
        sentence = f"{duplicates.explain()}, as is to be expected from such coarse values."
        return replace(data, account=(*data.account, sentence))
    codes = duplicates.codes
    if data.groups is not None:
        codes = joined_groups(data.groups.to_numpy(), codes)
    obstacle = _why_apart(codes, plan)
    if obstacle:
        remark = (
            f"{duplicates.explain()}, and {obstacle}. The test counts copies as independent rows, "
            "so its p-values are too small: remove the copies."
        )
        return replace(data, remarks=(*data.remarks, remark))
    remark = (
        f"{duplicates.explain()}: copies stay in one fold and count as one of "
        f"{int(codes.max()) + 1:,} groups."
    )
    return replace(data, groups=pd.Series(codes), remarks=(*data.remarks, remark))


def _why_apart(codes: Codes, plan: Plan | None) -> str:
    """Return why copies cannot be kept together; empty if they can."""
    if plan is not None and (plan.source is not None or plan.kind == "time"):
        return "your own splits may divide them"
    sizes = np.bincount(codes)
    folds = 5 if plan is None or plan.folds is None or plan.kind != "cv" else plan.folds
    if len(sizes) < max(MIN_GROUPS, folds):
        return f"there are only {len(sizes)} different rows"
    if sizes.max() > MAX_FOLDS_PER_GROUP * len(codes) / folds:
        return f"{int(sizes.max()):,} copies of one row are too many for one fold"
    return ""


def splits_for(plan: Plan, datasets: Sequence[DataSet]) -> tuple[Splits, ...]:
    """Return the splits of every data set; refuse plans with different numbers of splits."""
    splits_of_data = tuple(_splits(plan, data) for data in datasets)
    for data, splits in zip(datasets[1:], splits_of_data[1:], strict=True):
        first = splits_of_data[0]
        if (splits.runs, splits.folds, splits.design.kind) != (
            first.runs, first.folds, first.design.kind,
        ):  # fmt: skip
            raise ArgumentError(
                f"plan must give the same number of splits on all data sets; got "
                f"{first.design.describe()} on {datasets[0].name!r} and {splits.design.describe()} "
                f"on {data.name!r}: '10x10' does."
            )
    return splits_of_data


def _splits(plan: Plan, data: DataSet) -> Splits:
    """Return the splits of a data set; do not stratify by numbers to predict."""
    numbers = data.task == "regression"
    if numbers and plan.stratified is True:
        raise ArgumentError(
            f"Folds stratified by labels need classes, and {data.name!r} has numbers to predict: ",
            use(stratified=QUANTILES),
            " gives every fold its share of small and large ones.",
        )
    keep_y = not numbers or plan.source is not None or plan.stratified == QUANTILES
    splits = plan.materialise(
        data.n,
        data.y if keep_y else None,
        None if data.groups is None else data.groups.to_numpy(),
        X=data.X if data.folds is None else data.folds.to_frame(),
    )
    if data.sample_weight is not None and (data.sample_weight == 0).any():
        _refuse_weightless(splits, data.sample_weight.to_numpy(dtype=np.float64))
    return splits


def _refuse_weightless(splits: Splits, weights: Floats) -> None:
    """Refuse splits of which one side counts for nothing."""
    for run, fold, train, test in splits:
        for rows, side in ((train, "training"), (test, "test")):
            if not weights[rows].any():
                raise ArgumentError(
                    f"sample_weight: all {side} rows of run {run + 1}, fold {fold + 1} have the "
                    "weight 0; leave such rows out of the data."
                )


REPEATED = "10x10"
MIN_ROWS = 10
"""Minimum number of rows for the default plans."""
RUNS_UP_TO_ROWS = {2_000: 10, 20_000: 5}
RUNS_ABOVE = 3
"""Runs of the nested plan. More rows need fewer of them, at a few points less power, and each takes
longer. Measured by ``python studies/default_plan.py``."""


def default_plan(
    *,
    rows: int,
    datasets: int = 1,
    procedure: str = "best",
    test: Any = "auto",
    budget: float | None = None,
    groups: int | None = None,
    stops: bool = False,
) -> str:
    """Return the plan of a comparison that names none.

    On one data set, use nested cross-validation: its test keeps its level whatever the learners.
    Use ten runs up to 2,000 rows, five up to 20,000 and three above. Use ten runs of ten folds for
    several data sets, of which only the means are tested, for a test or a procedure that makes no
    use of nested runs, and within a budget of time, which might end before the nested runs do. Use
    fewer folds, of two rows or more, if there are fewer than ten rows.

    - `rows`: Rows of the (smallest) data set.
    - `datasets`: How many there are.
    - `procedure`, `test`: As for `order`.
    - `budget`: As for `compare`.
    - `groups`: Groups of the data set with the fewest, which then stay whole: the same plans of
      groups, and with fewer than ten of them one run in which every group is a fold.
    - `stops`: Whether the comparison stops early. It then runs the nested runs of one run before
      the next run, so a budget does not matter.

    Examples
    --------
    >>> default_plan(rows=150), default_plan(rows=50_000), default_plan(rows=150, datasets=3)
    ('10x5+nested', '3x5+nested', '10x10')
    """
    uses_nested = PROCEDURES[procedure].takes_test and isinstance(test, str)
    if uses_nested and test != "auto":
        uses_nested = test in PAIRWISE_TESTS and PAIRWISE_TESTS[test].nested
    enough = (rows if groups is None else groups) >= MIN_ROWS
    if datasets == 1 and uses_nested and enough and (budget is None or stops):
        runs = next((runs for most, runs in RUNS_UP_TO_ROWS.items() if rows <= most), RUNS_ABOVE)
        return f"{'' if groups is None else 'group-'}{runs}x5+nested"
    if groups is not None:
        # two groups in each fold at least, or all runs would be the same
        repeated = f"group-{REPEATED}" if groups >= 2 * MIN_ROWS else "group-10x5"
        return repeated if enough else f"group-kfold:{max(2, groups)}"
    # two rows in each fold at least, so that the plan can be made
    return REPEATED if enough or rows < 4 else f"10x{rows // 2}"


def check_settings(experiment: Experiment, settings: Settings) -> None:
    """Refuse before the first fit what cannot be decided afterwards."""
    names = [learner.name for learner in experiment.learners]
    design, zero_one = experiment.splits[0].design, False
    splits = experiment.splits[0]
    if len(experiment.datasets) == splits.runs * splits.folds == 1:
        refuse_untestable(experiment.loss)
    if is_one_test_set(experiment):
        kind = instance_design(experiment)
        design = Design(kind=kind or "test-set", folds=tested_units(experiment))
        zero_one = experiment.loss.name == "zero-one" and counts_rows_alike(experiment)
    with warnings.catch_warnings():
        # the decision itself repeats them
        warnings.simplefilter("ignore")
        foresee(settings, names, design, datasets=len(experiment.datasets), zero_one=zero_one)

"""Turn the caller's learners, data and plan into those of a study, or refuse them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import counted, joined
from bestofk.data.dataset import DataSet
from bestofk.data.reading import convert_target, read_data
from bestofk.data.schema import (
    MIN_ROWS_PER_CLASS,
    OTHER_TASK,
    Codes,
    are_whole_numbers,
)
from bestofk.decide.pairs import foresee
from bestofk.decide.registry import RULES
from bestofk.decide.settings import Settings
from bestofk.learners.preparation import innermost
from bestofk.learners.registry import panel
from bestofk.learners.specification import named_learners
from bestofk.run.data_cautions import column_cautions, find_copies, joined_groups
from bestofk.run.fit import HeldOutRows, Rows, metric_arguments, parts_of, weight_argument
from bestofk.run.live import Live
from bestofk.run.metrics import Labels, Loss
from bestofk.run.task import describe_error
from bestofk.splits.plans import Plan
from bestofk.splits.splits import QUANTILES, Splits
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

BASELINES = {"classification": "baseline", "regression": "mean-baseline"}
"""The learner that a single learner is compared with."""
DUMMIES = {"classification": "DummyClassifier", "regression": "DummyRegressor"}
"""Baselines for texts and sparse rows, which the built-in ones do not take."""


def named_estimators(learners: Any, *, task: str = "classification") -> dict[str, Any]:
    """Return the estimators by name; the default panel if `learners` is None.

    A class stands for its estimator with default settings.
    """
    if learners is None:
        learners = panel(task)
    return dict(named_learners(_as_learners(learners)))


def with_baseline(
    learners: dict[str, Any], data: DataSet
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Add a baseline to a single learner; also return a note that says so."""
    if len(learners) > 1:
        return learners, ()
    (learner,) = learners
    name = BASELINES[data.task]
    if name == learner:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got only {name!r}."
        )
    (estimator,) = named_learners([DUMMIES[data.task] if data.whole else name]).values()
    always = "the most frequent class" if data.task == "classification" else "the mean"
    note = (
        f"{learner} is the only learner that you passed; {name}, which always predicts "
        f"{always}, was added to compare it with."
    )
    return {**learners, name: estimator}, (note,)


def _as_learners(learners: Any) -> Any:
    """Return learners in a form that `named_learners` accepts; refuse data in their position."""
    if isinstance(learners, Mapping | str):
        return learners
    if hasattr(learners, "fit") and hasattr(learners, "predict"):
        return [learners]
    if isinstance(learners, DataSet) or hasattr(learners, "shape") or hasattr(learners, "columns"):
        raise ArgumentError(
            f"The learners come first; got {type(learners).__name__} in their position: write "
            "compare(learners, X, y)."
        )
    if not hasattr(learners, "__iter__"):
        raise ArgumentError(
            f"learners must be a list of names and estimators, or a mapping; got {learners!r:.80}."
        )
    return learners


def check_task(learners: Mapping[str, Any], datasets: Sequence[DataSet]) -> None:
    """Refuse a regressor for labels and a classifier for numbers."""
    data = datasets[0]
    for name, estimator in learners.items():
        if _is_for(estimator, OTHER_TASK[data.task]):
            raise _wrong_kind(name, data)


def with_task_of_learners(
    datasets: tuple[DataSet, ...], learners: Mapping[str, Any]
) -> tuple[DataSet, ...]:
    """Read whole numbers as numbers for regressors only, and as classes for classifiers only."""
    task = OTHER_TASK[datasets[0].task]
    if not all(_is_for(one, task) for one in learners.values()) or not all(
        map(_allows_both, datasets)
    ):
        return datasets
    numbers = task == "regression"
    return tuple(
        replace(
            data,
            y=convert_target(data.y.astype(float if numbers else int), str(data.y.name), task=task),
            task=task,
            task_guessed=False,
        )
        for data in datasets
    )


def _is_for(estimator: Any, task: str) -> bool:
    """Return whether a learner is a classifier or a regressor, as `task` demands."""
    from sklearn.base import is_classifier, is_regressor

    try:
        check = is_classifier if task == "classification" else is_regressor
        return bool(check(estimator))
    except Exception:  # a user's class may raise anything; its fits report it
        return False


def _allows_both(data: DataSet) -> bool:
    """Return whether the task was a guess, and classes would have several rows."""
    rows = np.unique(data.y).size * MIN_ROWS_PER_CLASS
    return data.task_guessed and rows <= data.n


def _wrong_kind(learner: str, data: DataSet) -> ArgumentError:
    if data.task == "regression":
        values = data.y.to_numpy(dtype=float)
        is_one, holds = "a classifier", f"numbers ({len(set(values.tolist()))} different values)"
        give, other, task = "regressors", "classes", "classification"
        possible = are_whole_numbers(values)
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


def weight_notes(live: Live) -> tuple[str, ...]:
    """Say who does not use the weights of the rows, if there are any."""
    if all(data.sample_weight is None for data in live.datasets):
        return ()
    notes = []
    without = [name for name, one in live.learners.items() if weight_argument(one) is None]
    if without:
        accepts, is_fitted = ("accepts", "is") if len(without) == 1 else ("accept", "are")
        notes.append(f"{joined(without)} {accepts} no weights and {is_fitted} fitted without them.")
    if not live.metric.takes_weights:
        notes.append(
            f"The metric {live.metric.name!r} accepts no weights: all test rows count equally."
        )
    return tuple(notes)


def refuse_unscorable(learners: Mapping[str, Any], loss: Loss) -> None:
    """Refuse, before the first fit, learners without the predictions that the loss needs."""
    methods = loss.methods
    if not methods or "predict" in methods:
        return
    lacking = [name for name, one in learners.items() if _lacks(one, methods)]
    if lacking:
        have = "has" if len(lacking) == 1 else "have"
        first = type(innermost(learners[lacking[0]])).__name__
        raise ArgumentError(
            f"{joined(lacking)} {have} no {' or '.join(methods)}, which the metric {loss.name!r} "
            f"needs: leave {'it' if len(lacking) == 1 else 'them'} out, use another metric, or add "
            f"probabilities, as in CalibratedClassifierCV({first}())."
        )


def check_loss(loss: Loss, data: DataSet, splits: Splits, classes: Labels | None) -> None:
    """Refuse before the first fit a loss that cannot score the test rows of some split.

    A mean over rows always can. Other losses score made-up predictions, for each set of classes in
    a test set. A scorer that is a plain function is not tried, because it may read anything of a
    fitted model.
    """
    by_class = loss.name.startswith("cost:") or (":" in loss.name and loss.needs == "model")
    if by_class and classes is not None and {*classes.tolist()} != {*data.classes.tolist()}:
        raise ArgumentError(
            f"metric {loss.name!r} is for the classes {', '.join(map(str, classes))}, but "
            f"{data.name!r} has others: compare such data sets one by one."
        )
    if loss.each is not None or loss.needs == "costs" or loss.reads_model:
        return
    from bestofk.run.one_test_set import Predictions

    tried, of_data = set(), Rows(data)
    for run, fold in splits.run_folds():
        rows = replace(of_data.held_out(splits.test(run, fold)), weights=None)
        truth, n = rows.truth, len(rows.truth)
        kind = min(n, 2) if rows.codes is None else frozenset(rows.codes.tolist())
        if kind in tried:
            continue
        tried.add(kind)
        even = (
            None if rows.classes is None else np.full((n, len(rows.classes)), 1 / len(rows.classes))
        )
        made_up = Predictions(classes=rows.classes, labels=np.roll(truth, 1), probabilities=even)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = loss.value(*metric_arguments(loss, rows, made_up))
            reason = "" if np.isfinite(value) else f"it is {value}"
        except Exception as raised:  # a user's metric may raise anything
            reason = describe_error(raised).rstrip(".")
        if reason:
            raise ArgumentError(
                f"metric {loss.name!r} cannot score {counted(n, 'test row')} of "
                f"{data.name!r} ({reason}): use ",
                use(scoring=_other_metric(loss, rows)),
                ".",
            )


def _other_metric(loss: Loss, rows: HeldOutRows) -> str:
    """Return a metric that can score some rows: for several classes, or else for each row."""
    from sklearn.metrics import get_scorer_names

    if rows.classes is None:
        return "squared"
    plain = loss.name.partition(":")[0]
    several = len(np.unique(rows.truth)) == len(rows.classes) > 2
    others = (f"{plain}_macro", f"{plain}_ovr") if several else ()
    return next((name for name in others if name in get_scorer_names()), "zero-one")


def _lacks(estimator: Any, methods: Sequence[str]) -> bool:
    """Return whether an estimator certainly has none of the methods, even after `fit`."""
    inner = innermost(estimator)
    if hasattr(inner, "fit_encoded"):
        return not hasattr(inner, "_proba_encoded")
    if parts_of(inner):
        return False  # it may depend on its parts
    try:
        return not any(hasattr(inner, method) for method in methods)
    except Exception:  # any class may raise anything
        return False


_KINDS = {"classification": "labels", "regression": "numbers"}


def as_datasets(
    data: Any,
    target: Any = None,
    *,
    task: str = "auto",
    columns: Mapping[str, str] | None = None,
    **roles: Any,
) -> tuple[DataSet, ...]:
    """Return the data sets that `data` and `target` stand for; see `bestofk.compare`.

    `roles` are groups, weights, folds and slices of their rows (see `with_row_columns`).
    """
    if data is None:
        raise ArgumentError("data must be given, as in compare(learners, X, y).")
    options: dict[str, Any] = {"task": task, "columns": columns}
    options |= {role: value for role, value in roles.items() if value is not None}
    named = target is None or isinstance(target, str)
    several = isinstance(data, list | tuple) and len(data) > 0 and all(map(_is_source, data))
    if not (several and named):
        # used for the length of a call, and every learner gets slices
        return (read_data(data, target, copy=False, **options),)
    for role, value in roles.items():
        if len(data) > 1 and value is not None and not isinstance(value, str):
            raise ArgumentError(
                f"{role} of {len(data)} data sets must be the name of a column that they have; "
                f"got {type(value).__name__}."
            )
    datasets = tuple(
        read_data(
            one, target, name=f"data {number}" if hasattr(one, "columns") else None, copy=False,
            **options,
        )
        for number, one in enumerate(data, start=1)
    )  # fmt: skip
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


def _is_source(value: Any) -> bool:
    """Return whether a value is a whole data set instead of a row."""
    return isinstance(value, str | os.PathLike | DataSet) or hasattr(value, "columns")


MIN_GROUPS = 10
"""Keep copies together only if at least this many different groups of rows remain."""
MAX_FOLDS_PER_GROUP = 2.0
"""Keep copies together only if no group is larger than this many folds of average size."""


def checked_rows(data: DataSet, plan: Plan | None, *, split: bool = False) -> DataSet:
    """Return the data set with copies of a row in one group, and with notes on what looks wrong.

    Copies are not independent: a test that counts them finds differences between equal learners,
    and a learner that is tested on a copy of a training row looks better than it is. Rows that are
    equal by coincidence (`bestofk.run.data_cautions`) stay apart. So do copies if the plan or their
    number does not allow to keep them together, or if they are to be `split`; a note then says so.
    """
    import pandas as pd

    notes = column_cautions(data)
    if notes:  # a copy has to encode its rows again
        data = replace(data, notes=(*data.notes, *notes))
    codes = find_copies(data)
    if codes is None:
        return data
    extra = data.n - (int(codes.max()) + 1)
    repeat = "repeats" if extra == 1 else "repeat"
    copies = f"{counted(extra, 'row')} of {data.n:,} {repeat} another row exactly"
    if data.groups is not None:
        codes = joined_groups(data.groups.to_numpy(), codes)
    obstacle = "they are split like other rows" if split else _why_apart(codes, plan)
    if obstacle:
        note = (
            f"{copies}, and {obstacle}. The test counts copies as independent rows, "
            "so its p-values are too small: remove the copies."
        )
        return replace(data, notes=(*data.notes, note))
    note = f"{copies}: copies stay in one fold and count as one of {int(codes.max()) + 1:,} groups."
    return replace(data, groups=pd.Series(codes), notes=(*data.notes, note))


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


def unstratified(plan: Plan) -> Plan:
    """Return the plan with plain random splits."""
    if plan.source is not None:
        raise ArgumentError("stratify does not apply to your own splits: leave it out.")
    return replace(plan, stratified=False)


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
    return plan.materialise(
        data.n,
        data.y if keep_y else None,
        None if data.groups is None else data.groups.to_numpy(),
        X=data.X if data.folds is None else data.folds.to_frame(),
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
    rule: str = "best",
    test: Any = "auto",
    budget: float | None = None,
    groups: int | None = None,
    stops: bool = False,
) -> str:
    """Return the plan of a comparison that names none.

    On one data set, use nested cross-validation: its test keeps its level whatever the learners.
    Use ten runs up to 2,000 rows, five up to 20,000 and three above. Use ten runs of ten folds for
    several data sets, of which only the means are tested, for a test or a rule that makes no
    use of nested runs, and within a budget of time, which might end before the nested runs do. Use
    fewer folds, of two rows or more, if there are fewer than ten rows.

    - `rows`: Rows of the (smallest) data set.
    - `datasets`: How many there are.
    - `rule`, `test`: As for `compare_scores`.
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
    uses_nested = RULES[rule].takes_test and isinstance(test, str)
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


def check_settings(live: Live, settings: Settings) -> None:
    """Refuse before the first fit what cannot be decided afterwards."""
    design, zero_one = live.record.design, False
    if len(live.datasets) == design.runs * design.folds == 1:
        from bestofk.run.one_test_set import one_split_design

        design, zero_one = one_split_design(live)
    with warnings.catch_warnings():
        # the decision itself repeats them
        warnings.simplefilter("ignore")
        foresee(settings, live.record.names, design, datasets=len(live.datasets), zero_one=zero_one)

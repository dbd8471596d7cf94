"""Cautions about the data and learners of a comparison, each only if these data show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bestofk._base.formatting import joined
from bestofk.data.dataset import DataSet
from bestofk.learners.preparation import innermost, last_step, steps_of
from bestofk.learners.registry import LEARNERS
from bestofk.run.experiment import Experiment, NamedLearner
from bestofk.splits.plans import YOUR_SPLITS
from bestofk.splits.splits import Splits

MIN_UNTRAINED_SHARE = 0.01
"""Share of test rows with untrained classes from which a caution says so."""
MIN_SCALE_RATIO = 100.0
"""Ratio of the standard deviations of two columns from which scaling matters."""
MIN_MAJORITY = 0.95
"""Share of the most frequent class from which accuracy says little."""
_UNSTRATIFIED = (YOUR_SPLITS, "predefined", "time", "group")
"""How the names of plans begin whose folds may lack a class."""
_NEED_SCALES = (
    "SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "KNeighborsClassifier",
    "KNeighborsRegressor", "RadiusNeighborsClassifier", "RadiusNeighborsRegressor",
    "MLPClassifier", "MLPRegressor", "SGDClassifier", "SGDRegressor", "LogisticRegression",
    "RidgeClassifier", "Ridge", "Lasso", "ElasticNet", "KernelRidge",
)  # fmt: skip
"""Classes of scikit-learn whose models depend on the scale of the columns."""
_SCALERS = ("Scaler", "Transformer", "Normalizer", "Discretizer")
"""How the names of steps end after which the scale of the columns is no longer the user's."""


def data_cautions(experiment: Experiment) -> tuple[str, ...]:
    """Return one sentence per caution."""
    cautions: list[str] = []
    for data, splits in zip(experiment.datasets, experiment.splits, strict=True):
        if data.task == "classification":
            cautions += _untrained_classes(data, splits)
            if experiment.loss.name in ("zero-one", "accuracy") and not experiment.also:
                cautions += _rare_classes(data)
        cautions += _scales(experiment.learners, data)
    return (*cautions, *_fitted(experiment.learners))


def _untrained_classes(data: DataSet, splits: Splits) -> Iterator[str]:
    """Say that test rows have classes that no training row of their split has."""
    if not splits.spec.startswith(_UNSTRATIFIED):
        return
    codes, classes = data.labels()
    tested = untrained = 0
    for _, _, train, test in splits:
        trained = np.bincount(codes[train], minlength=len(classes)) > 0
        tested += len(test)
        untrained += int(np.count_nonzero(~trained[codes[test]]))
    if untrained >= max(1.0, MIN_UNTRAINED_SHARE * tested):
        advice = (
            f"the plan kfold:{splits.folds} shuffles and stratifies the rows"
            if splits.spec == YOUR_SPLITS and splits.folds > 1
            else "merge rare classes"
        )
        yield (
            f"{untrained / tested:.0%} of the test rows of {data.name!r} have a class that no "
            f"training row of their split has, so no learner can predict them: {advice}."
        )


def _rare_classes(data: DataSet) -> Iterator[str]:
    """Say that always predicting the most frequent class is nearly always right."""
    codes, classes = data.labels()
    counts = np.bincount(codes, minlength=len(classes))
    share = counts.max() / len(codes)
    if share >= MIN_MAJORITY:
        metrics = "balanced_accuracy or average_precision" if len(classes) == 2 else (
            "balanced_accuracy"
        )  # fmt: skip
        yield (
            f"{share:.1%} of the rows of {data.name!r} are {classes.tolist()[counts.argmax()]!r}, "
            f"so accuracy says little about the other rows: use the metric {metrics}."
        )


def _scales(learners: Sequence[NamedLearner], data: DataSet) -> Iterator[str]:
    """Say that learners depend on the scale of columns whose scales differ a lot."""
    unscaled = [one for one in learners if one.name not in LEARNERS and _is_unscaled(one.estimator)]
    if not unscaled or data.whole:
        return
    numeric = [column for column, kind in data.kinds.items() if kind == "numeric"]
    deviations = data.X[numeric].std().astype(float)
    deviations = deviations[deviations > 0]
    if len(deviations) < 2 or deviations.max() < MIN_SCALE_RATIO * deviations.min():
        return
    first = unscaled[0].estimator
    code = " ".join(repr(last_step(first)).split())
    names = [one.name for one in unscaled]
    yield (
        f"{joined(names)} {'depends' if len(names) == 1 else 'depend'} on the scale of the "
        f"columns, and the values of {str(deviations.idxmax())!r} vary "
        f"{deviations.max() / deviations.min():,.0f} times as much as those of "
        f"{str(deviations.idxmin())!r}: use make_pipeline(StandardScaler(), {code})."
    )


def _is_unscaled(estimator: Any) -> bool:
    """Return whether a learner depends on scales and no step before it changes them."""
    if type(innermost(estimator)).__name__ not in _NEED_SCALES:
        return False
    while True:
        steps = [type(step).__name__ for _, step in steps_of(estimator)]
        if any(step.endswith(_SCALERS) for step in steps):
            return False
        inner = getattr(last_step(estimator), "estimator", None)
        if inner is None:
            return True
        estimator = inner


def _fitted(learners: Sequence[NamedLearner]) -> Iterator[str]:
    """Say that fitted models are fitted again."""
    names = [one.name for one in learners if _is_fitted(last_step(one.estimator))]
    if names:
        yield (
            f"{joined(names)} {'was' if len(names) == 1 else 'were'} fitted before, and compare "
            "fits every learner again in each fold: compare_fitted scores fitted models as they "
            "are."
        )


def _is_fitted(estimator: Any) -> bool:
    """Return whether a learner has attributes that scikit-learn's learners get when fitted."""
    names = getattr(estimator, "__dict__", {})
    return any(name.endswith("_") and not name.startswith("_") for name in names)

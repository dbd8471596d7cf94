"""All the splits of a plan at once where a learner offers it, else split by split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from inspect import signature
from typing import Any, Protocol

import numpy as np

from bestofk.data.encoded import Codes, Encoded
from bestofk.errors import RunError
from bestofk.plans.splits import Splits


class LabelledData(Protocol):
    """A data set: its rows, their labels, and both as codes."""

    @property
    def X(self) -> Any: ...  # noqa: N802
    @property
    def y(self) -> Any: ...
    def encoded(self) -> Encoded: ...


def predict_plan(
    estimator: Any,
    data: LabelledData,
    splits: Splits,
    *,
    seeds: Sequence[int] | None = None,
) -> list[Codes]:
    """Predicted class codes for every split, in the order (run, fold).

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not fitted, and left as it is. Where it needs numbers, nominal columns and missing cells
        are prepared inside each split (see `bestofk.learners.for_data`).
    data : DataSet
        The rows.
    splits : Splits
        Which of them train and which test.
    seeds : sequence of int, optional
        One `random_state` for each split, for estimators that have one.

    Returns
    -------
    list of int64 arrays
        Codes among ``data.encoded().classes``, aligned with ``splits.test(run, fold)``. They
        equal those of `predict_split_by_split`, prediction by prediction.
    """
    seeded = seeds is not None and seed_names(estimator)
    if hasattr(estimator, "_predict_plan") and not seeded and not splits.leaves_out:
        encoded = data.encoded()
        predictions: list[Codes] = estimator._predict_plan(encoded, splits.main)
        subsets = list(range(splits.runs, splits.runs + splits.subset_runs))
        return [*predictions, *predict_subsets(estimator, encoded, splits, subsets)]
    if hasattr(estimator, "fit_encoded"):
        return predict_encoded_splits(estimator, data.encoded(), splits, seeds=seeds)
    return predict_split_by_split(estimator, data, splits, seeds=seeds)


def predict_subsets(
    estimator: Any, encoded: Encoded, splits: Splits, runs: Sequence[int]
) -> Iterator[Codes]:
    """Predicted codes for the folds of some runs on parts of the rows, each run at once."""
    if not runs:
        return
    if splits.shares_models(runs[0]):
        predicted = estimator._predict_plan(encoded, splits.pairs_left_out(runs))
        for run, codes in zip(runs, predicted, strict=True):
            tested = splits.folds_tested(run)
            yield from (codes[tested == fold] for fold in range(splits.folds_in(run)))
        return
    for run in runs:
        rows, alone = splits.half(run)
        yield from estimator._predict_plan(encoded.take(rows), alone)


def predict_split_by_split(
    estimator: Any,
    data: LabelledData,
    splits: Splits,
    *,
    seeds: Sequence[int] | None = None,
) -> list[Codes]:
    """The same as `predict_plan` by one public fit and predict for every split."""
    from bestofk.learners.for_data import for_data

    estimator = for_data(estimator, data.X)
    classes = data.encoded().classes
    position = {label: code for code, label in enumerate(classes.tolist())}
    predictions = []
    for split, (_, _, train, test) in enumerate(splits):
        model = _fresh(estimator, seeds, split)
        model.fit(data.X.iloc[train], data.y.iloc[train])
        labels = np.asarray(model.predict(data.X.iloc[test])).tolist()
        try:
            codes = [position[label] for label in labels]
        except (KeyError, TypeError):
            strange = next(label for label in labels if label not in position)
            raise RunError(
                f"{type(estimator).__name__} predicted {strange!r}, which is none of the classes "
                f"{list(position)}."
            ) from None
        predictions.append(np.array(codes, dtype=np.int64))
    return predictions


def predict_encoded_splits(
    estimator: Any, encoded: Encoded, splits: Splits, *, seeds: Sequence[int] | None = None
) -> list[Codes]:
    """The same, by one fit and predict for every split on rows that are encoded once."""
    return [
        _fresh(estimator, seeds, split)
        .fit_encoded(encoded.take(train))
        .predict_encoded(encoded.values[test])
        for split, (_, _, train, test) in enumerate(splits)
    ]


def _fresh(estimator: Any, seeds: Sequence[int] | None, split: int) -> Any:
    from sklearn.base import clone

    model = clone(estimator)
    if seeds is not None:
        model.set_params(**{name: int(seeds[split]) for name in seed_names(estimator)})
    return model


def seed_names(estimator: Any) -> list[str]:
    """The settings of an estimator, or of estimators inside it, that hold a seed.

    A learner of ours says itself (`_uses_seed`) whether a seed could matter as it is set.
    """
    if not hasattr(estimator, "get_params"):
        return []
    if hasattr(estimator, "_uses_seed") and not estimator._uses_seed():
        return []
    settings = estimator.get_params(deep=True)
    found = [name for name in settings if name.rpartition("__")[2] in _SEEDS]
    for name, part in {"": estimator, **settings}.items():
        # a class may list only what was set
        kind: Any = type(part)
        if hasattr(part, "get_params") and "random_state" in _arguments(kind):
            start = f"{name}__" if name else ""
            if not any(f"{start}{seed}" in settings for seed in _SEEDS):
                found.append(f"{start}random_state")
    return found


_SEEDS = ("random_state", "random_seed")


@cache
def _arguments(kind: Any) -> frozenset[str]:
    """The names of the arguments of a class."""
    try:
        return frozenset(signature(kind).parameters)
    except (TypeError, ValueError):
        return frozenset()

"""Predict all the splits of a plan, at once if the learner supports it, else split by split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import RunError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import (
    predict_encoded_splits,
    predict_subsets,
    seed_names,
    with_seed,
)
from bestofk.learners.preparation import ready_learner

if TYPE_CHECKING:
    from bestofk.data.dataset import DataSet
    from bestofk.splits.splits import Splits

Wrong = npt.NDArray[np.bool_]


def predict_plan(
    estimator: Any,
    data: DataSet,
    splits: Splits,
    *,
    seeds: Sequence[int] | None = None,
) -> list[Codes]:
    """Predict class codes for every split, in the order (run, fold).

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not fitted, and not changed. If it needs numbers, nominal columns and missing cells are
        prepared inside each split (see `bestofk.learners.preparation`).
    data : DataSet
        The rows.
    splits : Splits
        The training and test rows of each split.
    seeds : sequence of int, optional
        One `random_state` per split, for estimators that have one.

    Returns
    -------
    list of int64 arrays
        Codes among ``data.encoded().classes``, aligned with ``splits.test(run, fold)``. They
        equal those of `predict_split_by_split`.
    """
    seeded = seeds is not None and seed_names(estimator)
    if hasattr(estimator, "_predict_plan") and not seeded and not splits.leaves_out:
        return predict_encoded_plan(estimator, data.encoded(), splits)
    if hasattr(estimator, "fit_encoded"):
        return predict_encoded_splits(estimator, data.encoded(), splits, seeds=seeds)
    return predict_split_by_split(estimator, data, splits, seeds=seeds)


def predict_encoded_plan(estimator: Any, encoded: Encoded, splits: Splits) -> list[Codes]:
    """Predict class codes for every split at once, with a learner that supports it."""
    predictions: list[Codes] = estimator._predict_plan(encoded, splits.main)
    subsets = list(range(splits.runs, splits.runs + splits.subset_runs))
    return [*predictions, *predict_subsets(estimator, encoded, splits, subsets)]


def predict_split_by_split(
    estimator: Any,
    data: DataSet,
    splits: Splits,
    *,
    seeds: Sequence[int] | None = None,
) -> list[Codes]:
    """Return the same as `predict_plan` with one public fit and predict per split."""
    estimator = ready_learner(estimator, data).estimator
    classes = data.encoded().classes
    position = {label: code for code, label in enumerate(classes.tolist())}
    predictions = []
    for split, (_, _, train, test) in enumerate(splits):
        model = with_seed(estimator, seeds, split)
        model.fit(data.X.iloc[train], data.y.iloc[train])
        labels = np.asarray(model.predict(data.X.iloc[test])).tolist()
        try:
            codes = [position[label] for label in labels]
        except (KeyError, TypeError):
            unknown = next(label for label in labels if label not in position)
            raise RunError(
                f"{type(estimator).__name__} predicted {unknown!r}, which is not one of the "
                f"classes {list(position)}."
            ) from None
        predictions.append(np.array(codes, dtype=np.int64))
    return predictions


def wrong_by_split(predicted: list[Codes], y: Codes, splits: Splits) -> list[Wrong]:
    """Return which predictions of every split are wrong, in the order (run, fold)."""
    rows = (splits.test(run, fold) for run, fold in splits.run_folds())
    return [codes != y[test] for codes, test in zip(predicted, rows, strict=True)]

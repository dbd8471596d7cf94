"""Predict all the splits of a plan, at once if the learner supports it, else split by split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from bestofk.learners.kernels.splits import SplitMarks
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
        encoded = data.encoded()
        predictions: list[Codes] = estimator._predict_plan(encoded, splits.main)
        subsets = list(range(splits.runs, splits.runs + splits.subset_runs))
        return [*predictions, *predict_subsets(estimator, encoded, splits, subsets)]
    if hasattr(estimator, "fit_encoded"):
        return predict_encoded_splits(estimator, data.encoded(), splits, seeds=seeds)
    return predict_split_by_split(estimator, data, splits, seeds=seeds)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanErrors:
    """Wrong predictions of a plan in a table shaped like the marks (a line per run or split).

    Cells of rows that a line does not test are False.
    """

    marks: SplitMarks
    wrong: Wrong

    def counts(self) -> Codes:
        """Count the wrong predictions of every split, in the order (run, fold)."""
        marks, n_marks = self.marks.marks, self.marks.n_marks
        flat = (marks + n_marks * np.arange(len(marks))[:, np.newaxis])[self.wrong]
        table = np.bincount(flat, minlength=len(marks) * n_marks).reshape(len(marks), n_marks)
        counts: Codes = table[self.marks.wanted[:, 0], self.marks.wanted[:, 1]]
        return counts


def plan_errors(
    estimator: Any, encoded: Encoded, splits: Splits, marks: SplitMarks
) -> PlanErrors | None:
    """Return the errors of a learner on a whole plan; None if it cannot evaluate whole plans."""
    if hasattr(estimator, "_predict_marks"):
        wrong = estimator._predict_marks(encoded, marks) != encoded.y
        if splits.fold_of is None:
            wrong &= marks.marks == 0
        return PlanErrors(marks=marks, wrong=wrong)
    if not hasattr(estimator, "_predict_plan"):
        return None
    return errors_of(estimator._predict_plan(encoded, splits), encoded.y, splits, marks)


def errors_of(predicted: list[Codes], y: Codes, splits: Splits, marks: SplitMarks) -> PlanErrors:
    """Return the errors of predictions listed split by split."""
    wrong = np.zeros(marks.marks.shape, dtype=np.bool_)
    if splits.fold_of is not None and (marks.marks >= 0).all():
        # every row is tested once per run, and the splits of a run are consecutive
        rows = np.argsort(splits.fold_of, axis=1, kind="stable")
        flat = np.concatenate(predicted).reshape(rows.shape)
        np.put_along_axis(wrong, rows, flat != y[rows], axis=1)
        return PlanErrors(marks=marks, wrong=wrong)
    for (_, _, _, test), codes, (line, _) in zip(
        splits, predicted, marks.wanted.tolist(), strict=True
    ):
        wrong[line, test] = codes != y[test]
    return PlanErrors(marks=marks, wrong=wrong)

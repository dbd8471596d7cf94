"""Which test rows a learner gets wrong, for all the splits of a plan at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.data.encoded import Codes, Encoded
from bestofk.learners.split_marks import SplitMarks
from bestofk.plans.splits import Splits

Wrong = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanErrors:
    """Wrong answers, as the table of marks (one line per run or split), and their counts.

    Cells of rows that a line does not test are False.
    """

    marks: SplitMarks
    wrong: Wrong

    def counts(self) -> Codes:
        """Wrong answers of every split, in the order (run, fold)."""
        marks, most = self.marks.marks, self.marks.n_marks
        flat = (marks + most * np.arange(len(marks))[:, np.newaxis])[self.wrong]
        table = np.bincount(flat, minlength=len(marks) * most).reshape(len(marks), most)
        counts: Codes = table[self.marks.wanted[:, 0], self.marks.wanted[:, 1]]
        return counts


def plan_errors(
    estimator: Any, encoded: Encoded, splits: Splits, marks: SplitMarks
) -> PlanErrors | None:
    """The errors of a learner that evaluates whole plans; None where it does not."""
    if hasattr(estimator, "_predict_marks"):
        wrong = estimator._predict_marks(encoded, marks) != encoded.y
        if splits.fold_of is None:
            wrong &= marks.marks == 0
        return PlanErrors(marks=marks, wrong=wrong)
    if not hasattr(estimator, "_predict_plan"):
        return None
    return errors_of(estimator._predict_plan(encoded, splits), encoded.y, splits, marks)


def errors_of(predicted: list[Codes], y: Codes, splits: Splits, marks: SplitMarks) -> PlanErrors:
    """The errors of predictions that are given split by split."""
    wrong = np.zeros(marks.marks.shape, dtype=np.bool_)
    if splits.fold_of is not None and (marks.marks >= 0).all():
        # every row is tested once a run, and the splits of a run follow each other
        rows = np.argsort(splits.fold_of, axis=1, kind="stable")
        flat = np.concatenate(predicted).reshape(rows.shape)
        np.put_along_axis(wrong, rows, flat != y[rows], axis=1)
        return PlanErrors(marks=marks, wrong=wrong)
    for (_, _, _, test), codes, (line, _) in zip(
        splits, predicted, marks.wanted.tolist(), strict=True
    ):
        wrong[line, test] = codes != y[test]
    return PlanErrors(marks=marks, wrong=wrong)

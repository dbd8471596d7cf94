"""Errors of the paper's five learners on halves of the 30 data sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bestofk.data.encoded import Codes, Encoded
from bestofk.papers.multitest.halves import REPLICATIONS, Marks, halves
from bestofk.papers.multitest.prepared import Prepared, prepare

_FEW = 1000
"""Rows up to which pairs are compared one by one."""

Seeds = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerRuns:
    """One learner on one data set, some runs."""

    path: Path
    name: str
    learner: str
    design: str
    first: int
    last: int
    seed: int


def errors_of(task: LearnerRuns) -> Counts:
    """(runs, 5, 2, 2): wrong and tested rows of every fold of the runs ``first..last-1``."""
    data = prepare(task.name, task.path)
    runs = range(task.first, task.last)
    marks, seeds = halves(task.name, data.y, task.learner, task.design, runs, task.seed)
    wrong = count_errors(data, task.learner, marks, seeds)
    second = marks.sum(axis=1)
    tested = np.stack([data.n - second, second], axis=1)
    shape = len(runs), REPLICATIONS, 2
    return np.stack([wrong.reshape(shape), tested.reshape(shape)], axis=-1)


def count_errors(data: Prepared, learner: str, marks: Marks, seeds: Seeds) -> Counts:
    """Wrong predictions (splits, 2): fold f trains on the rows whose mark is not f."""
    from bestofk.papers.multitest import kernel

    if learner == "MAX":
        return kernel.majority_errors(data, marks)
    if learner == "NMC":
        return kernel.nearest_mean_errors(data, marks)
    if learner == "LGC":
        return kernel.logistic_errors(data, marks, seeds)
    if learner == "C4.5":
        return kernel.tree_errors(data, marks, seeds)
    return _nearest_errors(data, marks)


def _nearest_errors(data: Prepared, marks: Marks) -> Counts:
    """By pairs, or by the library's lists of neighbours where the data are many and it may be.

    The library's standard deviation divides by n, which matters where numeric and nominal columns
    meet in one distance; and it compares differences of numbers, not of z-scores, whose rounding
    breaks ties (monks).
    """
    values = _always_filled(data, marks) if data.n > _FEW else None
    pure = (data.cardinality == 0).all() or (data.cardinality > 0).all()
    if values is None or not pure:
        from bestofk.papers.multitest.kernel import first_nearest_errors

        return first_nearest_errors(data, marks)
    from bestofk.learners.nearest_neighbour.kernel import STD
    from bestofk.learners.nearest_neighbour.plan import predict_plan_nearest
    from bestofk.plans.design import Design
    from bestofk.plans.splits import Splits

    encoded = Encoded(
        values=values,
        cardinality=data.cardinality,
        y=data.y,
        classes=np.arange(data.n_classes),
    )
    splits = Splits.of(
        spec="random halves",
        seed=0,
        design=Design(kind="cv", runs=len(marks), folds=2),
        marks=marks.astype(np.int32),
        notes=(),
    )
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    predicted = predict_plan_nearest(encoded, splits, STD)
    for split, codes in enumerate(predicted):
        truth: Codes = data.y[marks[split // 2] == bool(split % 2)]
        errors[split // 2, split % 2] = int((codes != truth).sum())
    return errors


def _always_filled(data: Prepared, marks: Marks) -> npt.NDArray[np.float64] | None:
    """The values, where unknowns are none or filled in alike in every half; else None."""
    if not data.unknown:
        return data.values
    if (data.cardinality == 0).any():
        return None
    from bestofk.papers.multitest.kernel import fill, modes_agree

    filled, fills = fill(data, np.arange(data.n))
    return filled if modes_agree(data, marks, fills) else None

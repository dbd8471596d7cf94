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
class Task:
    """One learner on one data set, some runs."""

    path: Path
    name: str
    learner: str
    design: str
    first: int
    last: int
    seed: int


def errors_of(task: Task) -> Counts:
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
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    columns = data.values, data.cardinality, data.whole, data.unknown
    if learner == "MAX":
        from bestofk.papers.multitest.nearest_mean_kernel import majority_errors

        majority_errors(data.y, data.n_classes, marks, errors)
    elif learner == "NMC":
        from bestofk.papers.multitest.nearest_mean_kernel import nearest_mean_errors

        nearest_mean_errors(*columns, data.y, data.n_classes, marks, errors)
    elif learner == "LGC":
        from bestofk.papers.multitest.logistic_steps_kernel import logistic_errors

        logistic_errors(*columns, data.y, data.n_classes, data.learning_rate, seeds, marks, errors)
    elif learner == "C4.5":
        from bestofk.papers.multitest.gain_tree_kernel import tree_errors

        tree_errors(*columns, data.y, data.n_classes, seeds, marks, errors)
    else:
        _nearest_errors(data, marks, errors)
    return errors


def _nearest_errors(data: Prepared, marks: Marks, errors: Counts) -> None:
    """By pairs, or by the library's lists of neighbours where the data are many and it may be.

    The library's standard deviation divides by n, which matters where numeric and nominal columns
    meet in one distance; and it compares differences of numbers, not of z-scores, whose rounding
    breaks ties (monks).
    """
    values = _always_filled(data, marks) if data.n > _FEW else None
    pure = (data.cardinality == 0).all() or (data.cardinality > 0).all()
    if values is None or not pure:
        from bestofk.papers.multitest.first_nearest_kernel import first_nearest_errors

        first_nearest_errors(
            data.values, data.cardinality, data.whole, data.unknown, data.y, marks, errors
        )
        return
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
    predicted = predict_plan_nearest(encoded, splits, STD)
    for split, codes in enumerate(predicted):
        truth: Codes = data.y[marks[split // 2] == bool(split % 2)]
        errors[split // 2, split % 2] = int((codes != truth).sum())


def _always_filled(data: Prepared, marks: Marks) -> npt.NDArray[np.float64] | None:
    """The values, where unknowns are none or filled in alike in every half; else None."""
    if not data.unknown:
        return data.values
    if (data.cardinality == 0).any():
        return None
    from bestofk.papers.multitest.filling_kernel import fill
    from bestofk.papers.multitest.first_nearest_kernel import modes_agree

    filled, fills = np.empty_like(data.values), np.empty(data.values.shape[1])
    fill(data.values, data.cardinality, data.whole, np.arange(data.n), filled, fills)
    if not modes_agree(data.values, data.cardinality, data.whole, marks, fills):
        return None
    return filled

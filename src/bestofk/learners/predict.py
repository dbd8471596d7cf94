"""The rows of several splits one after the other, for kernels that fit each split for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import RunError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.splits import SplitMarks
from bestofk.splits.splits import Splits

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_MOST_CELLS = 250_000
"""Rows times splits that a batch holds at the most: a call of a kernel cannot be interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRows:
    """Rows that train and rows that test, split after split, and where those of each split end."""

    trains: Codes
    train_ends: Codes
    tests: Codes
    test_ends: Codes

    def __len__(self) -> int:
        return len(self.train_ends)

    @classmethod
    def batches(cls, splits: Splits) -> Iterator[SplitRows]:
        """All splits in their order, some at a time.

        Examples
        --------
        >>> from bestofk.splits import plan
        >>> splits = plan("kfold:2", stratified=False, random_state=1).materialise(4)
        >>> [batch] = SplitRows.batches(splits)
        >>> batch.tests.tolist(), batch.test_ends.tolist()
        ([0, 1, 2, 3], [2, 4])
        """
        at_once = max(1, _MOST_CELLS // splits.n)
        if splits.fold_of is None:
            waiting = iter(splits)
            while group := list(islice(waiting, at_once)):
                yield cls._of_lists([split[2] for split in group], [split[3] for split in group])
            return
        runs = max(1, at_once // splits.folds)
        folds = np.arange(splits.folds)[:, np.newaxis]
        for first in range(0, splits.runs, runs):
            marks = splits.fold_of[first : first + runs, np.newaxis]
            tested = (marks == folds).reshape(-1, splits.n)
            trained = ((marks != folds) & (marks >= 0)).reshape(-1, splits.n)
            yield cls(
                trains=_columns(trained),
                train_ends=np.cumsum(trained.sum(axis=1)),
                tests=_columns(tested),
                test_ends=np.cumsum(tested.sum(axis=1)),
            )

    @classmethod
    def _of_lists(cls, trains: list[Codes], tests: list[Codes]) -> SplitRows:
        return cls(
            trains=np.concatenate(trains),
            train_ends=np.cumsum([len(rows) for rows in trains]),
            tests=np.concatenate(tests),
            test_ends=np.cumsum([len(rows) for rows in tests]),
        )

    def train(self, split: int) -> Codes:
        """The rows that train."""
        return self.trains[self.train_ends[split - 1] if split else 0 : self.train_ends[split]]

    def test(self, split: int) -> Codes:
        """The rows that test."""
        return self.tests[self.test_ends[split - 1] if split else 0 : self.test_ends[split]]

    def only(self, kept: list[int]) -> SplitRows:
        """Some of the splits."""
        if len(kept) == len(self):
            return self
        return self._of_lists([self.train(s) for s in kept], [self.test(s) for s in kept])

    def cut(self, cells: Codes) -> list[Codes]:
        """Numbers that stand beside `tests`, one array a split."""
        ends = self.test_ends.tolist()
        return [cells[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def labels_trained(self, y: Codes, n_labels: int) -> npt.NDArray[np.bool_]:
        """Which labels the rows hold that train, shape (splits, labels)."""
        sizes = np.diff(self.train_ends, prepend=0)
        flat = np.repeat(np.arange(len(self)) * n_labels, sizes) + y[self.trains]
        counts = np.bincount(flat, minlength=len(self) * n_labels)
        return counts.reshape(len(self), n_labels) > 0


def _columns(table: npt.NDArray[np.bool_]) -> Codes:
    """The numbers of the columns that hold, row by row."""
    lines = np.flatnonzero(table)
    return np.remainder(lines, table.shape[1], out=lines).astype(np.int64, copy=False)


# All the splits of a plan at once where a learner offers it, else split by split.


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
        are prepared inside each split (see `bestofk.learners.registry`).
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
    from bestofk.learners.registry import for_data

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


# Which test rows a learner gets wrong, for all the splits of a plan at once.


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

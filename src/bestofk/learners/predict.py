"""Predict all the splits of a plan, at once if the learner supports it, else split by split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import RunError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.splits import SplitMarks

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_MAX_BATCH_CELLS = 250_000
"""Limit on rows times splits of a batch, because a kernel call cannot be interrupted."""
_SEED_NAMES = ("random_state", "random_seed")
Wrong = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRows:
    """Concatenated training rows and test rows of several splits, with the end of each split."""

    trains: Codes
    train_ends: Codes
    tests: Codes
    test_ends: Codes

    def __len__(self) -> int:
        return len(self.train_ends)

    @classmethod
    def batches(cls, splits: Splits) -> Iterator[SplitRows]:
        """Yield all splits in order, in batches.

        Examples
        --------
        >>> from bestofk.splits import plan
        >>> splits = plan("kfold:2", stratified=False, random_state=1).materialise(4)
        >>> [batch] = SplitRows.batches(splits)
        >>> batch.tests.tolist(), batch.test_ends.tolist()
        ([0, 1, 2, 3], [2, 4])
        """
        batch_size = max(1, _MAX_BATCH_CELLS // splits.n)
        if splits.fold_of is None:
            remaining = iter(splits)
            while batch := list(islice(remaining, batch_size)):
                yield cls._of_lists([split[2] for split in batch], [split[3] for split in batch])
            return
        runs = max(1, batch_size // splits.folds)
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
        """Return the training rows of a split."""
        return self.trains[self.train_ends[split - 1] if split else 0 : self.train_ends[split]]

    def test(self, split: int) -> Codes:
        """Return the test rows of a split."""
        return self.tests[self.test_ends[split - 1] if split else 0 : self.test_ends[split]]

    def only(self, indices: list[int]) -> SplitRows:
        """Return the splits with these indices."""
        if len(indices) == len(self):
            return self
        return self._of_lists([self.train(s) for s in indices], [self.test(s) for s in indices])

    def cut(self, cells: Codes) -> list[Codes]:
        """Cut an array aligned with `tests` into one array per split."""
        ends = self.test_ends.tolist()
        return [cells[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def labels_trained(self, y: Codes, n_labels: int) -> npt.NDArray[np.bool_]:
        """Mark the labels among the training rows, shape (splits, labels)."""
        sizes = np.diff(self.train_ends, prepend=0)
        flat = np.repeat(np.arange(len(self)) * n_labels, sizes) + y[self.trains]
        counts = np.bincount(flat, minlength=len(self) * n_labels)
        return counts.reshape(len(self), n_labels) > 0


def _columns(table: npt.NDArray[np.bool_]) -> Codes:
    """Return the column indices of the True cells, row by row."""
    lines = np.flatnonzero(table)
    return np.remainder(lines, table.shape[1], out=lines).astype(np.int64, copy=False)


class LabelledData(Protocol):
    """A data set with its rows, their labels, and both as codes."""

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


def predict_subsets(
    estimator: Any, encoded: Encoded, splits: Splits, runs: Sequence[int]
) -> Iterator[Codes]:
    """Predict the folds of some runs on subsets of the rows, one run at a time."""
    if not runs:
        return
    predicted = estimator._predict_plan(encoded, splits.pairs_left_out(runs))
    for run, codes in zip(runs, predicted, strict=True):
        tested = splits.folds_tested(run)
        yield from (codes[tested == fold] for fold in range(splits.folds_in(run)))


def predict_split_by_split(
    estimator: Any,
    data: LabelledData,
    splits: Splits,
    *,
    seeds: Sequence[int] | None = None,
) -> list[Codes]:
    """Return the same as `predict_plan` with one public fit and predict per split."""
    from bestofk.learners.preparation import for_data

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
            unknown = next(label for label in labels if label not in position)
            raise RunError(
                f"{type(estimator).__name__} predicted {unknown!r}, which is not one of the "
                f"classes {list(position)}."
            ) from None
        predictions.append(np.array(codes, dtype=np.int64))
    return predictions


def predict_encoded_splits(
    estimator: Any, encoded: Encoded, splits: Splits, *, seeds: Sequence[int] | None = None
) -> list[Codes]:
    """Return the same as `predict_plan` with one fit and predict per split on encoded rows."""
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
    """Return the parameters of an estimator, or of nested estimators, that are unset seeds.

    A seed that the user set stays as it is. A built-in learner declares with `_uses_seed` whether
    a seed can matter with its parameters.
    """
    return [name for name, seed in seeds_of(estimator).items() if seed is None]


def seeds_of(estimator: Any) -> dict[str, Any]:
    """Return the seeds of an estimator and of nested estimators; None if the user set none.

    A seed that equals the default of its class counts as unset.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> seeds_of(RandomForestClassifier(random_state=3)), seeds_of(RandomForestClassifier())
    ({'random_state': 3}, {'random_state': None})
    """
    if not hasattr(estimator, "get_params"):
        return {}
    if hasattr(estimator, "_uses_seed") and not estimator._uses_seed():
        return {}
    params = estimator.get_params(deep=True)
    seeds: dict[str, Any] = {}
    for name, value in params.items():
        path, _, last = name.rpartition("__")
        if last in _SEED_NAMES:
            owner: Any = type(params.get(path, estimator))
            default = _arguments(owner).get(last)
            is_set = value is not None and not (default is not None and value is default.default)
            seeds[name] = value if is_set else None
    for name, part in {"": estimator, **params}.items():
        # get_params of some classes lists only parameters that were set
        kind: Any = type(part)
        if hasattr(part, "get_params") and "random_state" in _arguments(kind):
            prefix = f"{name}__" if name else ""
            if not any(f"{prefix}{seed}" in params for seed in _SEED_NAMES):
                seeds[f"{prefix}random_state"] = None
    return seeds


@cache
def _arguments(kind: Any) -> Mapping[str, Parameter]:
    """Return the arguments of a class by name."""
    try:
        return signature(kind).parameters
    except (TypeError, ValueError):
        return {}


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

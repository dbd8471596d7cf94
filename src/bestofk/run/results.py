"""Results of cells in columns, losses by test instance, and the preparation of rows."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from itertools import accumulate, chain
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, Ints
from bestofk.learners.preparation import Preparation, ready_learner
from bestofk.losses.losses import Losses
from bestofk.run.cells import CellBatch, CellKey, CellResult, Failure
from bestofk.run.experiment import CellIndex, Experiment, UnavailableEstimator
from bestofk.run.one_test_set import (
    HeldOutRows,
    ModelPredictions,
    design_kind,
    held_out_losses,
    n_units,
)
from bestofk.run.store.stored_study import StudySpec, nested_runs_of


def pack(
    predicted: npt.NDArray[Any], probabilities: Floats | None, scores: Floats | None = None
) -> bytes:
    """Compress predicted class codes (or numbers), probabilities (n, C) and scores (n,), if any."""
    buffer = io.BytesIO()
    np.save(buffer, predicted, allow_pickle=False)
    # the number of axes tells probabilities from scores
    for array in (probabilities, scores):
        if array is not None:
            np.save(buffer, array, allow_pickle=False)
    return zlib.compress(buffer.getvalue(), level=1)


def unpack(packed: bytes) -> tuple[npt.NDArray[Any], Floats | None, Floats | None]:
    """Return the predictions, probabilities and scores that `pack` compressed."""
    data = zlib.decompress(packed)
    buffer = io.BytesIO(data)
    predicted = np.load(buffer, allow_pickle=False)
    probabilities = scores = None
    while buffer.tell() < len(data):
        array = np.load(buffer, allow_pickle=False)
        if array.ndim == 2:
            probabilities = array
        else:
            scores = array
    return predicted, probabilities, scores


# Results of a study in columns, in the order of cells: a million take 60 megabytes.


COLUMNS = ("loss", "fit_time", "predict_time", "size", "n_train", "n_test")
_WHOLE = ("size", "n_train", "n_test")


class ResultTable(MutableMapping[CellIndex, CellResult]):
    """Results by cell, stored in columns; a `CellResult` is built on access.

    - `folds`: For every data set the number of folds of each of its runs.
    - `key`: ``key(cell)`` returns the key of a cell.
    """

    def __init__(
        self,
        folds: Sequence[Sequence[int]],
        *,
        learners: int,
        repetitions: int,
        key: Callable[[CellIndex], CellKey],
    ) -> None:
        self._learners, self._repetitions, self._key = learners, repetitions, key
        # the number of splits before every run, those of earlier data sets included
        before = 0
        self._before: list[list[int]] = []
        for runs in folds:
            self._before.append(list(accumulate(runs, initial=before)))
            before = self._before[-1][-1]
        n = before * learners * repetitions
        self._columns = {name: np.full(n, np.nan) for name in COLUMNS}
        self._there = np.zeros(n, dtype=bool)
        self._count = 0
        self.failures: dict[int, Failure] = {}
        self._warnings: dict[int, tuple[str, ...]] = {}
        self._predictions: dict[int, bytes] = {}

    @classmethod
    def of_experiment(cls, experiment: Experiment) -> Self:
        """Return the empty table of an experiment."""
        return cls(
            [
                [splits.folds_in(run) for run in range(splits.runs + splits.subset_runs)]
                for splits in experiment.splits
            ],
            learners=len(experiment.learners),
            repetitions=experiment.repetitions,
            key=experiment.key,
        )

    @classmethod
    def of_study(
        cls, spec: StudySpec, results: Mapping[CellIndex, CellResult] | None = None
    ) -> Self:
        """Return the table of a study, filled with these results."""
        on_parts = [2] * nested_runs_of(spec.plan)
        table = cls(
            [[data.folds] * data.runs + on_parts for data in spec.datasets],
            learners=len(spec.learners),
            repetitions=spec.repetitions,
            key=_keys_of(spec),
        )
        for cell, result in (results or {}).items():
            table[cell] = result
        return table

    def index(self, cell: CellIndex) -> int:
        """Return the row of a cell, in the order data set, run, fold, repetition, learner."""
        return self.index_of(cell.dataset, cell.run, cell.fold, cell.repetition, cell.learner)

    def index_of(self, dataset: int, run: int, fold: int, repetition: int, learner: int) -> int:
        """Return the row of a cell by its five numbers."""
        split = self._before[dataset][run] + fold
        return (split * self._repetitions + repetition) * self._learners + learner

    def cell(self, index: int) -> CellIndex:
        """Return the cell of a row."""
        rest, learner = divmod(index, self._learners)
        split, repetition = divmod(rest, self._repetitions)
        dataset = next(d for d, before in enumerate(self._before) if split < before[-1])
        before = self._before[dataset]
        run = int(np.searchsorted(before, split, side="right")) - 1
        return CellIndex(
            learner=learner, dataset=dataset, run=run, fold=split - before[run],
            repetition=repetition,
        )  # fmt: skip

    def add(
        self, batch: CellBatch, indices: Sequence[int], rows: Sequence[int] | Ints | None = None
    ) -> None:
        """Copy `rows` of a batch (default: all) to the rows `indices` of the table."""
        at = np.array(indices, dtype=np.intp)
        for name, column in self._columns.items():
            values = np.array(getattr(batch, name), dtype=np.float64)
            column[at] = values if rows is None else values[rows]
        self._count += int(len(at) - np.count_nonzero(self._there[at]))
        self._there[at] = True
        if batch.failures or batch.warnings or batch.predictions:
            for row, index in zip(range(len(at)) if rows is None else rows, indices, strict=True):
                self._keep(
                    index,
                    batch.failures.get(row),
                    batch.warnings.get(row, ()),
                    batch.predictions.get(row),
                )

    def _keep(
        self,
        index: int,
        failure: Failure | None,
        warnings: tuple[str, ...],
        predictions: bytes | None,
    ) -> None:
        """Store the fields that few cells have."""
        for column in (self.failures, self._warnings, self._predictions):
            column.pop(index, None)
        if failure is not None:
            self.failures[index] = failure
        if warnings:
            self._warnings[index] = warnings
        if predictions is not None:
            self._predictions[index] = predictions

    def add_found(self, batch: CellBatch, matches: Sequence[tuple[int, int, int]]) -> None:
        """Store the matches of `Store.batches_of`: (row, data set, learner).

        Ignore cells that the plan does not have.
        """
        if not matches:
            return
        numbers = np.fromiter(chain.from_iterable(matches), np.intp, 3 * len(matches))
        rows, datasets, learners = numbers.reshape(-1, 3).T
        runs, folds, repetitions = (
            np.array(column, dtype=np.intp)[rows]
            for column in (batch.run, batch.fold, batch.repetition)
        )
        splits = np.full(len(rows), -1)
        for dataset in np.unique(datasets):
            before = np.array(self._before[dataset])
            own = (datasets == dataset) & (runs >= 0) & (runs < len(before) - 1) & (folds >= 0)
            run, split = runs[own], before[runs[own]] + folds[own]
            splits[own] = np.where(split < before[run + 1], split, -1)
        planned = (splits >= 0) & (repetitions >= 0) & (repetitions < self._repetitions)
        at = (splits * self._repetitions + repetitions) * self._learners + learners
        self.add(batch, at[planned].tolist(), rows[planned])

    def absent(self) -> Iterator[CellIndex]:
        """Return the cells without a result."""
        return (self.cell(int(index)) for index in np.flatnonzero(~self._there))

    def column(self, name: str, dataset: int) -> Floats:
        """Return one column of a data set, (splits, repetitions, learners); NaN if unknown."""
        before = self._before[dataset]
        each = self._repetitions * self._learners
        part = self._columns[name][before[0] * each : before[-1] * each]
        return part.reshape(-1, self._repetitions, self._learners)

    def there(self, dataset: int) -> np.ndarray:
        """Return which results are present, in the shape of `column`."""
        before = self._before[dataset]
        each = self._repetitions * self._learners
        part = self._there[before[0] * each : before[-1] * each]
        return part.reshape(-1, self._repetitions, self._learners)

    def split_of(self, dataset: int, run: int) -> int:
        """Return the number of splits of the data set before the run."""
        return self._before[dataset][run] - self._before[dataset][0]

    def __getitem__(self, cell: CellIndex) -> CellResult:
        try:
            index = self.index(cell)
            known = bool(self._there[index])
        except IndexError:
            known = False
        if not known:
            raise KeyError(cell)
        numbers: dict[str, Any] = {name: _number(name, column[index])
                                   for name, column in self._columns.items()}  # fmt: skip
        return CellResult(
            key=self._key(cell),
            failure=self.failures.get(index),
            warnings=self._warnings.get(index, ()),
            predictions=self._predictions.get(index),
            **numbers,
        )

    def __setitem__(self, cell: CellIndex, result: CellResult) -> None:
        index = self.index(cell)
        for name, column in self._columns.items():
            value = getattr(result, name)
            column[index] = np.nan if value is None else value
        self._count += not self._there[index]
        self._there[index] = True
        self._keep(index, result.failure, result.warnings, result.predictions)

    def __delitem__(self, cell: CellIndex) -> None:
        raise TypeError("results cannot be deleted")

    def __iter__(self) -> Iterator[CellIndex]:
        return (self.cell(int(index)) for index in np.flatnonzero(self._there))

    def __len__(self) -> int:
        return self._count


def as_table(spec: StudySpec, results: Mapping[CellIndex, CellResult]) -> ResultTable:
    """Return the results of a study as a table."""
    return results if isinstance(results, ResultTable) else ResultTable.of_study(spec, results)


def _number(name: str, value: float) -> float | int | None:
    if np.isnan(value):
        return None
    return int(value) if name in _WHOLE else float(value)


def _keys_of(spec: StudySpec) -> Callable[[CellIndex], CellKey]:
    splits = {
        (dataset, run, fold): name
        for dataset, data in enumerate(spec.datasets)
        for run, fold, name in data.splits
    }

    def key(cell: CellIndex) -> CellKey:
        at = (cell.dataset, cell.run)
        name = splits.get((*at, None)) or splits.get((*at, cell.fold), "")
        return CellKey(
            dataset=spec.datasets[cell.dataset].fingerprint,
            learner=spec.learners[cell.learner].fingerprint,
            splits=name,
            loss=spec.loss,
            run=cell.run,
            fold=cell.fold,
            repetition=cell.repetition,
        )

    return key


def is_one_test_set(experiment: Experiment) -> bool:
    """Return whether there is one data set with one split, and a metric testable on it."""
    return has_instances(experiment) and experiment.splits[0].runs * experiment.splits[0].folds == 1


def has_instances(experiment: Experiment) -> bool:
    """Return whether there is one data set and a metric that can be tested on a single split."""
    return len(experiment.datasets) == 1 and instance_design(experiment) is not None


def instance_design(experiment: Experiment) -> str | None:
    """Return the kind of design of the metric on one test set; None if it has none."""
    data = experiment.datasets[0]
    classes = data.classes if data.task == "classification" else None
    return design_kind(experiment.loss, classes)


def instance_losses(
    experiment: Experiment,
    results: Mapping[CellIndex, CellResult],
    learners: Sequence[int],
    chosen: npt.NDArray[np.bool_] | None = None,
) -> Losses | None:
    """Return losses of the kept learners on the (chosen) instances of the one test set."""
    data, splits = experiment.datasets[0], experiment.splits[0]
    rows = held_out_rows(experiment)
    if chosen is not None:
        rows = rows.only(chosen)
    predictions: dict[str, list[ModelPredictions]] = {}
    for learner in learners:
        repeated = predictions.setdefault(experiment.learners[learner].name, [])
        for repetition in range(experiment.repetitions):
            cell = CellIndex(learner=learner, dataset=0, run=0, fold=0, repetition=repetition)
            result = results.get(cell)
            if result is None or result.predictions is None:
                return None
            predictions_of_rows = predictions_in(result.predictions, rows.classes)
            if chosen is not None:
                predictions_of_rows = predictions_of_rows.only(chosen)
            repeated.append(predictions_of_rows)
    units = n_units(experiment.loss, rows)
    in_groups = f" in {units} groups" if data.groups is not None else ""
    return held_out_losses(
        experiment.loss,
        rows,
        predictions,
        dataset=data.name,
        n_train=(len(splits.train(0, 0)),),
        stratified=splits.design.stratified,
        account=(
            f"Measured by bestofk on one test set of {len(rows.truth)} rows{in_groups} "
            f"({splits.spec}).",
        ),
    )


def predictions_in(packed: bytes, classes: npt.NDArray[Any] | None) -> ModelPredictions:
    """Return the predictions that `pack` compressed, as labels or numbers."""
    predicted, probabilities, scores = unpack(packed)
    labels = predicted if classes is None else classes[predicted]
    return ModelPredictions(labels=labels, probabilities=probabilities, scores=scores)


def held_out_rows(
    experiment: Experiment, dataset: int = 0, run: int = 0, fold: int = 0
) -> HeldOutRows:
    """Return the rows of a test set."""
    data, test = experiment.datasets[dataset], experiment.splits[dataset].test(run, fold)
    classes = None
    if data.task == "classification":
        codes, declared = data.labels()
        classes = np.asarray(declared.tolist())
        truth = classes[codes[test]]
    else:
        truth = data.y.to_numpy(dtype=np.float64)[test]
    weights, groups = data.sample_weight, data.groups
    return HeldOutRows(
        truth=truth,
        classes=classes,
        weights=None if weights is None else weights.to_numpy(dtype=np.float64)[test],
        groups=None if groups is None else groups.to_numpy()[test],
    )


def tested_units(experiment: Experiment) -> int:
    """Return the number of independent units of the one test set: groups, or rows."""
    return n_units(experiment.loss, held_out_rows(experiment))


def counts_rows_alike(experiment: Experiment) -> bool:
    """Return whether rows have neither weights nor groups."""
    return held_out_rows(experiment).plain


ByLearner = dict[str, dict[str, Preparation]]


def preparation_of(experiment: Experiment) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the preparation by data set and learner; omit learners that cannot be prepared."""
    by_data: dict[str, dict[str, dict[str, Any]]] = {}
    for data in experiment.datasets:
        by_learner = by_data.setdefault(data.name, {})
        for learner in experiment.learners:
            if isinstance(learner.estimator, UnavailableEstimator):
                continue
            try:
                done = ready_learner(learner.estimator, data).done
            except Exception:
                # user classes may raise anything; the fits report it
                continue
            by_learner[learner.name] = done.to_dict()
    return by_data


def planned_preparation(spec: StudySpec) -> ByLearner:
    """Return the preparation by data set and learner, as values."""
    return {
        data: {learner: Preparation.from_dict(done) for learner, done in by_learner.items()}
        for data, by_learner in spec.preparation.items()
    }

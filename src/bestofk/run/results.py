"""Results of cells in columns, losses by test instance, and the preparation of rows."""

from __future__ import annotations

import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.learners.preparation import Preparation, ready_learner
from bestofk.losses.losses import Losses
from bestofk.run.cells import CellBatch, CellKey, CellResult, Failure, Score
from bestofk.run.experiment import CellIndex, Experiment, UnavailableEstimator
from bestofk.run.one_test_set import (
    HeldOutRows,
    ModelPredictions,
    design_kind,
    held_out_losses,
    n_units,
)
from bestofk.run.store.stored_study import (
    FailureCount,
    StudySpec,
    Tally,
    nested_runs_of,
    splits_of,
)

if TYPE_CHECKING:
    from bestofk.run.store.store import Store


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


COLUMNS = ("fit_time", "predict_time", "size", "n_train", "n_test")
_WHOLE = ("size", "n_train", "n_test")


class ResultTable(MutableMapping[CellIndex, CellResult]):
    """Results by cell, stored in columns; a `CellResult` is built on access.

    - `folds`: For every data set the number of folds of each of its runs.
    - `metrics`: The number of metrics.
    - `key`: ``key(cell)`` returns the key of a cell.
    """

    def __init__(
        self,
        folds: Sequence[Sequence[int]],
        *,
        learners: int,
        repetitions: int,
        metrics: int,
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
        self._metric = 0
        self._columns = {name: np.full(n, np.nan) for name in COLUMNS}
        self._scores = np.full((metrics, n), np.nan)
        self._failures: list[dict[int, Failure]] = [{} for _ in range(metrics)]
        self._there = np.zeros(n, dtype=bool)
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
            metrics=len(experiment.losses),
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
            metrics=len(spec.metrics),
            key=_keys_of(spec),
        )
        for cell, result in (results or {}).items():
            table[cell] = result
        return table

    def by_metric(self, metric: int) -> Self:
        """Return the same results with the losses and failures of another metric."""
        other = copy(self)
        other._metric = metric
        return other

    @property
    def failures(self) -> Mapping[int, Failure]:
        """The failures by row of the table."""
        return self._failures[self._metric]

    def index(self, cell: CellIndex) -> int:
        """Return the row of a cell, in the order data set, run, fold, repetition, learner."""
        split = self._before[cell.dataset][cell.run] + cell.fold
        return (split * self._repetitions + cell.repetition) * self._learners + cell.learner

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

    def add(self, batch: CellBatch, indices: Sequence[int], rows: Sequence[int]) -> None:
        """Copy `rows` of a batch to the rows `indices` of the table."""
        at, chosen = np.array(indices, dtype=np.intp), np.array(rows, dtype=np.intp)
        for name, column in self._columns.items():
            column[at] = np.array(getattr(batch, name), dtype=np.float64)[chosen]
        for values, scores, failures in zip(
            self._scores, batch.scores, self._failures, strict=True
        ):
            if set(map(type, scores)) <= {float}:
                values[at] = np.array(scores, dtype=np.float64)[chosen]
            else:
                for row, index in zip(rows, indices, strict=True):
                    _set_score(values, failures, index, scores[row])
        self._there[at] = True
        if batch.warnings or batch.predictions:
            for row, index in zip(rows, indices, strict=True):
                self._keep(index, batch.warnings.get(row, ()), batch.predictions.get(row))

    def _keep(self, index: int, warnings: tuple[str, ...], predictions: bytes | None) -> None:
        """Store the fields that few cells have."""
        self._warnings.pop(index, None)
        self._predictions.pop(index, None)
        if warnings:
            self._warnings[index] = warnings
        if predictions is not None:
            self._predictions[index] = predictions

    def add_found(self, batch: CellBatch, matches: Sequence[tuple[int, int, int]]) -> None:
        """Store matches of a study: (row of the batch, data set, learner).

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
        self.add(batch, at[planned].tolist(), rows[planned].tolist())

    def absent(self) -> Iterator[CellIndex]:
        """Return the cells without a result."""
        return (self.cell(int(index)) for index in np.flatnonzero(~self._there))

    def column(self, name: str, dataset: int) -> Floats:
        """Return one column of a data set, (splits, repetitions, learners); NaN if unknown."""
        column = self._scores[self._metric] if name == "loss" else self._columns[name]
        return self._part(column, dataset)

    def there(self, dataset: int) -> np.ndarray:
        """Return which results are present, in the shape of `column`."""
        return self._part(self._there, dataset)

    def _part(self, column: np.ndarray, dataset: int) -> np.ndarray:
        before = self._before[dataset]
        each = self._repetitions * self._learners
        part = column[before[0] * each : before[-1] * each]
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
        numbers: dict[str, Any] = {
            name: _number(name, column[index]) for name, column in self._columns.items()
        }
        return CellResult(
            key=self._key(cell),
            scores=tuple(
                failures.get(index) or float(values[index])
                for values, failures in zip(self._scores, self._failures, strict=True)
            ),
            warnings=self._warnings.get(index, ()),
            predictions=self._predictions.get(index),
            **numbers,
        )

    def __setitem__(self, cell: CellIndex, result: CellResult) -> None:
        index = self.index(cell)
        for name, column in self._columns.items():
            value = getattr(result, name)
            column[index] = np.nan if value is None else value
        for values, failures, score in zip(
            self._scores, self._failures, result.scores, strict=True
        ):
            _set_score(values, failures, index, score)
        self._there[index] = True
        self._keep(index, result.warnings, result.predictions)

    def __delitem__(self, cell: CellIndex) -> None:
        raise TypeError("results cannot be deleted")

    def __iter__(self) -> Iterator[CellIndex]:
        return (self.cell(int(index)) for index in np.flatnonzero(self._there))

    def __len__(self) -> int:
        return int(np.count_nonzero(self._there))


def _set_score(values: Floats, failures: dict[int, Failure], index: int, score: Score) -> None:
    failures.pop(index, None)
    values[index] = np.nan
    if isinstance(score, Failure):
        failures[index] = score
    else:
        values[index] = score


def read_cells(
    store: Store,
    spec: StudySpec,
    table: ResultTable,
    is_stale: Callable[[CellResult], bool] | None = None,
) -> None:
    """Read the cells of a study from a store, except failures that are stale."""
    datasets = splits_of(spec)
    learners: dict[str, list[int]] = {}
    for index, learner in enumerate(spec.learners):
        learners.setdefault(learner.fingerprint, []).append(index)
    for batch in store.scan(spec):
        names = batch.dataset, batch.splits, batch.run
        of_rows = [datasets.get(key, ()) for key in zip(*names, repeat(None), strict=False)]
        if () in of_rows:  # some plans name every fold
            by_fold = (datasets.get(key, ()) for key in zip(*names, batch.fold, strict=True))
            of_rows = [either or other for either, other in zip(of_rows, by_fold, strict=True)]
        matches = [
            (row, dataset, each)
            for row, (sets, learner) in enumerate(zip(of_rows, batch.learner, strict=True))
            for dataset in sets
            for each in learners[learner]
        ]
        if is_stale is not None:
            stale = {
                row
                for row, score in enumerate(batch.scores[0])
                if isinstance(score, Failure) and is_stale(batch.result(row, _key(batch, row)))
            }
            matches = [match for match in matches if match[0] not in stale]
        table.add_found(batch, matches)


def _key(batch: CellBatch, row: int) -> CellKey:
    return CellKey(
        dataset=batch.dataset[row],
        learner=batch.learner[row],
        splits=batch.splits[row],
        run=batch.run[row],
        fold=batch.fold[row],
        repetition=batch.repetition[row],
    )


def tally(spec: StudySpec, table: ResultTable) -> Tally:
    """Count the finished and failed cells of a study."""
    failed: Counter[tuple[str, str, str]] = Counter()
    for index, failure in table.failures.items():
        learner = spec.learners[table.cell(index).learner].name
        failed[learner, failure.kind, failure.reason] += 1
    seconds = sum(
        float(np.nansum(table.column(name, dataset)))
        for name in ("fit_time", "predict_time")
        for dataset in range(len(spec.datasets))
    )
    return Tally(
        cells=spec.n_cells,
        done=len(table) - len(table.failures),
        failed=len(table.failures),
        seconds=seconds,
        failures=tuple(
            FailureCount(learner=learner, kind=kind, reason=reason, count=count)
            for (learner, kind, reason), count in sorted(
                failed.items(), key=lambda item: (-item[1], item[0])
            )
        ),
    )


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
            run=cell.run,
            fold=cell.fold,
            repetition=cell.repetition,
        )

    return key


def is_one_test_set(experiment: Experiment) -> bool:
    """Return whether there is one data set with one split, and a metric testable on it."""
    return has_instances(experiment) and experiment.splits[0].runs * experiment.splits[0].folds == 1


def has_instances(experiment: Experiment, metric: int = 0) -> bool:
    """Return whether there is one data set and a metric that can be tested on a single split."""
    return len(experiment.datasets) == 1 and instance_design(experiment, metric) is not None


def instance_design(experiment: Experiment, metric: int = 0) -> str | None:
    """Return the kind of design of a metric on one test set; None if it has none."""
    data = experiment.datasets[0]
    classes = data.classes if data.task == "classification" else None
    return design_kind(experiment.losses[metric], classes)


def instance_losses(
    experiment: Experiment,
    results: Mapping[CellIndex, CellResult],
    learners: Sequence[int],
    chosen: npt.NDArray[np.bool_] | None = None,
    *,
    metric: int = 0,
) -> Losses | None:
    """Return losses of the kept learners on the (chosen) instances of the one test set."""
    loss = experiment.losses[metric]
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
    units = n_units(loss, rows)
    in_groups = f" in {units} groups" if data.groups is not None else ""
    return held_out_losses(
        loss,
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

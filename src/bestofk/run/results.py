"""Results of cells in columns, their predictions, and the preparation of rows."""

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
from bestofk.learners.preparation import ready_learner
from bestofk.run.cells import CellBatch, CellKey, CellResult, Failure, Score
from bestofk.run.experiment import CellIndex, Experiment
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

    - `spec`: The study of the cells.
    - `results`: Results to begin with.
    """

    def __init__(
        self, spec: StudySpec, results: Mapping[CellIndex, CellResult] | None = None
    ) -> None:
        learners, repetitions, metrics = len(spec.learners), spec.repetitions, len(spec.metrics)
        self._learners, self._repetitions, self._key = learners, repetitions, spec.key
        # the number of splits before every run, those of earlier data sets included
        before = 0
        self._before: list[list[int]] = []
        on_parts = [2] * nested_runs_of(spec.plan)
        for data in spec.datasets:
            runs = [data.folds] * data.runs + on_parts
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
        for cell, result in (results or {}).items():
            self[cell] = result

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
    return results if isinstance(results, ResultTable) else ResultTable(spec, results)


def _number(name: str, value: float) -> float | int | None:
    if np.isnan(value):
        return None
    return int(value) if name in _WHOLE else float(value)


def preparation_of(experiment: Experiment) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the preparation by data set and learner; omit learners that cannot be prepared."""
    by_data: dict[str, dict[str, dict[str, Any]]] = {}
    for data in experiment.datasets:
        by_learner = by_data.setdefault(data.name, {})
        for learner in experiment.learners:
            try:
                done = ready_learner(learner.estimator, data).done
            except Exception:
                # user classes may raise anything; the fits report it
                continue
            by_learner[learner.name] = done.to_dict()
    return by_data

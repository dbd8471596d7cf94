"""Cells: one fit each, with its scores, times and predictions; and a table of them in columns."""

from __future__ import annotations

import io
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.formatting import without_controls

if TYPE_CHECKING:
    from bestofk.run.record import StudyRecord
    from bestofk.run.store.store import Store

FAILURE_KINDS = (
    "raised", "timeout", "killed", "memory", "missing", "nan", "shape", "unknown-class",
    "cannot-score",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The reason why a cell has no score."""

    kind: str
    """One of `FAILURE_KINDS`."""
    reason: str
    """One sentence."""
    detail: str = ""
    """The time limit in seconds of a timeout."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", without_controls(self.reason))

    def explain(self) -> str:
        """Return the reason with its kind."""
        return f"{self.kind}: {self.reason}"

    def may_pass_now(self, *, timeout: float | None = None) -> bool:
        """Return whether the cell is worth another try, if a fit may take `timeout` seconds now.

        Retry a cell whose process was killed, ran out of memory or lacked a package, and a timeout
        if more time is allowed now. Errors and invalid predictions of a learner would repeat.

        Examples
        --------
        >>> slow = Failure(kind="timeout", reason="took longer than 2 s.", detail="2.0")
        >>> slow.may_pass_now(timeout=2.0), slow.may_pass_now(timeout=60.0), slow.may_pass_now()
        (False, True, True)
        """
        if self.kind == "timeout":
            return timeout is None or not self.detail or timeout > float(self.detail)
        return self.kind in ("killed", "memory", "missing")


Score = float | Failure
"""The value of a metric, as a loss, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One fit: the positions of its learner and data set, its split, and its results.

    Two cells are equal if they are the same fit of a study, whether it was evaluated or not.
    """

    learner: int
    dataset: int
    run: int
    fold: int
    repetition: int = 0
    scores: tuple[Score, ...] = field(default=(), compare=False)
    """By metric, of which the first one decides; empty if the cell was not evaluated."""
    fit_time: float | None = field(default=None, compare=False)
    """Seconds of the fit."""
    predict_time: float | None = field(default=None, compare=False)
    size: float | None = field(default=None, compare=False)
    """Bytes of the pickled model."""
    predictions: bytes | None = field(default=None, compare=False)
    """Predictions of the test rows, if requested; see `pack_predictions`."""

    @property
    def seconds(self) -> float:
        """Seconds of fit and predict; other work includes imports and compiling kernels."""
        return (self.fit_time or 0.0) + (self.predict_time or 0.0)

    @property
    def loss(self) -> float | None:
        """The loss by the deciding metric; None if there is none."""
        first = self.scores[0] if self.scores else None
        return None if isinstance(first, Failure) else first

    @property
    def failure(self) -> Failure | None:
        """Why there is no loss by the deciding metric."""
        first = self.scores[0] if self.scores else None
        return first if isinstance(first, Failure) else None


def pack_predictions(
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


def unpack_predictions(packed: bytes) -> tuple[npt.NDArray[Any], Floats | None, Floats | None]:
    """Return the predictions, probabilities and scores that `pack_predictions` compressed."""
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


NUMBERS = ("fit_time", "predict_time", "size")
Columns = Mapping[str, Any]
"""Many evaluated cells: a list by field, of `scores` a list of lists by metric, and of
`predictions`, which few cells have, a mapping by row."""


def with_results(cell: Cell, columns: Columns, row: int) -> Cell:
    """Return a cell with the results in a row of columns."""
    return replace(
        cell,
        scores=tuple(column[row] for column in columns["scores"]),
        predictions=columns["predictions"].get(row),
        **{name: columns[name][row] for name in NUMBERS},
    )


class CellTable:
    """The evaluated cells of a study in columns: a million take 60 megabytes.

    A cell has the same position in every table of the study, by data set, run, fold, repetition
    and learner. A `Cell` is built when it is asked for.
    """

    def __init__(self, record: StudyRecord, cells: Iterable[Cell] = ()) -> None:
        self.record, self.metric, n = record, 0, record.n_cells
        self._numbers = {name: np.full(n, np.nan) for name in NUMBERS}
        self._scores = np.full((len(record.metric_keys), n), np.nan)
        self._failures: list[dict[int, Failure]] = [{} for _ in record.metric_keys]
        self._there = np.zeros(n, dtype=bool)
        self._predictions: dict[int, bytes] = {}
        for cell in cells:
            self[cell] = cell

    def by_metric(self, metric: int) -> Self:
        """Return the same cells with the losses and failures of another metric."""
        other = copy(self)
        other.metric = metric
        return other

    def of(self, record: StudyRecord) -> Self:
        """Return the same cells with another record of the same study."""
        other = copy(self)
        other.record = record
        return other

    def on(self, dataset: int) -> CellTable:
        """Return the cells of one data set as those of a study of its own."""
        part = CellTable(self.record.on(dataset))
        start = dataset * part.record.n_cells
        there = np.flatnonzero(self._there[start : start + part.record.n_cells])
        for at in there.tolist():
            cell = replace(self._cell(start + at), dataset=0)
            part[cell] = cell
        return part

    @property
    def failures(self) -> list[tuple[Cell, Failure]]:
        """The cells without a loss by the metric, in order, with the reason."""
        failures = self._failures[self.metric]
        return [(self.record.cell_at(at), failures[at]) for at in sorted(failures)]

    def __setitem__(self, cell: Cell, evaluated: Cell) -> None:
        """Set the results of a cell, which may be those of another one with the same key."""
        at = self.record.position(cell)
        for name, column in self._numbers.items():
            value = getattr(evaluated, name)
            column[at] = np.nan if value is None else value
        for metric, score in enumerate(evaluated.scores):
            self._set_score(metric, at, score)
        self._there[at] = True
        self._set_predictions(at, evaluated.predictions)

    def read(self, store: Store, *, predictions: bool = False) -> None:
        """Add the cells of the study that a store has."""
        record = self.record
        datasets: dict[tuple[Any, ...], Sequence[int]] = {}
        for index, data in enumerate(record.datasets):
            for run, fold, name in data.splits:
                at = data.fingerprint, name, run, fold
                datasets[at] = (*datasets.get(at, ()), index)
        learners: dict[str, list[int]] = {}
        for index, learner in enumerate(record.learners):
            learners.setdefault(learner.fingerprint, []).append(index)
        for columns in store.scan(record, predictions=predictions):
            names = (columns[name] for name in ("dataset", "splits", "run", "fold", "learner"))
            matches = [
                (row, dataset, each)
                for row, (*split, fold, learner) in enumerate(zip(*names, strict=True))
                # some plans name every fold
                for dataset in datasets.get((*split, None)) or datasets.get((*split, fold), ())
                for each in learners[learner]
            ]
            self._add(columns, matches)

    def _add(self, columns: Columns, matches: Sequence[tuple[int, int, int]]) -> None:
        """Copy matches (row of the columns, data set, learner), if the plan has their split."""
        if not matches:
            return
        numbers = np.fromiter(chain.from_iterable(matches), np.intp, 3 * len(matches))
        rows, datasets, learners = numbers.reshape(-1, 3).T
        runs, folds, repetitions = (
            np.array(columns[name], dtype=np.intp)[rows] for name in ("run", "fold", "repetition")
        )
        positions, planned = self.record.positions(datasets, runs, folds, repetitions, learners)
        at, rows = positions[planned], rows[planned]
        for name, column in self._numbers.items():
            column[at] = np.array(columns[name], dtype=np.float64)[rows]
        self._there[at] = True
        places = list(zip(rows.tolist(), at.tolist(), strict=True))
        for metric, scores in enumerate(columns["scores"]):
            if set(map(type, scores)) <= {float}:
                self._scores[metric, at] = np.array(scores, dtype=np.float64)[rows]
            else:
                for row, position in places:
                    self._set_score(metric, position, scores[row])
        for row, position in places if columns["predictions"] else ():
            self._set_predictions(position, columns["predictions"].get(row))

    def _set_score(self, metric: int, at: int, score: Score) -> None:
        self._failures[metric].pop(at, None)
        if isinstance(score, Failure):
            self._failures[metric][at], score = score, np.nan
        self._scores[metric, at] = score

    def _set_predictions(self, at: int, predictions: bytes | None) -> None:
        self._predictions.pop(at, None)
        if predictions is not None:
            self._predictions[at] = predictions

    def remove(self, cell: Cell) -> None:
        """Forget the results of a cell."""
        at = self.record.position(cell)
        self._there[at] = False
        self._set_predictions(at, None)
        for column in (*self._numbers.values(), *self._scores):
            column[at] = np.nan
        for failures in self._failures:
            failures.pop(at, None)

    def has_failed(self, cell: Cell) -> bool:
        """Return whether a cell has no loss by the metric."""
        return self.record.position(cell) in self._failures[self.metric]

    def get(self, cell: Cell) -> Cell | None:
        """Return a cell as it was evaluated; None if it was not."""
        at = self.record.position(cell)
        return self._cell(at) if self._there[at] else None

    def _cell(self, at: int) -> Cell:
        numbers: dict[str, Any] = {
            name: None if np.isnan(column[at]) else float(column[at])
            for name, column in self._numbers.items()
        }
        scores = (
            failures.get(at) or float(values[at])
            for values, failures in zip(self._scores, self._failures, strict=True)
        )
        return replace(
            self.record.cell_at(at),
            scores=tuple(scores),
            predictions=self._predictions.get(at),
            **numbers,
        )

    def __contains__(self, cell: Cell) -> bool:
        return bool(self._there[self.record.position(cell)])

    def __iter__(self) -> Iterator[Cell]:
        return (self._cell(at) for at in np.flatnonzero(self._there).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._there))

    def absent(self) -> Iterator[Cell]:
        """Yield the cells that were not evaluated."""
        return map(self.record.cell_at, np.flatnonzero(~self._there).tolist())

    def column(self, name: str) -> Floats:
        """Return ``"loss"`` or a number: (data set, split, repetition, learner), NaN if unknown."""
        column = self._scores[self.metric] if name == "loss" else self._numbers[name]
        return column.reshape(self.record.shape)

    @property
    def there(self) -> npt.NDArray[np.bool_]:
        """Which cells were evaluated, in the shape of `column`."""
        return self._there.reshape(self.record.shape)

    def tally(self) -> dict[str, Any]:
        """Count the cells: all, done, failed and missing; their seconds; failures by reason."""
        counts = Counter(
            (self.record.learners[cell.learner].name, failure.kind, failure.reason)
            for cell, failure in self.failures
        )
        failed, cells = counts.total(), self.record.n_cells
        return {
            "cells": cells,
            "done": len(self) - failed,
            "failed": failed,
            "missing": cells - len(self),
            "seconds": sum(float(np.nansum(self._numbers[name])) for name in NUMBERS[:2]),
            "failures": [
                {"learner": learner, "kind": kind, "reason": reason, "count": count}
                for (learner, kind, reason), count in sorted(
                    counts.items(), key=lambda item: (-item[1], item[0])
                )
            ],
        }

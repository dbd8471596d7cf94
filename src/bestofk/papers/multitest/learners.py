"""The data sets as the paper read them, and the halves on which its learners ran.

The printed standard deviations show that the paper's learners did not share their folds. The
logistic model ran on its own stratified halves. C4.5 ran on its own halves from the second
replication on, because its random numbers for pruning advanced the generator. This is the design
``"own"``; sound comparisons use ``"shared"``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.library import Kernel
from bestofk.learners.kernels.nearest_neighbour import STD
from bestofk.learners.nearest_neighbour import predict_plan_nearest
from bestofk.papers.data import read_in_file_order
from bestofk.splits.splits import Splits

REPLICATIONS = 5
LEARNERS = ("MAX", "NMC", "LGC", "C4.5", "NN")
"""The learners in the paper's order of preference."""
Marks = npt.NDArray[np.bool_]

_SHARED, _STRATIFIED, _OWN, _LEARNER = range(4)


def halves(
    name: str, y: Codes, learner: str, design: str, runs: range, seed: int
) -> tuple[Marks, npt.NDArray[np.uint32]]:
    """Mark the rows of the second half, and draw seeds for the learner.

    - `name`: The data set; part of the seed, so that data sets are independent.
    - `y`: Class codes.
    - `learner`: One of the five learners.
    - `design`: ``"own"`` or ``"shared"``.
    - `runs`: The runs; the halves of a run do not depend on the other runs.
    - `seed`: Determines all random choices.
    - `marks`: Fold 1 tests the rows that are True, fold 0 the others.
    - `seeds`: One seed per fit.
    """
    n = len(y)
    streams = [[seed, crc32(name.encode()), run] for run in runs]
    if design == "own" and learner == "LGC":
        marks = np.stack(
            [_stratified(np.random.default_rng([*stream, _STRATIFIED]), y) for stream in streams]
        )
    else:
        marks = _shared(name, n, runs, seed)
        if design == "own" and learner == "C4.5":
            marks = marks.copy()
            for run, stream in enumerate(streams):
                marks[run, 1:] = _random(np.random.default_rng([*stream, _OWN]), n)[1:]
    seeds = np.empty((len(runs), REPLICATIONS, 2), dtype=np.uint32)
    for run, stream in enumerate(streams):
        rng = np.random.default_rng([*stream, _LEARNER, crc32(learner.encode())])
        seeds[run] = rng.integers(0, 2**32, size=(REPLICATIONS, 2), dtype=np.uint32)
    return marks.reshape(-1, n), seeds.reshape(-1, 2)


@lru_cache(maxsize=2)
def _shared(name: str, n: int, runs: range, seed: int) -> Marks:
    """Draw the halves that learners share, shape (runs, replications, n)."""
    stream = seed, crc32(name.encode())
    drawn = [_random(np.random.default_rng([*stream, run, _SHARED]), n) for run in runs]
    marks = np.stack(drawn)
    marks.flags.writeable = False
    return marks


def _random(rng: np.random.Generator, n: int) -> Marks:
    """Draw halves of all rows for each replication."""
    marks = np.zeros((REPLICATIONS, n), dtype=bool)
    marks[:, n // 2 :] = True
    return rng.permuted(marks, axis=1)


def _stratified(rng: np.random.Generator, y: Codes) -> Marks:
    """Draw halves with equal class counts (up to one): deal shuffled rows by class."""
    marks = np.zeros((REPLICATIONS, len(y)), dtype=bool)
    y = y.astype(np.min_scalar_type(int(y.max())))  # small types sort faster
    for replication in range(REPLICATIONS):
        shuffled = rng.permutation(len(y))
        dealt = shuffled[np.argsort(y[shuffled], kind="stable")]
        marks[replication, dealt[1::2]] = True
    return marks


# Data sets


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A data set of n rows and d columns as the paper read it."""

    name: str
    values: Floats
    """(n, d): numbers, and codes of nominal columns; NaN if unknown."""
    cardinality: Codes
    """(d,): 0 for a numeric column, else its number of values."""
    whole: npt.NDArray[np.bool_]
    """(d,): whether imputed values are truncated to whole numbers."""
    y: Codes
    n_classes: int
    learning_rate: float

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def unknown(self) -> bool:
        """True if any value is unknown."""
        return bool(np.isnan(self.values).any())

    def encoded(self) -> Encoded:
        """Return the data set in the form of the built-in learners."""
        return Encoded(
            values=self.values,
            cardinality=self.cardinality,
            y=self.y,
            classes=np.arange(self.n_classes),
        )


@cache
def recipe() -> dict[str, dict[str, Any]]:
    """Return the settings for reading each data set, in the order of Table 1."""
    text = files("bestofk.papers.multitest").joinpath("recipe.json").read_text(encoding="utf-8")
    datasets: dict[str, dict[str, Any]] = json.loads(text)["datasets"]
    return datasets


@lru_cache(maxsize=2)
def prepare(name: str, path: Path) -> Prepared:
    """Read a data set as the paper did."""
    settings = recipe()[name]
    data = read_in_file_order(path, name, ignore=settings.get("drop", ()))
    return prepared_of(data, settings)


def prepared_of(data: DataSet, settings: dict[str, Any]) -> Prepared:
    """Convert a data set to the form in which the paper read it."""
    import pandas as pd

    columns, cardinality = [], []
    numeric = settings.get("numeric", ())
    for name in data.X.columns:
        cells = data.X[name]
        if isinstance(cells.dtype, pd.CategoricalDtype):
            codes = cells.cat.codes.to_numpy().astype(np.float64)
            codes[codes < 0] = np.nan
            if name in numeric:
                meaning = [_number(name, text, settings) for text in cells.cat.categories]
                known = ~np.isnan(codes)
                codes[known] = np.array(meaning)[codes[known].astype(np.int64)]
                cardinality.append(0)
            else:
                cardinality.append(len(cells.cat.categories))
            columns.append(codes)
        else:
            columns.append(cells.to_numpy(dtype=np.float64))
            cardinality.append(0)
    labels = data.y.cat
    y = labels.codes.to_numpy().astype(np.int64)
    if "class_order" in settings:
        position = {label: code for code, label in enumerate(settings["class_order"])}
        y = np.array([position[label] for label in labels.categories])[y]
    whole = np.array([column in settings.get("integer", ()) for column in data.X.columns])
    return Prepared(
        name=data.name,
        values=np.ascontiguousarray(np.column_stack(columns)),
        cardinality=np.array(cardinality, dtype=np.int64),
        whole=whole,
        y=y,
        n_classes=len(labels.categories),
        learning_rate=float(settings["learning_rate"]),
    )


def _number(column: str, text: str, settings: dict[str, Any]) -> float:
    """Return the number that a nominal value stands for."""
    codes = settings.get("codes", {})
    meaning = codes.get(column, codes)
    number = meaning.get(text) if isinstance(meaning, dict) else None
    if number is None or isinstance(number, dict):
        return float(text.removeprefix("v"))
    return float(number)


Seeds = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.int64]

MAX_TREE_ROWS = 1 << 15
"""In a tree, ranks (two per row) and rows must fit into 16 bits each."""

_DATA = "*f64 *i64 *bool i64 *i64 i64 i64"
_FILL = Kernel("multitest_fill", "*f64 *i64 *bool i64 i64 *i64 i64 &f64 &f64")
_MODES_AGREE = Kernel("multitest_modes_agree", "*f64 *i64 *bool i64 i64 *bool i64 *f64")
_NEAREST_MEAN = Kernel("multitest_nearest_mean", f"{_DATA} i64 *bool i64 &i64")
_MAJORITY = Kernel("multitest_majority", "*i64 i64 i64 *bool i64 &i64")
_FIRST_NEAREST = Kernel("multitest_first_nearest", f"{_DATA} *bool i64 &i64")
_LOGISTIC = Kernel("multitest_logistic", f"{_DATA} i64 f64 *u32 *bool i64 &i64")
_TREE = Kernel("multitest_tree", f"{_DATA} i64 *u32 *i64 *u32 *bool i64 &i64")


def _arguments(data: Prepared) -> tuple[object, ...]:
    return (
        data.values, data.cardinality, data.whole, data.unknown, data.y, *data.values.shape,
    )  # fmt: skip


def first_nearest_errors(data: Prepared, marks: Marks) -> Counts:
    """Count errors of NN: squared distances of z-scores, 1 per mismatch; the first of ties."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _FIRST_NEAREST(*_arguments(data), marks, len(marks), errors)
    return errors


def _sorted(values: Floats, cardinality: Codes) -> tuple[npt.NDArray[np.uint32], Codes]:
    """Sort the rows of each numeric column; return rows with odd ranks, and known counts."""
    n, d = values.shape
    entries, known = np.zeros((d, n), dtype=np.uint32), np.zeros(d, dtype=np.int64)
    for j in np.flatnonzero(cardinality == 0):
        order = np.argsort(values[:, j], kind="stable")
        known[j] = np.count_nonzero(~np.isnan(values[:, j]))
        steps = np.diff(values[order[: known[j]], j]) != 0
        ranks = np.ones(n, dtype=np.int64)
        ranks[1 : known[j]] += 2 * np.cumsum(steps)
        entries[j] = ranks << 16 | order
    return entries, known


def fill(data: Prepared, train: Codes) -> tuple[Floats, Floats]:
    """Return the values with unknowns imputed from the training rows, and the imputed values.

    A nominal value is the most frequent one, the first of ties. A number is the sum of the known
    values divided by the number of all training rows (a mistake of the original), truncated to a
    whole number in columns of whole numbers.
    """
    filled, fills = np.empty_like(data.values), np.empty(data.values.shape[1])
    _FILL(
        data.values, data.cardinality, data.whole, *data.values.shape,
        np.ascontiguousarray(train, dtype=np.int64), len(train), filled, fills,
    )  # fmt: skip
    return filled, fills


def modes_agree(data: Prepared, marks: Marks, fills: Floats) -> bool:
    """Return whether the imputed values equal `fills` in every half."""
    return bool(
        _MODES_AGREE(
            data.values, data.cardinality, data.whole, *data.values.shape, marks, len(marks), fills
        )
    )


# Errors of the runs

_MAX_ROWS_BY_PAIR = 1000
"""Compare pairs of rows one by one up to this many rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerRuns:
    """Some runs of one learner on one data set."""

    path: Path
    name: str
    learner: str
    design: str
    first: int
    last: int
    seed: int


def errors_of(task: LearnerRuns) -> Counts:
    """Count wrong and tested rows of every fold of the runs, shape (runs, 5, 2, 2)."""
    data = prepare(task.name, task.path)
    runs = range(task.first, task.last)
    marks, seeds = halves(task.name, data.y, task.learner, task.design, runs, task.seed)
    wrong = count_errors(data, task.learner, marks, seeds)
    second = marks.sum(axis=1)
    tested = np.stack([data.n - second, second], axis=1)
    shape = len(runs), REPLICATIONS, 2
    return np.stack([wrong.reshape(shape), tested.reshape(shape)], axis=-1)


def count_errors(data: Prepared, learner: str, marks: Marks, seeds: Seeds) -> Counts:
    """Count wrong predictions, shape (splits, 2); fold f trains on the rows whose mark is not f.

    MAX predicts the most frequent class of the training rows, the first of ties. NMC takes class
    means of z-scores and class modes. LGC makes 50 steps of gradient descent from small random
    weights. C4.5 grows by information gain until pure, and prunes on a fifth of the rows.
    """
    if learner == "NN":
        return _nearest_errors(data, marks)
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    end = (marks, len(marks), errors)
    seeds = np.ascontiguousarray(seeds, dtype=np.uint32)
    if learner == "MAX":
        _MAJORITY(data.y, data.n, data.n_classes, *end)
    elif learner == "NMC":
        _NEAREST_MEAN(*_arguments(data), data.n_classes, *end)
    elif learner == "LGC":
        _LOGISTIC(*_arguments(data), data.n_classes, data.learning_rate, seeds, *end)
    else:
        if data.n > MAX_TREE_ROWS or data.n_classes > 256 or data.cardinality.max() > 256:
            raise ArgumentError(
                f"The paper's tree accepts at most {MAX_TREE_ROWS} rows and 256 classes and "
                f"values; got {data.n}, {data.n_classes} and {data.cardinality.max()}."
            )
        _TREE(
            *_arguments(data), data.n_classes, *_sorted(data.values, data.cardinality), seeds, *end
        )
    return errors


def _nearest_errors(data: Prepared, marks: Marks) -> Counts:
    """Count errors of NN by pairs of rows, or by the faster built-in learner if it is equivalent.

    The built-in learner's standard deviation divides by n, which matters if a distance has numeric
    and nominal columns. It compares differences of numbers, not of z-scores, whose rounding breaks
    ties (monks).
    """
    values = _always_filled(data, marks) if data.n > _MAX_ROWS_BY_PAIR else None
    pure = (data.cardinality == 0).all() or (data.cardinality > 0).all()
    if values is None or not pure:
        return first_nearest_errors(data, marks)
    encoded = replace(data.encoded(), values=values)
    splits = Splits.of(
        spec="random halves",
        seed=0,
        kind="cv",
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
    """Return the values if every half imputes unknowns equally, else None."""
    if not data.unknown:
        return data.values
    if (data.cardinality == 0).any():
        return None
    filled, fills = fill(data, np.arange(data.n))
    return filled if modes_agree(data, marks, fills) else None

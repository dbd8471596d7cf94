"""The data sets as the paper read them, and the halves on which its learners ran.

The printed standard deviations show that the paper's learners did not share their folds. The
logistic model ran on its own stratified halves. C4.5 ran on its own halves from the second
replication on, because its random numbers for pruning advanced the generator. This is the design
``"own"``; sound comparisons use ``"shared"``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Codes, Encoded
from bestofk.papers.data import read_in_file_order

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

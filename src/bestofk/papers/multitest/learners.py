"""The folds: random halves, shared by all learners or each learner's own.

The printed standard deviations tell that the paper's learners did not share their folds: the
logistic model ran on its own, stratified halves, and C4.5 on its own halves from the second
replication on (its draws for pruning moved the generator). That is the design ``"own"``; sound
comparisons use ``"shared"``.
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
from bestofk.data.reading import read_dataset
from bestofk.data.schema import Codes, Encoded

REPLICATIONS = 5
DESIGNS = ("own", "shared")
Marks = npt.NDArray[np.bool_]

_SHARED, _STRATIFIED, _OWN, _LEARNER = range(4)


def halves(
    name: str, y: Codes, learner: str, design: str, runs: range, seed: int
) -> tuple[Marks, npt.NDArray[np.uint32]]:
    """Which rows are in the second half, and seeds for what the learner draws.

    Parameters
    ----------
    name : str
        The data set: part of what fixes the draws, so that data sets are independent.
    y : array (n,)
        Class codes.
    learner : str
        One of the five.
    design : str
        ``"own"`` or ``"shared"``.
    runs : range
        Which runs; the halves of a run do not depend on the others.
    seed : int
        Fixes all draws.

    Returns
    -------
    marks : array (runs * 5, n) of bool
        Fold 1 tests the rows that are True, fold 0 the others.
    seeds : array (runs * 5, 2)
        One for each fit.
    """
    n = len(y)
    streams = [[seed, crc32(name.encode()), run] for run in runs]
    if design == "own" and learner == "LGC":
        found = [
            _stratified(np.random.default_rng([*stream, _STRATIFIED]), y) for stream in streams
        ]
        marks = np.stack(found)
    else:
        marks = _shared(name, n, runs, seed)
        if design == "own" and learner == "C4.5":
            marks = marks.copy()
            for place, stream in enumerate(streams):
                own = _random(np.random.default_rng([*stream, _OWN]), n)
                marks[place, 1:] = own[1:]
    seeds = np.empty((len(runs), REPLICATIONS, 2), dtype=np.uint32)
    for place, stream in enumerate(streams):
        draws = np.random.default_rng([*stream, _LEARNER, crc32(learner.encode())])
        seeds[place] = draws.integers(0, 2**32, size=(REPLICATIONS, 2), dtype=np.uint32)
    return marks.reshape(-1, n), seeds.reshape(-1, 2)


@lru_cache(maxsize=2)
def _shared(name: str, n: int, runs: range, seed: int) -> Marks:
    """The halves that learners share, (runs, replications, n); drawn once for all of them."""
    stream = seed, crc32(name.encode())
    drawn = [_random(np.random.default_rng([*stream, run, _SHARED]), n) for run in runs]
    marks = np.stack(drawn)
    marks.flags.writeable = False
    return marks


def _random(rng: np.random.Generator, n: int) -> Marks:
    """Halves of all rows, for each replication."""
    marks = np.zeros((REPLICATIONS, n), dtype=bool)
    marks[:, n // 2 :] = True
    return rng.permuted(marks, axis=1)


def _stratified(rng: np.random.Generator, y: Codes) -> Marks:
    """Halves that hold equally many of each class, but for one: shuffled rows dealt by class."""
    marks = np.zeros((REPLICATIONS, len(y)), dtype=bool)
    y = y.astype(np.min_scalar_type(int(y.max())))  # few bits are sorted fast
    for replication in range(REPLICATIONS):
        shuffled = rng.permutation(len(y))
        dealt = shuffled[np.argsort(y[shuffled], kind="stable")]
        marks[replication, dealt[1::2]] = True
    return marks


# The 30 data sets as the paper appears to have read them.


LEARNERS = ("MAX", "NMC", "LGC", "C4.5", "NN")
"""In the paper's order of preference."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A data set of n rows and d columns in the paper's reading."""

    name: str
    values: Floats
    """(n, d): numbers, codes of nominal columns; NaN where unknown."""
    cardinality: Codes
    """(d,): 0 for a numeric column, else its number of values."""
    whole: npt.NDArray[np.bool_]
    """(d,): filled-in values are cut to whole numbers."""
    y: Codes
    n_classes: int
    learning_rate: float

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def unknown(self) -> bool:
        """Whether any value is unknown."""
        return bool(np.isnan(self.values).any())

    def encoded(self) -> Encoded:
        """As the library's learners take it."""
        return Encoded(
            values=self.values,
            cardinality=self.cardinality,
            y=self.y,
            classes=np.arange(self.n_classes),
        )


@cache
def recipe() -> dict[str, dict[str, Any]]:
    """What is particular about each data set, in the order of Table 1."""
    text = files("bestofk.papers.multitest").joinpath("recipe.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)["datasets"]
    return found


@lru_cache(maxsize=2)
def prepare(name: str, path: Path) -> Prepared:
    """Read a data set as the paper did."""
    told = recipe()[name]
    data = read_dataset(
        path, target="class", name=name, ignore=told.get("drop", ()), task="classification"
    )
    return prepared_of(data, told)


def prepared_of(data: DataSet, told: dict[str, Any]) -> Prepared:
    """The paper's reading of a data set."""
    import pandas as pd

    columns, cardinality = [], []
    numeric = told.get("numeric", ())
    for name in data.X.columns:
        cells = data.X[name]
        if isinstance(cells.dtype, pd.CategoricalDtype):
            codes = cells.cat.codes.to_numpy().astype(np.float64)
            codes[codes < 0] = np.nan
            if name in numeric:
                meaning = [_number(name, word, told) for word in cells.cat.categories]
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
    if "class_order" in told:
        position = {label: place for place, label in enumerate(told["class_order"])}
        y = np.array([position[label] for label in labels.categories])[y]
    whole = np.array([column in told.get("integer", ()) for column in data.X.columns])
    return Prepared(
        name=data.name,
        values=np.ascontiguousarray(np.column_stack(columns)),
        cardinality=np.array(cardinality, dtype=np.int64),
        whole=whole,
        y=y,
        n_classes=len(labels.categories),
        learning_rate=float(told["learning_rate"]),
    )


def _number(column: str, word: str, told: dict[str, Any]) -> float:
    codes = told.get("codes", {})
    meaning = codes.get(column, codes)
    found = meaning.get(word) if isinstance(meaning, dict) else None
    return (
        float(word.removeprefix("v")) if found is None or isinstance(found, dict) else float(found)
    )

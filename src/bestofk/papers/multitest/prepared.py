"""The 30 data sets as the paper appears to have read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.data.dataset import DataSet
from bestofk.data.encoded import Codes, Encoded
from bestofk.data.read_dataset import read_dataset

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

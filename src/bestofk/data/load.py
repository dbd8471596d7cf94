"""Data sets that are at hand without a file: those that scikit-learn brings along."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk.data.as_dataset import as_dataset
from bestofk.data.dataset import DataSet
from bestofk.registry import Registry, resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSet:
    """What the library knows of one embedded data set."""

    name: str
    loader: str
    """Where its loader is, as ``package.module:name``; imported on use."""
    summary: str
    rows: int
    columns: int
    classes: int | None
    """None for a regression."""

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return "regression" if self.classes is None else "classification"


DATASETS = Registry(
    "data set",
    EmbeddedSet(
        name="iris",
        loader="sklearn.datasets:load_iris",
        summary="lengths and widths of the flowers of three species of iris",
        rows=150,
        columns=4,
        classes=3,
    ),
    EmbeddedSet(
        name="wine",
        loader="sklearn.datasets:load_wine",
        summary="chemical analyses of wines of three growers",
        rows=178,
        columns=13,
        classes=3,
    ),
    EmbeddedSet(
        name="breast-cancer",
        loader="sklearn.datasets:load_breast_cancer",
        summary="measures of cell nuclei of malignant and benign masses",
        rows=569,
        columns=30,
        classes=2,
    ),
    EmbeddedSet(
        name="digits",
        loader="sklearn.datasets:load_digits",
        summary="handwritten digits as images of 8 x 8 points",
        rows=1797,
        columns=64,
        classes=10,
    ),
    EmbeddedSet(
        name="diabetes",
        loader="sklearn.datasets:load_diabetes",
        summary="progression of diabetes after a year (a number to predict)",
        rows=442,
        columns=10,
        classes=None,
    ),
)


def load(name: str) -> DataSet:
    """An embedded data set.

    Parameters
    ----------
    name : str
        One of the names in `DATASETS`.

    Examples
    --------
    >>> load("wine")
    DataSet('wine', 178 rows, 13 numeric columns, 3 classes)
    >>> load("iris").classes.tolist()
    ['setosa', 'versicolor', 'virginica']
    """
    import pandas as pd

    entry = DATASETS[name]
    bunch = resolve(entry.loader)(as_frame=True)
    y = bunch.target.to_numpy()
    if entry.task == "classification":
        labels = [str(label) for label in bunch.target_names]
        y = pd.Categorical.from_codes(y.astype(np.int64), categories=pd.Index(labels))
    return as_dataset(
        bunch.data,
        y,
        name=name,
        task=entry.task,
        account=(f"{name}: embedded in scikit-learn, {entry.summary}.",),
    )
